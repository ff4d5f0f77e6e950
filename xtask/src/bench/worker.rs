//! The two sides as processes that answer tasks, one line each.

use super::json::Answer;
use super::python::script;
use std::fmt;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

/// The threads of `OpenBLAS` spin for some 25 ms after their work. The other side's turn starts
/// after this pause.
const PAUSE: Duration = Duration::from_millis(100);

/// One of the two sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// scikit-learn and POT.
    Python,
    /// This project.
    Rust,
}

/// The sides, in the order of their turns.
pub(super) const SIDES: [Side; 2] = [Side::Python, Side::Rust];

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Python => "python",
            Self::Rust => "rust",
        })
    }
}

/// Both running sides, and what is needed to run either again.
pub(super) struct Sides {
    programs: Programs,
    /// With one thread and with all; the faster counts. On small problems and on busy machines,
    /// BLAS loses more to threads that wait for each other than it gains.
    python: Vec<Worker>,
    rust: Worker,
}

impl Sides {
    pub(super) fn start(
        interpreter: &Path,
        engine: &Path,
        data: PathBuf,
        threads: usize,
    ) -> Result<Self, String> {
        let (interpreter, engine) = (interpreter.into(), engine.into());
        let programs = Programs { interpreter, engine, data, threads };
        let start = |side, threads| Worker::start(&mut programs.command(side, threads), threads);
        let python = programs.threads(Side::Python).into_iter().map(|n| start(Side::Python, n));
        let (python, rust) = (python.collect::<Result<_, _>>()?, start(Side::Rust, threads)?);
        Ok(Self { programs, python, rust })
    }

    pub(super) fn interpreter(&self) -> &Path {
        &self.programs.interpreter
    }

    /// Gives `task` to the running process of `side`. The answer includes the number of `threads`.
    pub(super) fn ask(&mut self, side: Side, task: &str) -> Result<Answer, String> {
        let line = line(side, task);
        match side {
            Side::Python => {
                let answers = self.python.iter_mut().map(|worker| {
                    let answer = worker.ask(&line)?;
                    let seconds = answer.number("seconds")?;
                    Ok((answer, seconds))
                });
                Ok(faster(answers)?.0)
            }
            Side::Rust => self.rust.ask(&line),
        }
    }

    /// Runs `task` in a fresh process of `side`, and measures it from start to end.
    pub(super) fn ask_fresh(&self, side: Side, task: &str) -> Result<(Answer, f64), String> {
        let line = line(side, task);
        faster(self.programs.threads(side).into_iter().map(|threads| {
            let mut command = self.programs.command(side, threads);
            command.args(line.split(' ')).stdin(Stdio::null()).stderr(Stdio::inherit());
            std::thread::sleep(PAUSE);
            let began = Instant::now();
            let output = command.output().map_err(|error| format!("{side}: {error}"))?;
            let seconds = began.elapsed().as_secs_f64();
            if !output.status.success() {
                return Err(format!("{side}: `{line}` ended with {}", output.status));
            }
            let answer = Answer::parse(&String::from_utf8_lossy(&output.stdout))?;
            Ok((answer.with("threads", threads), seconds))
        }))
    }

    /// Returns the path where `side` writes the array `name` of its last result.
    pub(super) fn result(&self, side: Side, name: &str) -> PathBuf {
        self.programs.data.join(format!("result-{side}-{name}"))
    }
}

/// Returns the answer that took the fewest seconds.
fn faster(
    answers: impl Iterator<Item = Result<(Answer, f64), String>>,
) -> Result<(Answer, f64), String> {
    let answers = answers.collect::<Result<Vec<_>, _>>()?;
    answers.into_iter().min_by(|a, b| a.1.total_cmp(&b.1)).ok_or_else(|| "nobody to ask".into())
}

/// Returns a task with its files, all in the folder where the processes start.
fn line(side: Side, task: &str) -> String {
    format!("{task} folder=. out=result-{side}")
}

/// Everything needed to start either side.
struct Programs {
    interpreter: PathBuf,
    engine: PathBuf,
    /// Folder of the .npy files.
    data: PathBuf,
    /// Maximum number of threads of a side.
    threads: usize,
}

impl Programs {
    /// Returns the numbers of threads to try for `side`.
    fn threads(&self, side: Side) -> Vec<usize> {
        if side == Side::Python && self.threads > 1 {
            vec![1, self.threads]
        } else {
            vec![self.threads]
        }
    }

    /// Returns the command that starts one side.
    fn command(&self, side: Side, threads: usize) -> Command {
        let mut command = match side {
            Side::Python => {
                let mut python = Command::new(&self.interpreter);
                python.arg(script("worker.py"));
                python
            }
            Side::Rust => Command::new(&self.engine),
        };
        for variable in ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS"] {
            command.env(variable, threads.to_string());
        }
        command.current_dir(&self.data);
        command
    }
}

/// A process that reads a task per line and answers each with a line.
struct Worker {
    process: Child,
    tasks: ChildStdin,
    answers: BufReader<ChildStdout>,
    threads: usize,
}

impl Worker {
    fn start(command: &mut Command, threads: usize) -> Result<Self, String> {
        let name = command.get_program().to_string_lossy().into_owned();
        let mut process = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("cannot start {name}: {error}"))?;
        let pipes = process.stdin.take().zip(process.stdout.take());
        let (tasks, answers) = pipes.ok_or_else(|| format!("{name} has no pipes"))?;
        Ok(Self { process, tasks, answers: BufReader::new(answers), threads })
    }

    fn ask(&mut self, line: &str) -> Result<Answer, String> {
        std::thread::sleep(PAUSE);
        let mut answer = String::new();
        let sent = writeln!(self.tasks, "{line}").and_then(|()| self.tasks.flush());
        match sent.and_then(|()| self.answers.read_line(&mut answer)) {
            Ok(1..) => Ok(Answer::parse(&answer)?.with("threads", self.threads)),
            _ => Err(format!("no answer to `{line}`")),
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // An error means that the process is already gone.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
