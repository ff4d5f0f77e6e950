//! The same problems in integers, quantised as the host does it.

use rebearing::classify::Component;
use rebearing::integer::mixture::MAX_FEATURE;
use rebearing_host::model::early_drop::integer::early_drop;
use rebearing_host::model::quantise::{QuantiseError, order, part, reach};

use crate::problem::{CLASSES, Problem};

/// First word of a file.
const MAGIC: [u8; 4] = *b"BNCI";

impl Problem {
    /// The file that `firmware_examples::bench::integer_problem` reads.
    pub(crate) fn i16_bytes(&self) -> Result<Vec<u8>, QuantiseError> {
        let dims = self.dims;
        let rows = self.whitening.chunks_exact(2 * dims);
        let components: Vec<Component<'_>> = self
            .constants
            .iter()
            .zip(rows)
            .map(|(constant, row)| {
                let (scale, offset) = row.split_at(dims);
                Component { constant: *constant, scale, offset }
            })
            .collect();
        let order = order(&components, dims);
        let farthest = reach(&components, None);
        let unit = f64::from(MAX_FEATURE) / farthest;
        let mixture = part(&components, &order, unit, farthest)?;

        let mut bytes = MAGIC.to_vec();
        let early_drop = early_drop(&components, &order);
        let counts = [components.len(), dims, CLASSES, self.vectors.len(), early_drop];
        let words = counts.map(|count| count as u32).into_iter();
        let words = words.chain([self.case.number() as u32, mixture.fraction_bits]);
        bytes.extend(words.chain(mixture.energies).flat_map(u32::to_le_bytes));
        for row in mixture.means.iter().zip(&mixture.scales).flat_map(|(m, s)| [m, s]) {
            bytes.extend(row.iter().flat_map(|x| x.to_le_bytes()));
        }
        let probability = |p: f64| ((p * 32768.0).round() as u16).to_le_bytes();
        bytes.extend(self.labels.iter().flat_map(|label| probability(f64::from(*label))));
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        // The device takes the mixture's largest density as one.
        let log2_e = std::f64::consts::LOG2_E;
        let top = f64::from(mixture.top) / f64::from(1 << mixture.fraction_bits) / log2_e;
        for x in &self.vectors {
            // The components have the feature order of the f32 problem; the vectors are not
            // reordered.
            let feature = |place: &u32| f64::from(x[self.early_drop.order[*place as usize]]);
            let features = order.iter().map(|place| (feature(place) * unit).round() as i16);
            bytes.extend(features.flat_map(i16::to_le_bytes));
            let reference = self.reference(x);
            let log_likelihood = ((reference.log_likelihood - top) * 256.0).round() as i32;
            bytes.extend(log_likelihood.to_le_bytes());
            bytes.extend(reference.posterior.iter().flat_map(|p| probability(*p)));
            bytes.resize(bytes.len().next_multiple_of(4), 0);
        }
        Ok(bytes)
    }
}
