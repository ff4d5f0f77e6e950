//! An alarm in one word, so that it outlasts a reset.
//!
//! A reset acknowledges nothing. A firmware keeps the word of [`Alarm::kept`](super::Alarm::kept)
//! where a reset does not reach it, whenever it changes, and gives it back with
//! [`Alarm::restore`](super::Alarm::restore) after the next start.
//!
//! | bits | what |
//! |---|---|
//! | 0 | 1: there is an alarm |
//! | 1 | the alarm is on; else it is latched |
//! | 2 | it was acknowledged |
//! | 3–5 | zero |
//! | 6–7 | 0 a class, 1 unknown, 2 a fault of unknown type |
//! | 8–23 | the class |
//! | 24–31 | check: the three lower bytes and A5 (hexadecimal), exclusive or |
//!
//! No alarm is the word 0. Erased flash and most other words are none of these.

use super::Raised;
use crate::classify::Label;

const PRESENT: u32 = 1;
const ACTIVE: u32 = 2;
const ACKNOWLEDGED: u32 = 4;
const CLASS: u32 = 0;
const UNKNOWN: u32 = 1 << 6;
const UNKNOWN_FAULT: u32 = 2 << 6;
/// Bits of the kind of label.
const KIND: u32 = 3 << 6;
/// First bit of the class.
const CLASS_AT: u32 = 8;
/// First bit of the check.
const CHECK_AT: u32 = 24;

/// An alarm, or none, as it is kept over a reset.
///
/// ```
/// use rebearing::operation::alarm::KeptAlarm;
///
/// assert_eq!(KeptAlarm::NONE.to_word(), 0);
/// assert_eq!(KeptAlarm::from_word(0), Some(KeptAlarm::NONE));
/// // Erased flash, or RAM after the power came on.
/// assert_eq!(KeptAlarm::from_word(0xffff_ffff), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct KeptAlarm {
    raised: Option<Raised>,
}

impl KeptAlarm {
    /// No alarm.
    pub const NONE: Self = Self { raised: None };

    pub(super) fn new(raised: Option<Raised>) -> Self {
        Self { raised }
    }

    /// The alarm, if there is one.
    pub fn raised(self) -> Option<Raised> {
        self.raised
    }

    /// The alarm without the name of its class, for a start with another model than before: its
    /// classes may be others. The alarm becomes a fault of unknown type.
    #[must_use]
    pub fn unnamed(self) -> Self {
        Self::new(self.raised.map(|raised| match raised.label {
            Label::Class(_) => Raised { label: Label::UnknownFault, ..raised },
            Label::Unknown | Label::UnknownFault => raised,
        }))
    }

    /// The alarm as a word; 0 if there is none.
    pub fn to_word(self) -> u32 {
        let Some(Raised { label, active, acknowledged }) = self.raised else { return 0 };
        let label = match label {
            Label::Class(class) => match u16::try_from(class) {
                Ok(class) => CLASS | u32::from(class) << CLASS_AT,
                // No model has so many classes.
                Err(_) => UNKNOWN_FAULT,
            },
            Label::Unknown => UNKNOWN,
            Label::UnknownFault => UNKNOWN_FAULT,
        };
        let flag = |set: bool, bit: u32| if set { bit } else { 0 };
        let word = PRESENT | flag(active, ACTIVE) | flag(acknowledged, ACKNOWLEDGED) | label;
        word | check(word) << CHECK_AT
    }

    /// The alarm that a word stands for; `None` if [`to_word`](Self::to_word) never gives that word.
    pub fn from_word(word: u32) -> Option<Self> {
        if word == 0 {
            return Some(Self::NONE);
        }
        let label = match word & KIND {
            CLASS => Label::Class(usize::from((word >> CLASS_AT) as u16)),
            UNKNOWN => Label::Unknown,
            _ => Label::UnknownFault,
        };
        let (active, acknowledged) = (word & ACTIVE != 0, word & ACKNOWLEDGED != 0);
        let kept = Self::new(Some(Raised { label, active, acknowledged }));
        // A latched alarm ends when it is acknowledged, so no word has both.
        (kept.to_word() == word && (active || !acknowledged)).then_some(kept)
    }
}

/// The check of the three lower bytes.
fn check(word: u32) -> u32 {
    (word ^ word >> 8 ^ word >> 16 ^ 0xa5) & 0xff
}

#[cfg(test)]
mod tests {
    use super::KeptAlarm;
    use crate::classify::Label;
    use crate::operation::alarm::Raised;

    fn words() -> impl Iterator<Item = (Raised, u32)> {
        let labels = [0, 1, 7, 255, 0xffff].map(Label::Class);
        let labels = labels.into_iter().chain([Label::Unknown, Label::UnknownFault]);
        labels.flat_map(|label| {
            let states = [(true, false), (true, true), (false, false)];
            states.map(|(active, acknowledged)| {
                let raised = Raised { label, active, acknowledged };
                (raised, KeptAlarm::new(Some(raised)).to_word())
            })
        })
    }

    #[test]
    fn every_alarm_comes_back_from_its_word() {
        for (raised, word) in words() {
            assert_ne!(word, 0, "{raised:?}");
            assert_eq!(KeptAlarm::from_word(word).and_then(KeptAlarm::raised), Some(raised));
        }
        let beyond = Raised { label: Label::Class(1 << 16), active: true, acknowledged: false };
        let back = KeptAlarm::from_word(KeptAlarm::new(Some(beyond)).to_word()).unwrap();
        assert_eq!(back.raised(), Some(Raised { label: Label::UnknownFault, ..beyond }));
    }

    #[test]
    fn the_layout_is_as_documented() {
        let word = |label, active, acknowledged| {
            KeptAlarm::new(Some(Raised { label, active, acknowledged })).to_word()
        };
        assert_eq!(word(Label::Class(2), true, false), 0xa4_00_02_03);
        assert_eq!(word(Label::Unknown, true, true), 0xe2_00_00_47);
        assert_eq!(word(Label::UnknownFault, false, false), 0x24_00_00_81);
    }

    #[test]
    fn a_word_with_a_flipped_bit_and_memory_of_one_value_are_no_alarm() {
        for (_, word) in words() {
            for bit in 0..32 {
                assert_eq!(KeptAlarm::from_word(word ^ 1 << bit), None, "{word:08x} bit {bit}");
            }
        }
        for bit in 0..32 {
            assert_eq!(KeptAlarm::from_word(1 << bit), None, "bit {bit}");
        }
        let filled = (1..=255_u8).map(|byte| u32::from_le_bytes([byte; 4]));
        assert!(filled.into_iter().all(|word| KeptAlarm::from_word(word).is_none()));
    }
}
