//! Room for a monitor, made where it will stay.

use super::AnyMonitor;
use crate::model::{AnyModel, ModelError};

/// A monitor without a model yet, for a `static`: starting it takes no stack of its size.
///
/// `Monitor::new` builds a monitor on the stack and moves it to its place, which takes twice its
/// size there for a moment. A vacant monitor is all zeros and lies in `.bss` from the start.
///
/// ```
/// # macro_rules! path { () => { concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/model-v1.rbm") } }
/// use rebearing::{AnyMonitor, Model, Monitor, Vacant, include_model};
///
/// type Small<'m> = Monitor<'m, f32, 256, 1, 4, 3, 3>;
///
/// // In a firmware this is a `static` in a `StaticCell`, or a `static mut` that `#[entry]` owns.
/// let mut room: Vacant<Small> = Small::vacant();
/// let monitor = room.start(Model::parse(include_model!(path!()))?)?;
/// assert!(monitor.push([0.5]).is_none());
/// # Ok::<(), rebearing::ModelError>(())
/// ```
#[derive(Debug, Clone)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Vacant<M>(pub(super) M);

impl<M> Vacant<M> {
    /// Checks that the monitor's type fits `model`, and starts it in place.
    pub fn start<'m, const AXES: usize, const CLASSES: usize>(
        &mut self,
        model: AnyModel<'m, M::Body>,
    ) -> Result<&mut M, ModelError>
    where
        M: AnyMonitor<'m, AXES, CLASSES>,
    {
        self.0.start(model)?;
        Ok(&mut self.0)
    }
}

/// A value that comes later, for a `static`. Unlike those of an `Option`, the bits of an empty place
/// are zero, so that it takes no flash.
///
/// ```
/// use rebearing::monitor::Place;
///
/// let mut place = Place::Empty;
/// assert_eq!(place.get_mut(), None);
/// place = Place::Taken(1);
/// assert_eq!(place.get(), Some(&1));
/// ```
#[derive(Debug, Clone)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(u32)]
pub enum Place<T> {
    /// Nothing yet.
    Empty = 0,
    /// The value.
    Taken(T) = 1,
}

impl<T> Place<T> {
    /// The value, if there is one.
    pub fn get(&self) -> Option<&T> {
        match self {
            Self::Empty => None,
            Self::Taken(value) => Some(value),
        }
    }

    /// The value, to be changed, if there is one.
    pub fn get_mut(&mut self) -> Option<&mut T> {
        match self {
            Self::Empty => None,
            Self::Taken(value) => Some(value),
        }
    }
}
