//! The bytes of a checked model file, in a buffer that is aligned for the device's reader.

use std::marker::PhantomData;

use rebearing::ModelError;
use rebearing::model::{AnyModel, Floats, Integers, Numbers};
use zerocopy::IntoBytes;

use crate::model::bytes::{Payload, aligned, appended};

/// The bytes of a valid model file of one encoding.
#[derive(Debug, Clone)]
pub struct AnyModelBytes<N> {
    words: Vec<u32>,
    numbers: PhantomData<N>,
}

/// The bytes of a valid f32 model file.
pub type ModelBytes = AnyModelBytes<Floats>;

/// The bytes of a valid i16 model file.
pub type IntegerModelBytes = AnyModelBytes<Integers>;

impl<N: Numbers> AnyModelBytes<N> {
    /// Copies `bytes` to an aligned buffer and checks them.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ModelError> {
        let words = aligned(bytes);
        // The reader gets the exact length, so it refuses an odd length as cut short.
        let exact = words.as_bytes().get(..bytes.len()).unwrap_or(&[]);
        AnyModel::<N::Body<'_>>::parse(exact)?;
        Ok(Self { words, numbers: PhantomData })
    }

    /// Returns the same model with optional sections appended.
    pub fn with_sections(&self, sections: &[Payload]) -> Result<Self, ModelError> {
        Self::from_bytes(&appended(self.bytes(), sections))
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        self.words.as_bytes()
    }

    /// The checked view of the bytes.
    ///
    /// # Panics
    /// Never: the bytes were checked when they came in and cannot change.
    pub fn model(&self) -> AnyModel<'_, N::Body<'_>> {
        AnyModel::parse(self.bytes()).expect("checked when the buffer was made")
    }
}
