//! A column of time: telling it from a column of samples, and reading the rate from it.

use super::lines::Separator;
use super::lines::number;

/// A column that may be time, with everything known about it so far.
#[derive(Debug, Clone)]
pub(in super::super) struct TimeColumn {
    pub(in super::super) column: usize,
    /// Whether its name means time. Without such a name, only even steps indicate time.
    pub(in super::super) named: bool,
    /// Seconds in its unit.
    unit: f64,
    first: f64,
    last: f64,
    rows: u64,
    /// Lower and upper bound of the true step.
    step: (f64, f64),
    /// Rounding of the first time.
    first_digit: f64,
    /// Rounding of the last time.
    last_digit: f64,
    /// The finest last digit among numbers without an exponent. Programs that leave out trailing
    /// zeros write `0.5` as well as `0.500125`.
    finest: f64,
    /// Whether the rows so far count 0, 1, 2, … or 1, 2, 3, …
    counts: bool,
}

/// Result of reading a row's time.
#[derive(Debug, PartialEq, Eq)]
pub(in super::super) enum Step {
    /// It follows in even steps.
    Even,
    /// It is not a number.
    NotANumber,
    /// It is earlier or later than even steps allow.
    Uneven,
}

/// The meaning of a column.
#[derive(Debug, PartialEq)]
pub(in super::super) enum Meaning {
    /// Time, at this rate.
    Time(f64),
    /// The number of the row.
    Counter,
    /// Unknown: there are too few rows.
    Nothing,
}

/// Largest deviation of a time, as a fraction of a step. A lost sample would be off by twice as
/// much.
const JITTER: f64 = 0.25;

impl TimeColumn {
    /// The column that may be time: the one with a name that means time, or else the first of
    /// several.
    pub(in super::super) fn find(names: &[String], header: bool) -> Option<Self> {
        let by_name = names.iter().enumerate().filter(|_| header);
        let named = { by_name }.find_map(|(column, name)| Some((column, unit(name)?)));
        let (column, unit) = match named {
            Some(found) => found,
            None if names.len() > 1 => (0, 1.0),
            None => return None,
        };
        Some(Self {
            column,
            named: named.is_some(),
            unit,
            first: 0.0,
            last: 0.0,
            rows: 0,
            step: (0.0, f64::INFINITY),
            first_digit: 0.0,
            last_digit: 0.0,
            finest: f64::INFINITY,
            counts: true,
        })
    }

    /// Takes the time of the next row.
    pub(super) fn row(&mut self, field: &[u8], separator: Separator) -> Step {
        match number::<f64>(field, separator) {
            Some((value, _)) if field.iter().any(|b| matches!(b, b'e' | b'E')) => {
                self.value(value, last_digit(field))
            }
            Some((value, _)) => {
                self.finest = self.finest.min(last_digit(field));
                self.value(value, self.finest)
            }
            None => Step::NotANumber,
        }
    }

    /// Takes the time of the next row. `digit` is its rounding.
    pub(in super::super) fn value(&mut self, value: f64, digit: f64) -> Step {
        if !value.is_finite() {
            return Step::NotANumber;
        }
        let index = self.rows as f64;
        if self.rows == 0 {
            (self.first, self.first_digit) = (value, digit);
        }
        self.first_digit = self.first_digit.min(self.finest);
        self.counts &= value == self.first + index && (self.first == 0.0 || self.first == 1.0);
        if self.rows > 0 {
            // value = first + (index ± JITTER)·step, with every time rounded to its last digit.
            let (since, rounding) = (value - self.first, self.first_digit + digit);
            let least = (since - rounding) / (index + JITTER);
            let most = (since + rounding) / (index - JITTER);
            self.step = (self.step.0.max(least), self.step.1.min(most));
            if self.step.0 > self.step.1 || value < self.last {
                return Step::Uneven;
            }
        }
        (self.last, self.last_digit) = (value, digit);
        self.rows += 1;
        Step::Even
    }

    /// The meaning of the column, after its last row.
    pub(in super::super) fn meaning(&self) -> Meaning {
        let span = self.last - self.first;
        if self.rows < 3 || span <= 0.0 {
            return Meaning::Nothing;
        }
        if self.counts && !self.named {
            return Meaning::Counter;
        }
        let steps = (self.rows - 1) as f64;
        // Half a digit in both directions, at both ends.
        let rounding = 0.5 * (self.first_digit + self.last_digit);
        let least = steps / ((span + rounding) * self.unit);
        // If all times lie within their rounding, they say nothing.
        let most = steps / ((span - rounding).max(0.0) * self.unit);
        if most.is_finite() && most - least < 0.01 * least {
            Meaning::Time(roundest(steps / (span * self.unit), least, most))
        } else {
            Meaning::Nothing
        }
    }

    /// The time before an uneven row, and the step before that row, for a message.
    pub(in super::super) fn before(&self) -> (f64, f64) {
        (self.last, (self.last - self.first) / (self.rows.max(2) - 1) as f64)
    }
}

