//! Reads a firmware's ELF file: its descriptor, and the region of its model.

use std::ops::Range;
use std::path::{Path, PathBuf};

use object::elf::{FileHeader32, PT_LOAD};
use object::read::elf::{ElfFile, ProgramHeader};
use object::{LittleEndian, Object, ObjectSection, ObjectSymbol};
use rebearing::update::descriptor::{Descriptor, SECTION};
use thiserror::Error;

use crate::device::sectors;

/// The properties of a firmware that `rebearing flash` needs.
#[derive(Debug, Clone)]
pub struct Firmware {
    /// The ELF file.
    pub path: PathBuf,
    /// The firmware's description of itself.
    pub descriptor: Descriptor,
    /// The MODEL region of its linker script.
    pub model_region: Range<u32>,
    /// Whether it logs with defmt.
    pub defmt: bool,
}

/// Why an ELF file cannot be used to flash a model.
#[derive(Debug, Error)]
pub enum FirmwareError {
    /// The file cannot be read.
    #[error("{path}: cannot be read: {reason}")]
    Unreadable {
        /// The file.
        path: String,
        /// The reason that the system gave.
        reason: std::io::Error,
    },
    /// The file is not an ELF file of a 32-bit little-endian machine.
    #[error("{path}: no ELF file of a microcontroller ({reason})")]
    NotElf {
        /// The file.
        path: String,
        /// The reason that the ELF reader gave.
        reason: object::Error,
    },
    /// The firmware does not describe itself.
    #[error(
        "{path}: no descriptor of version {} or before in a section {SECTION}: call rebearing::update::descriptor! in \
         the firmware, with the same version of rebearing as this tool's",
        rebearing::update::descriptor::VERSION
    )]
    NoDescriptor {
        /// The file.
        path: String,
    },
    /// The linker script names no MODEL region.
    #[error(
        "{path}: no symbols __model_start and __model_end that enclose a region: give the model a \
         region of its own in memory.x, and keep the ELF file's symbols (no strip)"
    )]
    NoRegion {
        /// The file.
        path: String,
    },
    /// The firmware itself lies in the MODEL region.
    #[error(
        "{path}: a part of the firmware at {at:#010x} to {end:#010x} lies in the MODEL region \
         {model_start:#010x} to {model_end:#010x}: each would erase the other; keep them apart in \
         memory.x"
    )]
    Overlap {
        /// The file.
        path: String,
        /// Where the part starts.
        at: u32,
        /// Where it ends.
        end: u32,
        /// Where the region starts.
        model_start: u32,
        /// Where it ends.
        model_end: u32,
    },
    /// The firmware lies outside the MODEL region, but is erased with it.
    #[error(
        "{path}: a part of the firmware at {at:#010x} to {end:#010x} lies in a flash sector that is \
         erased with the MODEL region ({erased_start:#010x} to {erased_end:#010x} on {chip}): let \
         MODEL begin and end with a sector in memory.x"
    )]
    SharedSector {
        /// The file.
        path: String,
        /// The chip in the firmware's descriptor.
        chip: String,
        /// Where the part starts.
        at: u32,
        /// Where it ends.
        end: u32,
        /// Where the sectors of the region start.
        erased_start: u32,
        /// Where they end.
        erased_end: u32,
    },
}

impl Firmware {
    /// Reads the properties of a firmware from its ELF file.
    ///
    /// Refuses a firmware that lies in its own MODEL region. If the chip is known ([`sectors`]),
    /// also refuses a firmware in a sector that is erased with that region.
    pub fn read(path: &Path) -> Result<Self, FirmwareError> {
        let name = || path.display().to_string();
        let bytes = std::fs::read(path)
            .map_err(|reason| FirmwareError::Unreadable { path: name(), reason })?;
        let elf = ElfFile::<FileHeader32<LittleEndian>>::parse(&bytes[..])
            .map_err(|reason| FirmwareError::NotElf { path: name(), reason })?;

        let section = elf.section_by_name(SECTION).and_then(|section| section.data().ok());
        let descriptor = section
            .and_then(Descriptor::from_bytes)
            .ok_or_else(|| FirmwareError::NoDescriptor { path: name() })?;

        let symbol = |name: &str| elf.symbols().find(|symbol| symbol.name() == Ok(name));
        let address = |name| u32::try_from(symbol(name)?.address()).ok();
        let region = address("__model_start").zip(address("__model_end"));
        let model_region = region
            .map(|(start, end)| start..end)
            .filter(|region| !region.is_empty())
            .ok_or_else(|| FirmwareError::NoRegion { path: name() })?;

        let erased = sectors::erased_with(descriptor.chip(), &model_region);
        let Range { start: erased_start, end: erased_end } = erased.unwrap_or(model_region.clone());
        for segment in elf.elf_program_headers() {
            let at = segment.p_paddr(LittleEndian);
            let end = at.saturating_add(segment.p_filesz(LittleEndian));
            let loaded = segment.p_type(LittleEndian) == PT_LOAD && at < end;
            if loaded && at < model_region.end && model_region.start < end {
                let Range { start: model_start, end: model_end } = model_region;
                return Err(FirmwareError::Overlap {
                    path: name(),
                    at,
                    end,
                    model_start,
                    model_end,
                });
            }
            if loaded && at < erased_end && erased_start < end {
                let (path, chip) = (name(), descriptor.chip().into());
                return Err(FirmwareError::SharedSector {
                    path,
                    chip,
                    at,
                    end,
                    erased_start,
                    erased_end,
                });
            }
        }
        let defmt = elf.section_by_name(".defmt").is_some();
        Ok(Self { path: path.into(), descriptor, model_region, defmt })
    }

    /// Returns true if the firmware was built for `chip`. The beginning of a name is enough, as in
    /// probe-rs.
    pub fn is_for(&self, chip: &str) -> bool {
        let (own, other) = (self.descriptor.chip().to_lowercase(), chip.to_lowercase());
        !other.is_empty() && (own.starts_with(&other) || other.starts_with(&own))
    }

    /// Finds the firmware for `chip` among those built in a checkout of the project.
    ///
    /// Returns `None` if there is none, or if there are several that differ in descriptor or MODEL
    /// region.
    pub fn built_for(chip: &str, checkout: &Path) -> Option<Self> {
        let mut found = Self::built(checkout).filter(|firmware| firmware.is_for(chip));
        let first = found.next()?;
        let same = |other: Self| {
            other.descriptor == first.descriptor && other.model_region == first.model_region
        };
        found.all(same).then_some(first)
    }

    /// Finds the only firmware for `chip` that logs with defmt, among those built in a checkout.
    ///
    /// Only the ELF file of the firmware itself can decode such a log.
    pub fn logging_for(chip: &str, checkout: &Path) -> Option<Self> {
        let mut found =
            Self::built(checkout).filter(|firmware| firmware.is_for(chip) && firmware.defmt);
        found.next().filter(|_| found.next().is_none())
    }

    /// Returns all firmware built in a checkout of the project.
    fn built(checkout: &Path) -> impl Iterator<Item = Self> {
        let targets = std::fs::read_dir(checkout.join("firmware-examples/target"));
        let targets = targets.into_iter().flatten().flatten();
        let folders = targets.map(|target| target.path().join("release"));
        let files = folders.filter_map(|folder| std::fs::read_dir(folder).ok()).flatten().flatten();
        files
            .filter(|file| file.path().extension().is_none() && file.path().is_file())
            .filter_map(|file| Self::read(&file.path()).ok())
    }
}
