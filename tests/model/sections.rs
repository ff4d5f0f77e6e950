//! The table of sections: reader, writer and golden files agree on it.

use std::collections::BTreeSet;

use crate::common;
use rebearing::model::{Presence, Section, format};
use rebearing::{Encoding, IntegerModel, Model};

/// Returns the tags of a file, in file order.
fn tags(file: &[u8]) -> Vec<[u8; 4]> {
    let mut rest = &file[format::HEADER_LEN..];
    let mut tags = Vec::new();
    while let Some((header, after)) = rest.split_first_chunk::<{ format::SECTION_HEADER_LEN }>() {
        let (tag, length) = header.split_first_chunk().unwrap();
        let length = u32::from_le_bytes(length.try_into().unwrap()) as usize;
        tags.push(*tag);
        rest = &after[length..];
    }
    assert!(rest.is_empty());
    tags
}

#[test]
fn no_tag_stands_twice() {
    let tags: BTreeSet<[u8; 4]> = Section::ALL.iter().map(|section| section.tag()).collect();
    assert_eq!(tags.len(), Section::ALL.len());
    for tag in tags {
        assert!(tag.iter().all(u8::is_ascii_alphabetic), "{}", tag.escape_ascii());
        // All four letters have the same case: the first letter says whether a reader may skip the
        // section.
        let lower = tag.iter().filter(|letter| letter.is_ascii_lowercase()).count();
        assert!([0, 4].contains(&lower), "{}", tag.escape_ascii());
    }
}

#[test]
fn a_section_that_a_reader_may_skip_is_never_needed() {
    for section in Section::ALL {
        let may_skip = section.tag()[0].is_ascii_lowercase();
        for encoding in [Encoding::F32, Encoding::I16] {
            let needed = section.presence(encoding) == Presence::Needed;
            assert!(!(may_skip && needed), "{section:?}");
        }
    }
}

#[test]
fn golden_files_have_their_sections_in_the_order_of_the_table() {
    for (file, encoding) in [
        (common::GOLDEN, Encoding::F32),
        (common::GOLDEN_GATE, Encoding::F32),
        (common::GOLDEN_ORDERS, Encoding::F32),
        (common::GOLDEN_ALARM, Encoding::F32),
        (common::GOLDEN_VERDICT, Encoding::F32),
        (common::GOLDEN_I16, Encoding::I16),
    ] {
        let tags = tags(file);
        let has = |section: &&Section| tags.contains(&section.tag());
        let of_table: Vec<&Section> = Section::ALL.iter().filter(has).collect();
        assert_eq!(of_table.iter().map(|section| section.tag()).collect::<Vec<_>>(), tags);
        for section in Section::ALL {
            match section.presence(encoding) {
                Presence::Needed => assert!(of_table.contains(&section), "{section:?}"),
                Presence::Optional => (),
                Presence::Refused => assert!(!of_table.contains(&section), "{section:?}"),
            }
        }
        assert_eq!(Encoding::of(file), Ok(encoding));
        let parsed = match encoding {
            Encoding::F32 => Model::parse(file).map(drop),
            Encoding::I16 => IntegerModel::parse(file).map(drop),
        };
        assert_eq!(parsed, Ok(()));
    }
}