/// Seconds per unit of a column whose name means time.
fn unit(name: &str) -> Option<f64> {
    let name = name.trim().to_lowercase();
    let end = name.find(['(', '[', '_', '/', ' ']).unwrap_or(name.len());
    let (word, rest) = name.split_at(end);
    if !matches!(word, "t" | "time" | "zeit" | "temps" | "tiempo" | "timestamp" | "seconds" | "sec")
    {
        return None;
    }
    match rest.trim_matches(|c: char| "()[]_/ .".contains(c)) {
        "" | "s" | "sec" | "secs" | "second" | "seconds" => Some(1.0),
        "ms" | "msec" | "milliseconds" => Some(1e-3),
        "us" | "µs" | "μs" | "usec" | "microseconds" => Some(1e-6),
        "ns" | "nanoseconds" => Some(1e-9),
        // Minutes, dates or another meaning: no rate can be read from these.
        _ => None,
    }
}

/// The value of one unit in the last digit of a number.
fn last_digit(field: &[u8]) -> f64 {
    let mantissa_end = field.iter().position(|b| matches!(b, b'e' | b'E')).unwrap_or(field.len());
    let exponent = field.get(mantissa_end + 1..).and_then(|e| std::str::from_utf8(e).ok());
    let exponent: i32 = exponent.and_then(|e| e.parse().ok()).unwrap_or(0);
    let mantissa = &field[..mantissa_end];
    let mark = mantissa.iter().position(|b| matches!(b, b'.' | b','));
    let decimals = mark.map_or(0, |mark| mantissa.len() - mark - 1);
    10_f64.powi(exponent) / 10_f64.powf(decimals as f64)
}

/// The number with the fewest digits between `least` and `most`.
fn roundest(value: f64, least: f64, most: f64) -> f64 {
    let rounded = (1..16).map(|digits| {
        let text = format!("{value:.*e}", digits - 1);
        text.parse().unwrap_or(value)
    });
    { rounded }.find(|rounded| (least..=most).contains(rounded)).unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meaning(name: &str, times: impl Iterator<Item = String>) -> Result<Meaning, usize> {
        let names = [name.to_owned(), "x".to_owned()];
        let mut column = TimeColumn::find(&names, true).unwrap();
        for (row, time) in times.enumerate() {
            if column.row(time.as_bytes(), Separator::Byte(b';')) != Step::Even {
                return Err(row);
            }
        }
        Ok(column.meaning())
    }

    #[test]
    fn the_rate_is_read_through_rounding() {
        for (decimals, rate) in [(4, 12_000.0), (6, 12_000.0), (9, 25_600.0), (6, 51_200.0)] {
            let times = (0..20_000).map(|i| format!("{:.decimals$}", f64::from(i) / rate));
            assert_eq!(meaning("t", times), Ok(Meaning::Time(rate)), "{decimals} {rate}");
        }
        let commas = (0..1000).map(|i| format!("{:.3}", f64::from(i) / 0.8).replace('.', ","));
        assert_eq!(meaning("Time (ms)", commas), Ok(Meaning::Time(800.0)));
        let late = (0..1000).map(|i| format!("{:.5e}", 3.0 + f64::from(i) / 1000.0));
        assert_eq!(meaning("time_s", late), Ok(Meaning::Time(1000.0)));
    }

    #[test]
    fn zeros_at_the_end_may_be_left_out() {
        let times = (0..2000).map(|i| format!("{}", f64::from(i) / 8000.0));
        assert_eq!(meaning("t", times), Ok(Meaning::Time(8000.0)));
        let python = (0..2000).map(|i| match i {
            0 => "0.0".into(),
            _ if i < 6 => format!("{:e}", f64::from(i) / 51_200.0),
            _ => format!("{}", f64::from(i) / 51_200.0),
        });
        assert_eq!(meaning("t", python), Ok(Meaning::Time(51_200.0)));
    }

    #[test]
    fn a_lost_sample_is_found_and_jitter_is_not_one() {
        let times = |lost: u32| {
            (0..1000).map(move |i| format!("{:.6}", f64::from(i + u32::from(i >= lost)) / 1000.0))
        };
        assert_eq!(meaning("t", times(500)), Err(500));
        assert_eq!(meaning("t", times(2000)), Ok(Meaning::Time(1000.0)));
        let jitter =
            (0..1000).map(|i| format!("{:.6}", (f64::from(i) + 0.1 * f64::from(i % 3)) / 1000.0));
        assert_eq!(meaning("t", jitter), Ok(Meaning::Time(1000.0)));
    }

    #[test]
    fn row_numbers_and_short_columns_are_no_time() {
        assert_eq!(meaning("row", (1..50).map(|i| i.to_string())), Ok(Meaning::Counter));
        assert_eq!(meaning("t", (0..2).map(|i| i.to_string())), Ok(Meaning::Nothing));
        assert_eq!(unit("time_min"), None);
        assert_eq!(unit("torque"), None);
        assert_eq!(unit("T [µs]"), Some(1e-6));
    }
}
