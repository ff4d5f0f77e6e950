//! Runs both sides in turns, for a few rounds. The shortest time of each counts.

use std::thread::sleep;
use std::time::Duration;

use super::agreement::{Agreement, Check};
use super::json::Answer;
use super::rows::Row;
use super::worker::{SIDES, Side, Sides};

/// Minimum number of rounds if each side starts from its own random numbers. With a single start,
/// the accuracy of either side scatters by four points.
const STARTS: usize = 5;

/// A row with its results.
pub(super) struct Measured {
    pub(super) row: Row,
    /// Seconds that scikit-learn or POT took.
    pub(super) python: f64,
    /// Seconds that our side took.
    pub(super) rust: f64,
    /// Mean CPU seconds of both sides, all threads together.
    pub(super) cpu: [f64; 2],
    /// Threads of both sides in their shortest turn.
    pub(super) threads: [f64; 2],
    pub(super) rounds: usize,
    pub(super) agreement: Agreement,
    /// The last answers, with the mean accuracy of all rounds.
    pub(super) answers: [Answer; 2],
}

impl Measured {
    /// Returns how many times faster we are.
    pub(super) fn ratio(&self) -> f64 {
        self.python / self.rust
    }

    /// Returns how many times less CPU time we take.
    pub(super) fn cpu_ratio(&self) -> f64 {
        self.cpu[0] / self.cpu[1]
    }

    /// Returns whether the bar is met; `None` if there is no bar.
    pub(super) fn met(&self) -> Option<bool> {
        self.row.bar.map(|bar| self.ratio() >= bar)
    }
}

/// Measures a row: at least a few rounds, and more as long as they are short.
pub(super) fn row(sides: &mut Sides, row: &Row, quick: bool) -> Result<Measured, String> {
    let (least, most, enough) = if quick { (1, 5, 0.3) } else { (3, 10, 2.0) };
    let least = if matches!(row.check, Check::Accuracy { .. }) { STARTS } else { least };
    let mut best = [f64::INFINITY; 2];
    let mut threads = [0.0; 2];
    let mut cpu = [0.0; 2];
    let mut accuracy = [0.0; 2];
    let mut spent = 0.0;
    let mut rounds = 0;
    let mut last = None;
    while rounds < least || (rounds < most && spent < enough) {
        // Each round starts its k-means, if it has one, from different random numbers.
        let task = format!("{} seed={rounds}", row.task);
        let [(python, a), (rust, b)] = turn(sides, &task, row.shell)?;
        for (side, (answer, seconds)) in [(&python, a), (&rust, b)].into_iter().enumerate() {
            if seconds < best[side] {
                best[side] = seconds;
                threads[side] = answer.number("threads")?;
            }
        }
        spent += a + b;
        rounds += 1;
        let key = if row.shell { "process_cpu_seconds" } else { "cpu_seconds" };
        cpu = [cpu[0] + python.number(key)?, cpu[1] + rust.number(key)?];
        for (sum, answer) in accuracy.iter_mut().zip([&python, &rust]) {
            *sum += answer.number("accuracy").unwrap_or(0.0);
        }
        last = Some([python, rust]);
    }
    let [python, rust] = last.ok_or("no rounds")?;
    let mean = accuracy.map(|sum| sum / rounds as f64);
    let answers = [python.with("accuracy", mean[0]), rust.with("accuracy", mean[1])];
    let agreement = row.check.compare(sides, &answers[0], &answers[1])?;
    let [python, rust] = best;
    let row = row.clone();
    let cpu = cpu.map(|sum| sum / rounds as f64);
    Ok(Measured { row, python, rust, cpu, threads, rounds, agreement, answers })
}

/// Returns the mean CPU seconds of both sides for a task, all threads together, without comparing
/// results. Growth and profile use these, because they hardly depend on what else runs.
pub(super) fn cpu_seconds(sides: &mut Sides, task: &str, quick: bool) -> Result<[f64; 2], String> {
    let rounds = if quick { 2 } else { 5 };
    let mut sums = [0.0; 2];
    for _ in 0..rounds {
        for (sum, side) in sums.iter_mut().zip(SIDES) {
            *sum += sides.ask(side, task)?.number("cpu_seconds")?;
        }
    }
    Ok(sums.map(|sum| sum / f64::from(rounds)))
}

/// Longest time that threads of a BLAS or of OpenMP spin for more work after a task.
const SPINNING: Duration = Duration::from_millis(200);

/// Runs a turn of each side, in the order of [`SIDES`], and returns the answer and the seconds.
///
/// In process, a side waits until the other's threads have stopped spinning. It then does the task
/// twice, and only the second time counts, because idle cores are slow to wake up. Either effect
/// costs a short task half its speed.
fn turn(sides: &mut Sides, task: &str, shell: bool) -> Result<[(Answer, f64); 2], String> {
    let mut one = |side: Side| {
        if shell {
            return sides.ask_fresh(side, task);
        }
        sleep(SPINNING);
        sides.ask(side, task)?;
        let answer = sides.ask(side, task)?;
        let seconds = answer.number("seconds")?;
        Ok((answer, seconds))
    };
    Ok([one(SIDES[0])?, one(SIDES[1])?])
}
