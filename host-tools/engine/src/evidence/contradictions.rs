//! Labels that the bearing's own frequencies contradict.
//!
//! The limits were checked on public recordings of two rigs, CWRU and ADI. The 11 healthy
//! recordings reached at most 14.4 dB at any part. None of the 96 recordings of a damaged part met
//! the second rule with its true label. A harmonic of one part may fall on another part, so the
//! second rule compares the two.

use super::{Checked, Evidence};

/// A part stands out from this level on, in dB above the floor.
pub const STANDS_OUT_DB: f64 = 20.0;
/// A part is absent below this level. Noise alone gives about 5 dB.
pub const ABSENT_DB: f64 = 10.0;
/// A part is also absent if another one stands this much higher.
pub const OVERSHADOWED_DB: f64 = 15.0;
/// A recording is called by a label if at least this share of its windows has it.
const MOSTLY: f64 = 0.5;

impl Checked {
    /// Says in a sentence if the envelope spectrum contradicts the recording's label.
    ///
    /// A recording is called healthy, but the frequency of a part stands out. Or it is called a
    /// fault of one part, whose frequency is absent while the one of another part stands out.
    pub fn contradiction(&self, healthy: Option<&str>) -> Option<String> {
        if self.share < MOSTLY {
            return None;
        }
        let strongest = self.evidence.iter().max_by(|a, b| a.level_db.total_cmp(&b.level_db))?;
        if strongest.level_db < STANDS_OUT_DB {
            return None;
        }
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        let called = format!("recording {name} is called {}", self.label);
        let Evidence { part, level_db, .. } = strongest;
        let stands = format!(
            "{} stands {level_db:.0} dB above the floor of its envelope spectrum",
            part.abbreviation()
        );
        if healthy == Some(self.label.as_str()) {
            return Some(format!("{called}, but {stands}: have the {part} inspected"));
        }
        let named = self.for_label()?;
        let absent =
            named.level_db < ABSENT_DB || named.level_db <= strongest.level_db - OVERSHADOWED_DB;
        (named.part != *part && absent).then(|| {
            format!(
                "{called}, but {stands}, and {} only {:.0} dB: the fault may be of the {part}",
                named.part.abbreviation(),
                named.level_db
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::Part;
    use super::*;

    /// A recording with this label in all its windows and these levels of BPFO, BPFI, 2×BSF, FTF.
    fn checked(label: &str, levels: [f64; 4]) -> Checked {
        let evidence = Part::ALL.iter().zip(levels).map(|(part, level_db)| Evidence {
            part: *part,
            frequency_hz: 100.0,
            harmonics_db: vec![level_db; 3],
            level_db,
        });
        Checked {
            path: "folder/x.wav".into(),
            label: label.into(),
            share: 1.0,
            part: Part::of_label(label),
            evidence: evidence.collect(),
            problem: None,
            envelope: None,
        }
    }

    fn said(label: &str, levels: [f64; 4]) -> Option<String> {
        checked(label, levels).contradiction(Some("Normal"))
    }

    #[test]
    fn a_healthy_recording_with_a_frequency_that_stands_out_is_a_contradiction() {
        let one = said("Normal", [33.2, 8.0, 4.0, 2.0]).unwrap();
        assert!(
            one.starts_with("recording x.wav is called Normal, but BPFO stands 33 dB"),
            "{one}"
        );
        assert!(one.contains("outer race"), "{one}");
        assert!(said("Normal", [20.0, 8.0, 4.0, 2.0]).is_some());
        assert_eq!(said("Normal", [19.9, 8.0, 4.0, 2.0]), None);
        // Without a healthy class, "Normal" is a label like any other and names no part.
        assert_eq!(checked("Normal", [33.0, 8.0, 4.0, 2.0]).contradiction(None), None);
        assert_eq!(said("unknown", [33.0, 8.0, 4.0, 2.0]), None);
    }

    #[test]
    fn a_fault_whose_frequency_is_absent_while_another_stands_out_is_a_contradiction() {
        let one = said("IR007", [33.2, 4.4, 4.0, 2.0]).unwrap();
        assert!(one.contains("called IR007, but BPFO stands 33 dB"), "{one}");
        assert!(one.contains("BPFI only 4 dB"), "{one}");
        // Its own frequency stands highest, or high enough beside another one.
        assert_eq!(said("IR007", [18.2, 39.0, 23.6, 10.1]), None);
        assert_eq!(said("B021", [15.8, 22.7, 11.0, 9.3]), None);
        // The label is wrong, although harmonics of the inner race fall on the ball.
        assert!(said("B021", [18.2, 39.0, 23.6, 10.1]).is_some());
        // Nothing stands out: early faults may have no peak.
        assert_eq!(said("B014", [6.3, 5.6, 4.0, 4.1]), None);
    }

    #[test]
    fn a_recording_of_many_labels_is_not_judged() {
        let mixed = Checked { share: 0.4, ..checked("Normal", [33.0, 8.0, 4.0, 2.0]) };
        assert_eq!(mixed.contradiction(Some("Normal")), None);
        let silent = Checked { evidence: Vec::new(), ..checked("Normal", [33.0, 8.0, 4.0, 2.0]) };
        assert_eq!(silent.contradiction(Some("Normal")), None);
    }
}
