//! Published signatures: those that hold, and those that must not.

use rebearing::update::{SignatureCheck, Verifier};
use rebearing_verify::{Ed25519Keys, KeyError, PublicKey};

/// Public key, message and signature.
type Case = (&'static str, &'static str, &'static str);

/// RFC 8032, section 7.1: tests 1, 2, 3 and "SHA(abc)".
const HOLD: [Case; 4] = [
    (
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "",
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
    ),
    (
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        "72",
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
    ),
    (
        "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
        "af82",
        "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
    ),
    (
        "ec172b93ad5e563bf4932c70e1245034c35467ef2efd4d64ebf819683467e2bf",
        "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
        "dc2a4459e7369633a52b1bf277839a00201009a3efbf3ecb69bea2186c26b58909351fc9ac90b3ecfdfbc7c66431e0303dca179c138ac17ad9bef1177331a704",
    ),
];

/// Chalkias, Garillot and Nikolaenko, *Taming the many `EdDSAs`* (SSR 2020): its test vectors 0
/// to 11 in their order, and whether each may hold here.
///
/// 0 to 2 have a key or R of small order, 6 and 7 have S >= L, 8 and 9 an R and 10 and 11 a key that
/// is not canonical. 3 to 5 have a key with a part of small order: only the owner of the key can make
/// them, and the cofactored equation of RFC 8032 holds for them.
const TAMING: [(Case, bool); 12] = [
    (
        (
            "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
            "8c93255d71dcab10e8f379c26200f3c7bd5f09d9bc3068d3ef4edeb4853022b6",
            "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a0000000000000000000000000000000000000000000000000000000000000000",
        ),
        false,
    ),
    (
        (
            "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
            "9bd9f44f4dcc75bd531b56b2cd280b0bb38fc1cd6d1230e14861d861de092e79",
            "f7badec5b8abeaf699583992219b7b223f1df3fbbea919844e3f7c554a43dd43a5bb704786be79fc476f91d3f3f89b03984d8068dcf1bb7dfc6637b45450ac04",
        ),
        false,
    ),
    (
        (
            "f7badec5b8abeaf699583992219b7b223f1df3fbbea919844e3f7c554a43dd43",
            "aebf3f2601a0c8c5d39cc7d8911642f740b78168218da8471772b35f9d35b9ab",
            "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa8c4bd45aecaca5b24fb97bc10ac27ac8751a7dfe1baff8b953ec9f5833ca260e",
        ),
        false,
    ),
    (
        (
            "cdb267ce40c5cd45306fa5d2f29731459387dbf9eb933b7bd5aed9a765b88d4d",
            "9bd9f44f4dcc75bd531b56b2cd280b0bb38fc1cd6d1230e14861d861de092e79",
            "9046a64750444938de19f227bb80485e92b83fdb4b6506c160484c016cc1852f87909e14428a7a1d62e9f22f3d3ad7802db02eb2e688b6c52fcd6648a98bd009",
        ),
        true,
    ),
    (
        (
            "cdb267ce40c5cd45306fa5d2f29731459387dbf9eb933b7bd5aed9a765b88d4d",
            "e47d62c63f830dc7a6851a0b1f33ae4bb2f507fb6cffec4011eaccd55b53f56c",
            "160a1cb0dc9c0258cd0a7d23e94d8fa878bcb1925f2c64246b2dee1796bed5125ec6bc982a269b723e0668e540911a9a6a58921d6925e434ab10aa7940551a09",
        ),
        true,
    ),
    (
        (
            "cdb267ce40c5cd45306fa5d2f29731459387dbf9eb933b7bd5aed9a765b88d4d",
            "e47d62c63f830dc7a6851a0b1f33ae4bb2f507fb6cffec4011eaccd55b53f56c",
            "21122a84e0b5fca4052f5b1235c80a537878b38f3142356b2c2384ebad4668b7e40bc836dac0f71076f9abe3a53f9c03c1ceeeddb658d0030494ace586687405",
        ),
        true,
    ),
    (
        (
            "442aad9f089ad9e14647b1ef9099a1ff4798d78589e66f28eca69c11f582a623",
            "85e241a07d148b41e47d62c63f830dc7a6851a0b1f33ae4bb2f507fb6cffec40",
            "e96f66be976d82e60150baecff9906684aebb1ef181f67a7189ac78ea23b6c0e547f7690a0e2ddcd04d87dbc3490dc19b3b3052f7ff0538cb68afb369ba3a514",
        ),
        false,
    ),
    (
        (
            "442aad9f089ad9e14647b1ef9099a1ff4798d78589e66f28eca69c11f582a623",
            "85e241a07d148b41e47d62c63f830dc7a6851a0b1f33ae4bb2f507fb6cffec40",
            "8ce5b96c8f26d0ab6c47958c9e68b937104cd36e13c33566acd2fe8d38aa19427e71f98a473474f2f13f06f97c20d58cc3f54b8bd0d272f42b695dd7e89a8c22",
        ),
        false,
    ),
    (
        (
            "f7badec5b8abeaf699583992219b7b223f1df3fbbea919844e3f7c554a43dd43",
            "9bedc267423725d473888631ebf45988bad3db83851ee85c85e241a07d148b41",
            "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff03be9678ac102edcd92b0210bb34d7428d12ffc5df5f37e359941266a4e35f0f",
        ),
        false,
    ),
    (
        (
            "f7badec5b8abeaf699583992219b7b223f1df3fbbea919844e3f7c554a43dd43",
            "9bedc267423725d473888631ebf45988bad3db83851ee85c85e241a07d148b41",
            "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffca8c5b64cd208982aa38d4936621a4775aa233aa0505711d8fdcfdaa943d4908",
        ),
        false,
    ),
    (
        (
            "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
            "e96b7021eb39c1a163b6da4e3093dcd3f21387da4cc4572be588fafae23c155b",
            "a9d55260f765261eb9b84e106f665e00b867287a761990d7135963ee0a7d59dca5bb704786be79fc476f91d3f3f89b03984d8068dcf1bb7dfc6637b45450ac04",
        ),
        false,
    ),
    (
        (
            "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
            "39a591f5321bbe07fd5a23dc2f39d025d74526615746727ceefd6e82ae65c06f",
            "a9d55260f765261eb9b84e106f665e00b867287a761990d7135963ee0a7d59dca5bb704786be79fc476f91d3f3f89b03984d8068dcf1bb7dfc6637b45450ac04",
        ),
        false,
    ),
];

/// The y coordinates of the eight points whose order divides 8, as in *Taming the many `EdDSAs`*
/// (SSR 2020), and those that only a reader without the check for canonical encodings takes for them.
const SMALL: [&str; 7] = [
    "0100000000000000000000000000000000000000000000000000000000000000",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "0000000000000000000000000000000000000000000000000000000000000000",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
];

/// The order of the curve's large group, little-endian.
const L: [u8; 32] = [
    0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10,
];

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len() / 2).map(|at| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).unwrap()).collect()
}

