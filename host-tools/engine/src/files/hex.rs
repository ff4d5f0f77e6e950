//! Bytes as text.

/// Bytes in hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    let digit = |nibble: u8| char::from(b"0123456789abcdef"[usize::from(nibble)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// The bytes of hexadecimal digits; `None` for anything else, or an odd number of digits.
pub fn hex_bytes(digits: &str) -> Option<Vec<u8>> {
    let nibble = |digit: &u8| char::from(*digit).to_digit(16);
    let (pairs, rest) = digits.as_bytes().as_chunks::<2>();
    let byte = |[high, low]: &[u8; 2]| Some((nibble(high)? << 4 | nibble(low)?) as u8);
    pairs.iter().map(byte).collect::<Option<_>>().filter(|_| rest.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_become_digits_and_come_back() {
        let bytes: Vec<u8> = (0..=255).collect();
        assert_eq!(hex_bytes(&hex(&bytes)), Some(bytes.clone()));
        assert_eq!(hex_bytes(&hex(&bytes).to_uppercase()), Some(bytes));
        assert_eq!(hex_bytes(""), Some(vec![]));
        for wrong in ["0", "0g", "+1", " 1", "ä"] {
            assert_eq!(hex_bytes(wrong), None, "{wrong}");
        }
    }
}
