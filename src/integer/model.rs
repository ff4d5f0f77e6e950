//! The i16 model: the checked view of a model file in its integer encoding.

use crate::decision::Parameters;
use crate::model::decision::{DecisionWords, parameters};
use crate::model::{FrontEnd, ModelError, Provenance, Texts, format, parse};

/// A checked model file in i16 encoding, borrowed from where it lies.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct IntegerModel<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) front_end: FrontEnd<'a>,
    /// The bits of an `f32`: nothing on the device computes with it.
    pub(crate) counts_per_unit: u32,
    pub(crate) order: &'a [u32],
    pub(crate) shift: &'a [i32],
    pub(crate) scale: &'a [i32],
    pub(crate) energies: &'a [u32],
    /// Per component: means, then scales, each padded to a whole number of words.
    pub(crate) parameters: &'a [i16],
    pub(crate) labels: &'a [u16],
    pub(crate) names: Texts<'a>,
    pub(crate) provenance: Texts<'a>,
    pub(crate) hash: &'a [u8; format::HASH_LEN],
    pub(crate) healthy: u32,
    pub(crate) log_likelihood_min: i32,
    pub(crate) first_dims: usize,
    pub(crate) fraction_bits: u32,
    pub(crate) top: i32,
    pub(crate) gate: Option<GateSettings>,
    pub(crate) decision: Option<&'a DecisionWords>,
}

/// The gate section of an i16 model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub(crate) struct GateSettings {
    pub(crate) components: usize,
    pub(crate) fraction_bits: u32,
    pub(crate) top: i32,
    pub(crate) log_likelihood_min: i32,
    pub(crate) direction: bool,
}

/// One mixture of a model: that of the gate, or that which tells classes apart.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct IntegerPart<'a> {
    energies: &'a [u32],
    parameters: &'a [i16],
    dims: usize,
    /// Dimensions on which all components are scored before any is dropped; zero to drop none.
    pub first_dims: usize,
    /// Fraction bits of energies, which are logarithms to base 2; at most 12.
    pub fraction_bits: u32,
    /// Largest log density of any component, at its mean, in units of energies.
    pub top: i32,
}

/// One diagonal Gaussian.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct IntegerComponent<'a> {
    /// Energy at the mean.
    pub energy: u32,
    /// Mean of each feature, in units of the model; at most 16383 either way.
    pub means: &'a [i16],
    /// 1/σ of each feature in units of the model, above zero.
    pub scales: &'a [i16],
}

/// The part of a model that says healthy or not.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct IntegerGate<'a> {
    /// The mixture of the healthy machine.
    pub part: IntegerPart<'a>,
    /// A decision window with at least this log-likelihood, in nats Q8, is healthy.
    pub log_likelihood_min: i32,
    /// Whether the other components take the direction of the features.
    pub direction: bool,
}

impl<'a> IntegerPart<'a> {
    /// A mixture of components with the energies and parameters given: for each component the
    /// means and then the scales of `dims` features, each padded to an even number.
    ///
    /// Meant for benchmarks; a model gives its own. The largest log density counts as zero.
    pub fn new(
        energies: &'a [u32],
        parameters: &'a [i16],
        dims: usize,
        first_dims: usize,
        fraction_bits: u32,
    ) -> Self {
        let fraction_bits = fraction_bits.min(format::MAX_FRACTION_BITS);
        Self { energies, parameters, dims, first_dims, fraction_bits, top: 0 }
    }

    /// Number of components.
    pub fn len(&self) -> usize {
        self.energies.len()
    }

    /// Whether there is no component.
    pub fn is_empty(&self) -> bool {
        self.energies.is_empty()
    }

    /// The components in file order.
    pub fn components(&self) -> impl Iterator<Item = IntegerComponent<'a>> + use<'a> {
        let dims = self.dims;
        let padded = padded(dims);
        let rows = self.parameters.chunks_exact((2 * padded).max(1));
        self.energies.iter().zip(rows).map(move |(energy, row)| component(*energy, row, dims))
    }

    /// One component, `None` past the last.
    pub fn component(&self, index: usize) -> Option<IntegerComponent<'a>> {
        let row = 2 * padded(self.dims);
        let parameters = self.parameters.get(index * row..)?.get(..row)?;
        Some(component(*self.energies.get(index)?, parameters, self.dims))
    }
}

