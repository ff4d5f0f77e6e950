//! Sections that a model may do without and an older reader passes over.
//!
//! They are checked with the rest of the file and then found again where they are asked for, so
//! that a monitor pays no RAM for what it does not use.

use super::ModelError;
use super::format::{HEADER_LEN, SECTION_HEADER_LEN};

/// The payload of the section `tag` in a file whose sections have been walked; a second one is
/// refused.
pub(super) fn optional(bytes: &[u8], tag: [u8; 4]) -> Result<Option<&[u8]>, ModelError> {
    let mut found = None;
    let mut rest = bytes.get(HEADER_LEN..).unwrap_or(&[]);
    while let Some((header, after)) = rest.split_first_chunk::<SECTION_HEADER_LEN>() {
        let [t0, t1, t2, t3, l0, l1, l2, l3] = *header;
        let length = u32::from_le_bytes([l0, l1, l2, l3]) as usize;
        let Some((payload, after)) = after.split_at_checked(length) else { break };
        rest = after;
        if [t0, t1, t2, t3] != tag {
            continue;
        }
        if found.is_some() {
            return Err(ModelError::RepeatedSection { tag });
        }
        found = Some(payload);
    }
    Ok(found)
}
