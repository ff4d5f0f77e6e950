//! The firmware's description of itself, so that a model can be checked against it before flashing.
//!
//! A firmware that reads its model from flash calls [`descriptor!`](crate::descriptor!) once. That
//! puts 88 bytes into the section `.rebearing` of the ELF file, where `rebearing flash` finds them:
//!
//! | bytes | what |
//! |---|---|
//! | 0–3 | `RBFD` |
//! | 4–7 | version of the descriptor, 2 |
//! | 8–11 | version of the model format that the firmware reads |
//! | 12–15 | model slots in the MODEL region, 1 or 2 |
//! | 16–35 | FFT points, axes, features, components, classes that its `Monitor` holds |
//! | 36–39 | its models and samples: 0 f32 models and f32 samples, 1 f32 models and counts, 2 i16 models and counts |
//! | 40–71 | chip, as probe-rs names it, filled up with zeros |
//! | 72–75 | sample rate in Hz as f32; 0: that of the model |
//! | 76–79 | longest window in milliseconds; 0: any |
//! | 80–83 | acceleration in g of the largest count as f32; 0: not known |
//! | 84–87 | 1 if it takes signed models alone, else 0 |
//!
//! All other numbers are little-endian `u32`. Version 1 ends before byte 72: how such a firmware
//! samples is not known.

use crate::model::{Encoding, format};
use crate::monitor::{Capacities, Samples, Sampling};

/// The section of the ELF file.
pub const SECTION: &str = ".rebearing";
/// Bytes of a descriptor.
pub const DESCRIPTOR_LEN: usize = 88;
/// Bytes of a descriptor of version 1.
const FIRST_LEN: usize = 72;
/// First four bytes.
pub const MAGIC: [u8; 4] = *b"RBFD";
/// Version of the descriptor that is written. Version 1 is read too.
pub const VERSION: u32 = 2;
/// Longest name of a chip.
pub(crate) const CHIP_LEN: usize = 32;

/// f32 models, samples in the unit of the recordings.
const FLOATS: u32 = 0;
/// f32 models, samples in counts.
const COUNTS: u32 = 1;
/// i16 models.
const INTEGERS: u32 = 2;

const fn kind(encoding: Encoding, samples: Samples) -> u32 {
    match (encoding, samples) {
        (Encoding::F32, Samples::Floats) => FLOATS,
        (Encoding::F32, Samples::Counts) => COUNTS,
        (Encoding::I16, _) => INTEGERS,
    }
}

/// A firmware's description of itself.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Descriptor {
    /// Version of the model format that it reads.
    pub model_version: u32,
    /// Model slots in its MODEL region, 1 or 2.
    pub slots: u32,
    /// The capacities of its monitor.
    pub capacities: Capacities,
    /// How it samples; `None` if it does not say, as in version 1.
    pub sampling: Option<Sampling>,
    /// True if it takes signed models alone.
    pub signed: bool,
    chip: [u8; CHIP_LEN],
}

impl Descriptor {
    /// A descriptor for this build of the crate, at compile time.
    ///
    /// # Panics
    /// While compiling, if the chip's name is empty or too long, if there are not 1 or 2 slots, or if
    /// the rate or the full scale is negative or not finite.
    pub const fn new(capacities: Capacities, chip: &str, slots: u32, sampling: Sampling) -> Self {
        assert!(!chip.is_empty() && chip.len() <= CHIP_LEN, "a chip's name has 1 to 32 bytes");
        assert!(slots == 1 || slots == 2, "a MODEL region has one or two slots");
        assert!(is_size(sampling.rate_hz), "a rate is a number from zero up");
        assert!(is_size(sampling.full_scale_g), "a full scale is a number from zero up");
        let mut name = [0; CHIP_LEN];
        // As many bytes as there are, which were counted above.
        let (place, _) = name.split_at_mut(chip.len());
        place.copy_from_slice(chip.as_bytes());
        let model_version = format::VERSION as u32;
        let sampling = Some(sampling);
        Self { model_version, slots, capacities, sampling, signed: false, chip: name }
    }

    /// The same firmware, but it takes signed models alone.
    #[must_use]
    pub const fn for_signed_models(self) -> Self {
        Self { signed: true, ..self }
    }

    /// The chip that the firmware was built for, as probe-rs names it.
    pub fn chip(&self) -> &str {
        let length = self.chip.iter().position(|byte| *byte == 0).unwrap_or(CHIP_LEN);
        self.chip.get(..length).and_then(|name| str::from_utf8(name).ok()).unwrap_or("")
    }

