//! Labels in words.

use rebearing::Label;
use rebearing_host::model::deployed::ClassNames;

/// The word for a label.
pub(crate) fn word(model: &impl ClassNames, label: Label) -> &str {
    match label {
        Label::Class(class) => model.class_name(class).unwrap_or("?"),
        Label::Unknown => "unknown",
        Label::UnknownFault => "unknown_fault",
    }
}
