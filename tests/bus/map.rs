//! The map: its addresses, its values, and docs/modbus.md.

use rebearing::bus::command::{KEY, KEY_ADDRESS};
use rebearing::bus::map::{Kind, NAME_WORDS, NAMED_CLASSES, NAMES_ADDRESS, NO_FLOAT, NO_LONG};
use rebearing::bus::{Command, MAP, MAP_VERSION, Register};
use rebearing::update::{Outcome, Refusal};

use crate::plant::{Plant, blind, busy};

const DOCS: &str = include_str!("../../docs/modbus.md");

/// The value of a register, read with others in one block.
fn value(plant: &mut Plant, name: &str) -> u32 {
    let register = Register::find(name).expect("a register");
    let block = plant.read(0, 48);
    let words = &block[usize::from(register.address)..][..usize::from(register.kind.words())];
    words.iter().fold(0, |value, word| value << 16 | u32::from(*word))
}

#[test]
fn registers_follow_one_another_without_gaps() {
    let mut next = 0;
    for register in MAP {
        assert_eq!(register.address, next, "{}", register.name);
        next += register.kind.words();
    }
    assert_eq!(next, 48);
    assert!(next <= NAMES_ADDRESS && NAMES_ADDRESS + 8 * 16 <= KEY_ADDRESS);
}

#[test]
fn nothing_known_reads_as_not_available_and_never_as_zero() {
    let mut plant = Plant::new();
    for register in MAP.iter().filter(|register| (1..37).contains(&register.address)) {
        let expected = match register.kind {
            Kind::Word => 0xffff,
            Kind::Long => NO_LONG,
            Kind::Float => NO_FLOAT,
        };
        assert_eq!(value(&mut plant, register.name), expected, "{}", register.name);
    }
    assert_eq!(value(&mut plant, "map_version"), u32::from(MAP_VERSION));
}

#[test]
fn a_running_machine_reads_as_it_is() {
    let mut plant = Plant::new();
    busy(&mut plant.registers);
    for (name, expected) in [
        ("state", 4),
        ("label", 1),
        ("classes", 3),
        ("confidence", 5000),
        ("alarm", 1),
        ("alarm_acknowledged", 0),
        ("alarm_label", 0xfffe),
        ("alarm_level", 10_000),
        ("zone", 3),
        ("velocity_1", 457),
        ("velocity_2", 0xffff),
        ("sensor_fault", 0),
        ("drift", 0),
        ("age", 65_534),
        ("sequence", 0x0102_0304),
        ("rms_1", 0.5_f32.to_bits()),
        ("rms_2", (-0.0_f32).to_bits()),
        ("rms_3", NO_FLOAT),
        // A counter at its largest is still a number.
        ("windows", NO_LONG - 1),
        ("alarms", 2),
        ("restarts", NO_LONG),
        ("flags", 0xffff),
        ("standing", 2),
        ("counter", 3),
    ] {
        assert_eq!(value(&mut plant, name), expected, "{name}");
    }
    blind(&mut plant.registers);
    for (name, expected) in [
        ("state", 5),
        ("label", 0xffff),
        ("sensor_fault", 7),
        ("zone", 0xffff),
        ("confidence", 0xffff),
        ("alarm", 0),
        ("alarm_acknowledged", 0xffff),
        ("alarm_label", 0xffff),
        ("alarm_level", 0xffff),
    ] {
        assert_eq!(value(&mut plant, name), expected, "{name} without a sensor");
    }
}

#[test]
fn class_names_are_cut_at_a_character_and_can_be_read_word_by_word() {
    let mut plant = Plant::new();
    busy(&mut plant.registers);
    let words = plant.read(NAMES_ADDRESS, 3 * NAME_WORDS);
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
    assert_eq!(bytes[..16], *b"Healthy\0\0\0\0\0\0\0\0\0");
    assert_eq!(str::from_utf8(&bytes[16..32]), Ok("Außenring am En"[..16].trim_end_matches('\0')));
    for (at, word) in (NAMES_ADDRESS..).zip(&words) {
        assert_eq!(plant.read(at, 1), [*word]);
    }
    plant.registers.class_names[0] = "123456789012345ß";
    let last = plant.read(NAMES_ADDRESS + 7, 1);
    assert_eq!(last, [u16::from_be_bytes([b'5', 0])], "half a letter is left out");
    let end = NAMES_ADDRESS + NAME_WORDS * NAMED_CLASSES as u16;
    assert_eq!(plant.read(end - 1, 1), [0]);
    let after = end.to_be_bytes();
    assert_eq!(plant.ask(&[4, after[0], after[1], 0, 1]), [0x84, 2]);
}

#[test]
fn the_docs_have_every_row_of_the_map_and_no_other() {
    let row = |register: &Register| {
        let Register { name, address, kind, unit, meaning } = register;
        format!("| {address} | `{name}` | {} | {unit} | {meaning} |", kind.name())
    };
    let expected: Vec<String> = MAP.iter().map(row).collect();
    let (_, table) = DOCS.split_once("| address | name |").expect("the table");
    let found: Vec<&str> =
        table.lines().skip(2).take_while(|line| line.starts_with("| ")).collect();
    assert_eq!(found, expected, "expected:\n{}\n", expected.join("\n"));
    assert!(DOCS.contains(&format!("version {MAP_VERSION} of the map")));
    assert!(DOCS.contains(&format!("{KEY_ADDRESS} | key, {KEY:#06x}")));
}

#[test]
fn the_docs_have_every_command_and_refusal_and_the_map_every_outcome() {
    for command in Command::ALL {
        let row = format!("| {} | `{}` |", command.code(), command.name());
        assert!(DOCS.contains(&row), "{row}");
        assert_eq!(Command::from_code(command.code()), Some(command));
    }
    for refusal in Refusal::ALL {
        let row = format!("| {} | {refusal} |", refusal.code());
        assert!(DOCS.contains(&row), "{row}");
    }
    let outcomes = Register::find("outcome").unwrap().meaning;
    for outcome in (0..=u8::MAX).filter_map(Outcome::from_code) {
        let text = format!("{} {}", outcome.code(), outcome.name());
        assert!(outcomes.contains(&text), "{text}");
    }
}