fn array<const N: usize>(hex: &str) -> [u8; N] {
    bytes(hex).try_into().unwrap()
}

/// Checks as a store does, byte by byte.
fn holds(key: &[u8; 32], message: &[u8], signature: &[u8; 64]) -> bool {
    let Ok(key) = PublicKey::from_bytes(*key) else { return false };
    let keys = Ed25519Keys::one(key);
    let Some(mut check) = keys.start(key.id(), signature) else { return false };
    for byte in message {
        check.absorb(&[*byte]);
    }
    check.holds()
}

#[test]
fn signatures_of_the_rfc_hold_and_no_changed_one_does() {
    for (key, message, signature) in HOLD {
        let (key, message, signature) = (array(key), bytes(message), array(signature));
        assert!(holds(&key, &message, &signature));
        for bit in 0..8 * 64 {
            let mut other = signature;
            other[bit / 8] ^= 1 << (bit % 8);
            assert!(!holds(&key, &message, &other), "bit {bit}");
        }
        for bit in 0..8 * 32 {
            let mut other = key;
            other[bit / 8] ^= 1 << (bit % 8);
            assert!(!holds(&other, &message, &signature), "bit {bit} of the key");
        }
        assert!(!holds(&key, &[&message[..], &[0]].concat(), &signature));
    }
}

#[test]
fn the_cases_of_the_literature_are_refused_or_hold_as_documented() {
    for (number, ((key, message, signature), may_hold)) in TAMING.into_iter().enumerate() {
        let held = holds(&array(key), &bytes(message), &array(signature));
        assert_eq!(held, may_hold, "test vector {number}");
    }
}

/// S + L gives the same point as S.
#[test]
fn a_signature_with_l_added_to_s_is_refused() {
    for (key, message, signature) in HOLD {
        let mut changed: [u8; 64] = array(signature);
        let mut carry = 0;
        for (byte, add) in changed[32..].iter_mut().zip(L) {
            let sum = u16::from(*byte) + u16::from(add) + carry;
            (*byte, carry) = (sum as u8, sum >> 8);
        }
        assert_eq!(carry, 0);
        assert!(!holds(&array(key), &bytes(message), &changed));
    }
}

#[test]
fn points_of_small_order_are_no_keys_and_no_r() {
    let (key, message, signature) = HOLD[1];
    for sign in [0, 0x80] {
        for point in SMALL {
            let mut point: [u8; 32] = array(point);
            point[31] |= sign;
            if let Ok(weak) = PublicKey::from_bytes(point) {
                let error = weak.validate().unwrap_err();
                assert!(matches!(error, KeyError::SmallOrder | KeyError::NotAPoint), "{error}");
                // R = the point, S = 0 is the forgery for a key of small order.
                let forged: [u8; 64] = [point, [0; 32]].concat().try_into().unwrap();
                for message in [&b""[..], b"a", b"b", b"c", b"d", b"e", b"f", b"g"] {
                    assert!(!holds(&point, message, &forged));
                }
            }
            let mut other: [u8; 64] = array(signature);
            other[..32].copy_from_slice(&point);
            assert!(!holds(&array(key), &bytes(message), &other));
        }
    }
}
