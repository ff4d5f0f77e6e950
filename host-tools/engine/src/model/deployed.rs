//! A model file of either encoding, for the commands that run it.

use std::path::Path;

use rebearing::model::{AlarmParameters, DriftReference, ModelVerdict, SampleUnit};
use rebearing::monitor::{Capacities, Sampling};
use rebearing::signal::SeverityParameters;
use rebearing::{Encoding, FrontEnd, IntegerModel, Model, ModelError};
use zerocopy::IntoBytes;

use crate::model::bytes::{Payload, aligned};
use crate::model::encoded::{IntegerModelBytes, ModelBytes};
use crate::model::file::ModelFileError;
use crate::model::on_disk::ModelFile;

/// A checked model file of either encoding.
#[derive(Debug, Clone)]
pub enum DeployedModel {
    /// In floats.
    F32(ModelBytes),
    /// In integers.
    I16(IntegerModelBytes),
}

/// A model whose classes have names.
pub trait ClassNames {
    /// Name of a class, `None` past the last.
    fn class_name(&self, class: usize) -> Option<&str>;
}

impl ClassNames for Model<'_> {
    fn class_name(&self, class: usize) -> Option<&str> {
        self.class_name(class)
    }
}

impl ClassNames for IntegerModel<'_> {
    fn class_name(&self, class: usize) -> Option<&str> {
        self.class_name(class)
    }
}

impl ClassNames for DeployedModel {
    fn class_name(&self, class: usize) -> Option<&str> {
        match self {
            Self::F32(bytes) => bytes.model().class_name(class),
            Self::I16(bytes) => bytes.model().class_name(class),
        }
    }
}

impl DeployedModel {
    /// Reads and checks a model file of either encoding. Of a signed file it is the model, whoever
    /// signed it.
    pub fn read(path: &Path) -> Result<Self, ModelFileError> {
        ModelFile::read(path).map(|file| file.model)
    }

    /// Checks the bytes of a model file of either encoding, without an envelope.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ModelError> {
        let words = aligned(bytes);
        match Encoding::of(words.as_bytes().get(..bytes.len()).unwrap_or(&[]))? {
            Encoding::F32 => ModelBytes::from_bytes(bytes).map(Self::F32),
            Encoding::I16 => IntegerModelBytes::from_bytes(bytes).map(Self::I16),
        }
    }

    /// The encoding of its numbers.
    pub fn encoding(&self) -> Encoding {
        match self {
            Self::F32(_) => Encoding::F32,
            Self::I16(_) => Encoding::I16,
        }
    }

    /// The file's bytes.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Self::F32(bytes) => bytes.bytes(),
            Self::I16(bytes) => bytes.bytes(),
        }
    }

    /// The front end, which turns samples into features.
    pub fn front_end(&self) -> FrontEnd<'_> {
        match self {
            Self::F32(bytes) => *bytes.model().front_end(),
            Self::I16(bytes) => *bytes.model().front_end(),
        }
    }

    /// Number of classes.
    pub fn classes(&self) -> usize {
        match self {
            Self::F32(bytes) => bytes.model().classes(),
            Self::I16(bytes) => bytes.model().classes(),
        }
    }

    /// The class of a healthy machine, if the model names one.
    pub fn healthy(&self) -> Option<usize> {
        match self {
            Self::F32(bytes) => bytes.model().healthy(),
            Self::I16(bytes) => bytes.model().healthy(),
        }
    }

    /// Parameters of the alarm.
    pub fn alarm(&self) -> AlarmParameters {
        match self {
            Self::F32(bytes) => bytes.model().alarm(),
            Self::I16(bytes) => bytes.model().alarm(),
        }
    }

    /// The parameters of the severity measurement, if the model has them.
    pub fn severity(&self) -> Option<SeverityParameters> {
        match self {
            Self::F32(bytes) => bytes.model().severity(),
            Self::I16(_) => None,
        }
    }

    /// The unit of the samples, if the model gives it.
    pub fn unit(&self) -> Option<SampleUnit<'_>> {
        match self {
            Self::F32(bytes) => bytes.model().unit(),
            Self::I16(bytes) => bytes.model().unit(),
        }
    }

    /// Number of counts in one unit of the recordings; `None` for an f32 model.
    pub fn counts_per_unit(&self) -> Option<f32> {
        match self {
            Self::F32(_) => None,
            Self::I16(bytes) => Some(bytes.model().counts_per_unit()),
        }
    }

    /// Checks that a monitor of these capacities can run the model. The error names what does not
    /// fit.
    pub fn check(&self, capacities: &Capacities) -> Result<(), ModelError> {
        match self {
            Self::F32(bytes) => capacities.check(&bytes.model()),
            Self::I16(bytes) => capacities.check(&bytes.model()),
        }
    }

    /// Checks that the model is made for a firmware that samples like this. The error names both
    /// figures.
    pub fn check_sampling(&self, sampling: &Sampling) -> Result<(), ModelError> {
        match self {
            Self::F32(bytes) => sampling.check(&bytes.model()),
            Self::I16(bytes) => sampling.check(&bytes.model()),
        }
    }

    /// Returns the same model with `sections` appended.
    pub fn with_sections(&self, sections: &[Payload]) -> Result<Self, ModelError> {
        match self {
            Self::F32(bytes) => bytes.with_sections(sections).map(Self::F32),
            Self::I16(bytes) => bytes.with_sections(sections).map(Self::I16),
        }
    }

    /// Number of components, of the gate and of the classes together.
    pub fn components(&self) -> usize {
        match self {
            Self::F32(bytes) => bytes.model().component_count(),
            Self::I16(bytes) => bytes.model().component_count(),
        }
    }

    /// The reference of the drift watch, if the model has one.
    pub fn drift(&self) -> Option<DriftReference<'_>> {
        match self {
            Self::F32(bytes) => bytes.model().drift(),
            Self::I16(bytes) => bytes.model().drift(),
        }
    }

    /// The verdict that the model was made under, if the file gives it.
    pub fn verdict(&self) -> Option<ModelVerdict> {
        match self {
            Self::F32(bytes) => bytes.model().verdict(),
            Self::I16(bytes) => bytes.model().verdict(),
        }
    }
}
