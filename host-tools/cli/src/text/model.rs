//! The cost of a model, in a line.

use rebearing_host::model::deployed::DeployedModel;

/// Returns flash, RAM and type in one line.
pub(crate) fn cost_line(model: &DeployedModel) -> String {
    let (monitor, ram) = model.monitor();
    format!("device: {} bytes of flash, {ram} bytes of RAM as {monitor}", model.bytes().len())
}

/// Returns a unit and the full scale in it, in words.
pub(crate) fn unit_text(unit: &str, full_scale: Option<f64>) -> String {
    full_scale.map_or(unit.to_owned(), |value| format!("{unit}, full scale ±{value} {unit}"))
}
