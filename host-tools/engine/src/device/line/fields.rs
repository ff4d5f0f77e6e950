//! Parses the fields of each kind of line.

use anyhow::{Context, Result, bail, ensure};
use rebearing::Encoding;
use rebearing::monitor::{Capacities, Samples};

use super::seen::{DriftSeen, EndSeen, FindingSeen, ModelSeen, MonitorSeen, ReportSeen};
use super::values::{self, list, number, text_to};

/// Largest number of fields in a line. A device sends less than a quarter of it.
const MOST_FIELDS: usize = 64;

/// The words `name=value` of a line. Unused names belong to a later version.
pub(super) struct Fields<'a>(Vec<(&'a str, &'a str)>);

impl<'a> Fields<'a> {
    pub(super) fn of(words: impl Iterator<Item = &'a str>) -> Result<Self> {
        let mut fields: Vec<(&str, &str)> = Vec::new();
        for word in words {
            let (name, value) = word.split_once('=').with_context(|| format!("{word:?}?"))?;
            ensure!(fields.len() < MOST_FIELDS, "more than {MOST_FIELDS} fields");
            ensure!(fields.iter().all(|(known, _)| *known != name), "{name} is there twice");
            fields.push((name, value));
        }
        Ok(Self(fields))
    }

    fn get(&self, name: &str) -> Option<&'a str> {
        self.0.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
    }

    /// Parses a field with `read`. An error names the field.
    fn read<T>(&self, name: &str, read: impl FnOnce(&'a str) -> Result<T>) -> Result<Option<T>> {
        let value = self.get(name).map(read).transpose();
        value.with_context(|| format!("{name}={}", self.get(name).unwrap_or_default()))
    }

    fn need<T>(&self, name: &str, read: impl FnOnce(&'a str) -> Result<T>) -> Result<T> {
        self.read(name, read)?.with_context(|| format!("no {name}"))
    }
}

/// Parses a `report` line.
pub(super) fn report(window: u32, fields: &Fields<'_>) -> Result<ReportSeen> {
    let finding = match fields.read("fault", values::fault)? {
        Some(fault) => {
            ensure!(fields.get("label").is_none(), "both a label and a fault");
            Err(fault)
        }
        None => Ok(finding(fields)?),
    };
    Ok(ReportSeen {
        window,
        finding,
        state: fields.read("state", values::state)?,
        level: fields.read("level", number)?,
        alarm: fields.read("alarm", values::alarm)?,
        drift: fields.read("drift", values::flag)?,
        bands: fields.read("bands", values::bands)?.unwrap_or_default(),
        bits: fields.read("bits", values::bits)?,
    })
}

fn finding(fields: &Fields<'_>) -> Result<FindingSeen> {
    let share = |text: &str| Ok(f32::from(text_to::<u16>(text)?) / 1000.0);
    let pair = |text| match list(text, number)?.as_slice() {
        [value, least] => Ok((*value, *least)),
        _ => bail!("a number and its threshold are two"),
    };
    let velocity = fields.read("velocity", |text| list(text, number))?;
    Ok(FindingSeen {
        label: fields.need("label", values::label)?,
        posterior: fields.need("p", |text| list(text, share))?,
        gate: fields.read("gate", pair)?,
        log_likelihood: fields.read("ll", pair)?,
        rms: fields.need("rms", |text| list(text, number))?,
        severity: fields.read("zone", values::zone)?.zip(velocity),
    })
}

/// Parses a `model` line.
pub(super) fn model(fields: &Fields<'_>) -> Result<ModelSeen> {
    let model = ModelSeen {
        bytes: fields.need("bytes", text_to)?,
        rate_hz: fields.need("rate", number)?,
        fft: fields.need("fft", text_to)?,
        axes: fields.need("axes", text_to)?,
        classes: fields.need("classes", |text| list(text, values::name))?,
        edges: fields.need("edges", |text| list(text, text_to))?,
    };
    ensure!(model.rate_hz > 0.0 && model.fft > 0, "a rate or an FFT of nothing");
    Ok(model)
}

/// Parses a `monitor` line.
pub(super) fn monitor(fields: &Fields<'_>) -> Result<MonitorSeen> {
    let encoding = fields.need("model", |text| match text {
        "f32" => Ok(Encoding::F32),
        "i16" => Ok(Encoding::I16),
        _ => bail!("which encoding?"),
    })?;
    let samples = fields.need("samples", |text| match text {
        "f32" => Ok(Samples::Floats),
        "i16" => Ok(Samples::Counts),
        _ => bail!("which samples?"),
    })?;
    let capacities = Capacities {
        encoding,
        samples,
        fft: fields.need("fft", text_to)?,
        axes: fields.need("axes", text_to)?,
        dims: fields.need("features", text_to)?,
        components: fields.need("components", text_to)?,
        classes: fields.need("classes", text_to)?,
    };
    Ok(MonitorSeen { capacities, ram: fields.need("ram", text_to)? })
}

/// Parses an `end` line.
pub(super) fn end(fields: &Fields<'_>) -> Result<EndSeen> {
    let drift = |text| match list(text, text_to)?.as_slice() {
        &[blocks, drifted, windows] => Ok(DriftSeen { blocks, drifted, windows }),
        _ => bail!("a drift watch has three counts"),
    };
    Ok(EndSeen { findings: fields.need("findings", text_to)?, drift: fields.read("drift", drift)? })
}