    /// The bytes as they stand in the section, in the newest version. A firmware that does not say
    /// how it samples takes any model.
    pub const fn to_bytes(&self) -> [u8; DESCRIPTOR_LEN] {
        let Capacities { encoding, samples, fft, axes, dims, components, classes } =
            self.capacities;
        let words = [
            u32::from_le_bytes(MAGIC),
            VERSION,
            self.model_version,
            self.slots,
            fft as u32,
            axes as u32,
            dims as u32,
            components as u32,
            classes as u32,
            kind(encoding, samples),
        ];
        let Sampling { rate_hz, longest_window_ms, full_scale_g } = match self.sampling {
            Some(sampling) => sampling,
            None => Sampling::ANY,
        };
        let sampling =
            [rate_hz.to_bits(), longest_window_ms, full_scale_g.to_bits(), self.signed as u32];
        let mut bytes = [0; DESCRIPTOR_LEN];
        let (first, last) = bytes.split_at_mut(FIRST_LEN);
        let (numbers, name) = first.split_at_mut(FIRST_LEN - CHIP_LEN);
        put(numbers, &words);
        name.copy_from_slice(&self.chip);
        put(last, &sampling);
        bytes
    }

    /// The descriptor that `bytes` hold; `None` for anything else, a later version included.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (first, last) = bytes.split_first_chunk::<FIRST_LEN>()?;
        let (numbers, name) = first.split_last_chunk::<CHIP_LEN>()?;
        let (words, _) = numbers.as_chunks::<4>();
        let words: &[[u8; 4]; 10] = words.try_into().ok()?;
        let [magic, rest @ ..] = *words;
        let [version, model_version, slots, fft, axes, dims, components, classes, kind] =
            rest.map(u32::from_le_bytes);
        let (encoding, samples) = match kind {
            FLOATS => (Encoding::F32, Samples::Floats),
            COUNTS => (Encoding::F32, Samples::Counts),
            INTEGERS => (Encoding::I16, Samples::Counts),
            _ => return None,
        };
        let capacities = Capacities {
            encoding,
            samples,
            fft: fft as usize,
            axes: axes as usize,
            dims: dims as usize,
            components: components as usize,
            classes: classes as usize,
        };
        let (sampling, signed) = match version {
            1 if last.is_empty() => (None, false),
            VERSION => read_sampling(last.try_into().ok()?)?,
            _ => return None,
        };
        let descriptor = Self { model_version, slots, capacities, sampling, signed, chip: *name };
        let known = magic == MAGIC && matches!(slots, 1 | 2);
        (known && !descriptor.chip().is_empty()).then_some(descriptor)
    }
}

/// Writes words to the start of `bytes`.
const fn put(bytes: &mut [u8], words: &[u32]) {
    let mut word = 0;
    while word < words.len() {
        let (_, place) = bytes.split_at_mut(4 * word);
        let (place, _) = place.split_at_mut(4);
        place.copy_from_slice(&words[word].to_le_bytes());
        word += 1;
    }
}

/// How the firmware samples, and whether it takes signed models alone.
fn read_sampling(bytes: &[u8; DESCRIPTOR_LEN - FIRST_LEN]) -> Option<(Option<Sampling>, bool)> {
    let &[rate, longest, full_scale, signed] = bytes.as_chunks::<4>().0 else { return None };
    let [rate_hz, full_scale_g] = [rate, full_scale].map(f32::from_le_bytes);
    let longest_window_ms = u32::from_le_bytes(longest);
    let signed = match u32::from_le_bytes(signed) {
        0 => false,
        1 => true,
        _ => return None,
    };
    let sampling = Sampling { rate_hz, longest_window_ms, full_scale_g };
    (is_size(rate_hz) && is_size(full_scale_g)).then_some((Some(sampling), signed))
}

/// Returns true for a number from zero up.
const fn is_size(number: f32) -> bool {
    // The bits of −0, of negative numbers, of infinity and NaN are larger.
    number.to_bits() <= f32::MAX.to_bits()
}