fn component(energy: u32, row: &[i16], dims: usize) -> IntegerComponent<'_> {
    let (means, scales) = row.split_at_checked(padded(dims)).unwrap_or((&[], &[]));
    IntegerComponent {
        energy,
        means: means.get(..dims).unwrap_or(&[]),
        scales: scales.get(..dims).unwrap_or(&[]),
    }
}

/// Numbers of two bytes that `dims` of them take in whole words.
pub(crate) fn padded(dims: usize) -> usize {
    dims.next_multiple_of(2)
}

impl<'a> IntegerModel<'a> {
    /// Checks a model file in i16 encoding that fills `bytes` exactly.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, ModelError> {
        parse::parse_integer(bytes)
    }

    /// Checks the model file at the start of a flash region that may be larger than it.
    pub fn from_region(region: &'a [u8]) -> Result<Self, ModelError> {
        Self::parse(parse::file_of(region)?)
    }

    /// The file's bytes.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// How samples become features.
    pub fn front_end(&self) -> &FrontEnd<'a> {
        &self.front_end
    }

    /// Counts that one unit of the recordings makes: those that the model was fitted from
    /// became samples by this factor, and the sensor of the device should give the same.
    pub fn counts_per_unit(&self) -> f32 {
        f32::from_bits(self.counts_per_unit)
    }

    /// Features per decision window.
    pub fn dims(&self) -> usize {
        self.order.len()
    }

    /// Which feature stands at each place, those that tell components apart best first.
    pub fn order(&self) -> &'a [u32] {
        self.order
    }

    /// Subtracted from each feature, in the model's order; log2 in Q16.
    pub fn shift(&self) -> &'a [i32] {
        self.shift
    }

    /// Multiplied with each feature after the shift, in the model's order; Q8, to units of
    /// the model per log2.
    pub fn scale(&self) -> &'a [i32] {
        self.scale
    }

    /// Components of all parts.
    pub fn components(&self) -> usize {
        self.energies.len()
    }

    fn part(&self, gate: bool) -> IntegerPart<'a> {
        let dims = self.dims();
        let split = self.gate.map_or(0, |gate| gate.components);
        let row = 2 * padded(dims);
        let energies = self.energies.split_at_checked(split).unwrap_or((&[], &[]));
        let parameters = self.parameters.split_at_checked(split * row).unwrap_or((&[], &[]));
        let (fraction_bits, top) = match self.gate {
            Some(settings) if gate => (settings.fraction_bits, settings.top),
            _ => (self.fraction_bits, self.top),
        };
        let (energies, parameters) =
            if gate { (energies.0, parameters.0) } else { (energies.1, parameters.1) };
        IntegerPart { energies, parameters, dims, first_dims: self.first_dims, fraction_bits, top }
    }

    /// The gate, if the model has one.
    pub fn gate(&self) -> Option<IntegerGate<'a>> {
        self.gate.map(|gate| IntegerGate {
            part: self.part(true),
            log_likelihood_min: gate.log_likelihood_min,
            direction: gate.direction,
        })
    }

    /// The mixture that tells the classes apart, if the model has one.
    pub fn classes_part(&self) -> Option<IntegerPart<'a>> {
        Some(self.part(false)).filter(|part| !part.is_empty())
    }

    /// Label table in Q15: a row of class probabilities per component.
    pub fn labels(&self) -> &'a [u16] {
        self.labels
    }

    /// Number of classes.
    pub fn classes(&self) -> usize {
        self.names.ends.len()
    }

    /// Name of a class, `None` past the last.
    pub fn class_name(&self, class: usize) -> Option<&'a str> {
        self.names.get(class)
    }

    /// The class that stands for a healthy machine, if the model names one.
    pub fn healthy(&self) -> Option<usize> {
        (self.healthy != format::NO_CLASS).then_some(self.healthy as usize)
    }

    /// A decision window with a log-likelihood below this, in nats Q8, under the components
    /// that are not the gate's, is unknown.
    pub fn log_likelihood_min(&self) -> i32 {
        self.log_likelihood_min
    }

    /// What a decision over time goes by; the defaults where the model says nothing.
    pub fn decision(&self) -> Parameters {
        parameters(self.decision)
    }

    /// What the model was made by and from.
    pub fn provenance(&self) -> Provenance<'a> {
        let text = |index| self.provenance.get(index).unwrap_or("");
        Provenance { tool: text(0), source: text(1), target: text(2), hash: self.hash }
    }
}
