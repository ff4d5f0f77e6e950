//! How EM's time grows with samples and dims, and how much memory it takes.

use super::json::Json;
use super::measure::cpu_seconds;
use super::report::{self, aligned};
use super::worker::{SIDES, Sides};
use std::fmt::Write as _;

/// EM with a fixed number of iterations, in the precision of the files.
const EM: &str = "em data=bands1024-target start=bands1024-target-20 precision=f32 \
                  tolerance=0 iterations=10 floor=1e-2";
/// Width of the longest bar.
const WIDTH: f64 = 40.0;
/// Bytes of a feature in the files.
const BYTES: f64 = 4.0;

/// Seconds on the processor at doubling sizes.
pub(super) struct Growth {
    /// The size that is doubled, and the one that stays.
    title: &'static str,
    /// Size, and the seconds of both sides.
    points: Vec<(usize, [f64; 2])>,
}

/// Doubles n at d = 512, and d at n = 4000.
pub(super) fn growths(sides: &mut Sides, quick: bool) -> Result<[Growth; 2], String> {
    let mut growth = |title, sizes: [usize; 4], words: fn(usize) -> String| {
        let point = |size| Ok((size, cpu_seconds(sides, &format!("{EM} {}", words(size)), quick)?));
        let points = sizes.into_iter().map(point).collect::<Result<_, String>>()?;
        Ok::<_, String>(Growth { title, points })
    };
    Ok([
        growth("n, at d=512", [1000, 2000, 4000, 8000], |n| format!("rows={n} dims=512"))?,
        growth("d, at n=4000", [128, 256, 512, 1024], |d| format!("rows=4000 dims={d}"))?,
    ])
}

impl Growth {
    /// Returns a bar for each size. Twice the size should give a bar of twice the length.
    pub(super) fn text(&self) -> String {
        let mut text =
            format!("\nEM, K=20, 10 iterations, f32, CPU seconds, doubling {}:\n", self.title);
        let longest = self.points.iter().map(|point| point.1[1]).fold(0.0, f64::max);
        let mut before: Option<[f64; 2]> = None;
        for (size, [theirs, ours]) in &self.points {
            let times = before.map_or(String::new(), |[b, a]| {
                format!("×{:.2} (theirs ×{:.2})", ours / a, theirs / b)
            });
            let bar = "█".repeat((WIDTH * ours / longest).round() as usize);
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{size:>6} {:>8} s  {bar:<40}  {times}", report::seconds(*ours));
            before = Some([*theirs, *ours]);
        }
        text
    }

    pub(super) fn json(&self) -> Json {
        let points = self.points.iter().map(|(size, [theirs, ours])| {
            Json::object([
                ("size", Json::Number(*size as f64)),
                ("python_cpu_seconds", Json::Number(*theirs)),
                ("rust_cpu_seconds", Json::Number(*ours)),
            ])
        });
        Json::object([("doubled", Json::text(self.title)), ("points", Json::list(points))])
    }
}

/// Peak memory of a fresh process of each side.
pub(super) struct Memory {
    name: &'static str,
    /// Bytes of the feature matrices.
    features: f64,
    peaks: [f64; 2],
}

/// Measures the peak memory of EM and of the whole adaptation.
pub(super) fn memories(sides: &Sides) -> Result<Vec<Memory>, String> {
    let adapt = "adapt data=bands1024 components=20 start=own precision=f32 tolerance=1e-3 \
                 iterations=5 floor=1e-2";
    let memory = |name, features, task: &str| {
        let mut peaks = [0.0; 2];
        for (peak, side) in peaks.iter_mut().zip(SIDES) {
            *peak = sides.ask_fresh(side, task)?.0.number("peak_bytes")?;
        }
        Ok(Memory { name, features: BYTES * features, peaks })
    };
    let matrix = 8000.0 * 1024.0;
    [
        memory("EM n=8000 d=1024 K=20 f32", matrix, EM),
        memory("adaptation n=8000+8000 d=1024 K=20 f32", 2.0 * matrix, adapt),
    ]
    .into_iter()
    .collect()
}

/// Returns a table of the peaks and the feature matrices.
pub(super) fn memory_table(memories: &[Memory]) -> String {
    let heads = ["peak memory", "features MB", "theirs MB", "ours MB", "ours / features"];
    let mut lines = vec![heads.map(String::from)];
    lines.extend(memories.iter().map(|memory| {
        let [features, theirs, ours] = [memory.features, memory.peaks[0], memory.peaks[1]]
            .map(|bytes| format!("{:.1}", bytes / 1e6));
        let ratio = format!("{:.2}", memory.peaks[1] / memory.features);
        [memory.name.into(), features, theirs, ours, ratio]
    }));
    format!("\n{}", aligned(&lines, 1..5))
}

impl Memory {
    pub(super) fn json(&self) -> Json {
        Json::object([
            ("name", Json::text(self.name)),
            ("feature_bytes", Json::Number(self.features)),
            ("python_peak_bytes", Json::Number(self.peaks[0])),
            ("rust_peak_bytes", Json::Number(self.peaks[1])),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twice_the_time_is_twice_the_bar() {
        let growth = Growth { title: "n", points: vec![(1, [1.0, 0.5]), (2, [3.0, 1.0])] };
        let text = growth.text();
        let bars: Vec<usize> = text.lines().map(|line| line.matches('█').count()).collect();
        assert_eq!(bars, [0, 0, 20, 40]);
        assert!(text.ends_with("×2.00 (theirs ×3.00)\n"), "{text}");
    }
}