/// Puts a description of this firmware into its ELF file: its monitor, its chip, its model slots,
/// and how it samples.
///
/// ```
/// use rebearing::Monitor;
/// use rebearing::monitor::Sampling;
///
/// const SAMPLING: Sampling =
///     Sampling { rate_hz: 26_667.0, longest_window_ms: 4_000, full_scale_g: 16.0 };
///
/// // The MODEL region of memory.x holds one model; with 2, it is cut in halves as in `update`.
/// rebearing::descriptor!(Monitor<'static, i16, 2048, 1, 32, 64, 8>, "STM32F405RG", 1, SAMPLING);
/// # fn main() {}
/// ```
///
/// The firmware itself should refuse what the descriptor promises to refuse: see
/// [`Sampling::check`](crate::monitor::Sampling::check).
#[macro_export]
macro_rules! descriptor {
    ($monitor:ty, $chip:expr, $slots:expr, $sampling:expr $(,)?) => {
        $crate::descriptor!(@ $crate::update::Descriptor::new(
            <$monitor>::CAPACITIES,
            $chip,
            $slots,
            $sampling,
        ));
    };
    ($monitor:ty, $chip:expr, $slots:expr, $sampling:expr, signed $(,)?) => {
        $crate::descriptor!(@ $crate::update::Descriptor::new(
            <$monitor>::CAPACITIES,
            $chip,
            $slots,
            $sampling,
        )
        .for_signed_models());
    };
    (@ $descriptor:expr) => {
        #[used]
        #[cfg_attr(target_os = "none", unsafe(link_section = ".rebearing"))]
        static REBEARING_DESCRIPTOR: [u8; $crate::update::descriptor::DESCRIPTOR_LEN] =
            $descriptor.to_bytes();
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Monitor;

    const CAPACITIES: Capacities = Monitor::<'static, i16, 512, 3, 96, 24, 16>::CAPACITIES;
    const SAMPLING: Sampling =
        Sampling { rate_hz: 26_667.0, longest_window_ms: 4_000, full_scale_g: 16.0 };

    #[test]
    fn what_is_written_is_read_back() {
        for chip in ["nRF52840_xxAA", "an exactly 32 bytes long chip nm"] {
            let descriptor = Descriptor::new(CAPACITIES, chip, 2, SAMPLING);
            let read = Descriptor::from_bytes(&descriptor.to_bytes()).unwrap();
            assert_eq!(read, descriptor);
            assert_eq!((read.chip(), read.slots, read.capacities), (chip, 2, CAPACITIES));
            assert_eq!(read.model_version, u32::from(format::VERSION));
            assert_eq!((read.sampling, read.signed), (Some(SAMPLING), false));
            let signed = descriptor.for_signed_models();
            assert_eq!(Descriptor::from_bytes(&signed.to_bytes()), Some(signed));
        }
    }

    #[test]
    fn the_layout_is_as_documented() {
        let bytes = Descriptor::new(CAPACITIES, "RP2040", 1, SAMPLING).to_bytes();
        assert_eq!(bytes[..4], *b"RBFD");
        let word = |at: usize| u32::from_le_bytes(*bytes[at..].first_chunk().unwrap());
        assert_eq!([4, 8, 12].map(word), [2, 1, 1]);
        assert_eq!([16, 20, 24, 28, 32, 36].map(word), [512, 3, 96, 24, 16, 1]);
        assert_eq!(bytes[40..48], *b"RP2040\0\0");
        assert_eq!([72, 76, 80].map(word), [26_667_f32.to_bits(), 4_000, 16_f32.to_bits()]);
    }

    #[test]
    fn version_1_is_read_and_says_nothing_of_its_samples() {
        let mut bytes = Descriptor::new(CAPACITIES, "RP2040", 1, SAMPLING).to_bytes();
        bytes[4] = 1;
        let read = Descriptor::from_bytes(&bytes[..72]).unwrap();
        assert_eq!((read.chip(), read.capacities, read.sampling), ("RP2040", CAPACITIES, None));
        // Neither version has the other's length.
        assert_eq!(Descriptor::from_bytes(&bytes), None);
        bytes[4] = 2;
        assert_eq!(Descriptor::from_bytes(&bytes[..72]), None);
        assert_eq!(Descriptor::from_bytes(&bytes[..87]), None);
        assert_eq!(Descriptor::from_bytes(&[]), None);
    }

    #[test]
    fn another_magic_version_or_number_of_slots_is_refused() {
        let bytes = Descriptor::new(CAPACITIES, "RP2040", 1, SAMPLING).to_bytes();
        let changes = [(0, b'X'), (4, 1), (4, 3), (12, 0), (12, 3), (36, 3), (37, 1), (40, 0)];
        // A rate and a full scale that are negative or not finite.
        for (at, byte) in changes.into_iter().chain([(40, 0xff), (75, 0xc6), (83, 0xff), (84, 2)]) {
            let mut other = bytes;
            other[at] = byte;
            assert_eq!(Descriptor::from_bytes(&other), None, "byte {at} as {byte}");
        }
    }
}
