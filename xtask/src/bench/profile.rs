//! Shows where EM spends its time, and how far it is from the machine's limits.
//!
//! All times are CPU times, threads together. Nothing inside the library is instrumented. The time
//! of an iteration is the difference between two runs of different length. The rest of a run comes
//! before the first iteration. A full E-step, with nothing left out, is measured by itself.
//! Operations are counted on paper.

use super::json::Json;
use super::measure::cpu_seconds;
use super::report::aligned;
use super::worker::{Side, Sides};

/// Number of iterations in the two runs.
const RUNS: [usize; 2] = [5, 15];
const SAMPLES: f64 = 8000.0;
/// Bytes of a feature in the files.
const BYTES: f64 = 4.0;
/// Operations of an E-step per sample, component and dim: `t = x·scale + shift`, `sum += t²`.
const E_STEP: f64 = 4.0;
/// Operations of an M-step per sample, component and dim: `t = x − centre`, `w = r·t`,
/// `first += w`, `second += w·t`.
const M_STEP: f64 = 5.0;

/// The machine's limits per CPU second.
struct Machine {
    flops: f64,
    bytes: f64,
}

/// Where one problem spends its time.
struct Profile {
    dims: usize,
    components: usize,
    /// Seconds before the first iteration, both sides.
    before: [f64; 2],
    /// Seconds of an iteration, both sides.
    iteration: [f64; 2],
    /// Seconds of a full E-step, with nothing left out, both sides.
    e_step: [f64; 2],
    /// Number of responsibilities per sample that are not negligible.
    active: f64,
}

impl Profile {
    fn of(sides: &mut Sides, dims: usize, components: usize, quick: bool) -> Result<Self, String> {
        let words = format!(
            "data=bands{dims}-target start=bands{dims}-target-{components} precision=f32 \
             tolerance=0 floor=1e-2"
        );
        let mut run =
            |iterations| cpu_seconds(sides, &format!("em {words} iterations={iterations}"), quick);
        let [few, many] = [run(RUNS[0])?, run(RUNS[1])?];
        let iteration = [0, 1].map(|side| (many[side] - few[side]) / (RUNS[1] - RUNS[0]) as f64);
        let before = [0, 1].map(|side| (few[side] - RUNS[0] as f64 * iteration[side]).max(0.0));
        let density = format!("density {words} iterations=1");
        let e_step = cpu_seconds(sides, &density, quick)?;
        let active = sides.ask(Side::Rust, &density)?.number("active")?;
        Ok(Self { dims, components, before, iteration, e_step, active })
    }

    /// Returns the operations of an iteration with a full E-step, and an M-step that leaves out
    /// only what is negligible.
    fn operations(&self) -> f64 {
        SAMPLES * self.dims as f64 * (E_STEP * self.components as f64 + M_STEP * self.active)
    }

    /// Returns the bytes of features that an iteration reads once.
    fn bytes(&self) -> f64 {
        BYTES * SAMPLES * self.dims as f64
    }
}

/// Profiles of the EM rows, and the machine they ran on.
pub(super) struct Profiles {
    machine: Machine,
    profiles: Vec<Profile>,
}

pub(super) fn all(sides: &mut Sides, quick: bool) -> Result<Profiles, String> {
    let machine = sides.ask(Side::Rust, "machine")?;
    let machine = Machine { flops: machine.number("flops")?, bytes: machine.number("bytes")? };
    let profiles = [(64, 20), (64, 100), (1024, 20)]
        .into_iter()
        .map(|(dims, components)| Profile::of(sides, dims, components, quick))
        .collect::<Result<_, _>>()?;
    Ok(Profiles { machine, profiles })
}

impl Profiles {
    pub(super) fn text(&self) -> String {
        let heads = [
            "EM n=8000 f32, CPU ms, theirs/ours",
            "before",
            "iteration",
            "whole E-step",
            "active",
            "Gflop",
            "of peak",
            "MB",
            "of memory's",
        ];
        let mut lines = vec![heads.map(String::from)];
        let milliseconds =
            |[theirs, ours]: [f64; 2]| format!("{:.2}/{:.2}", 1e3 * theirs, 1e3 * ours);
        lines.extend(self.profiles.iter().map(|profile| {
            let [flops, bytes] =
                self.shares(profile).map(|share| format!("{:.0} %", 100.0 * share));
            [
                format!("d={} K={}", profile.dims, profile.components),
                milliseconds(profile.before),
                milliseconds(profile.iteration),
                milliseconds(profile.e_step),
                format!("{:.2}", profile.active),
                format!("{:.3}", profile.operations() / 1e9),
                flops,
                format!("{:.1}", profile.bytes() / 1e6),
                bytes,
            ]
        }));
        format!(
            "\n{}`before`: checks and moments of all data, before the first iteration. `whole \
             E-step`: every density, nothing left out. `active`: responsibilities a sample that \
             are not negligible.\nGflop and MB: of an iteration with a whole E-step that reads the \
             features once, as a share of the machine's {:.0} Gflop/s (fused multiply-add) and \
             {:.1} GB/s, each of one thread; above 100 % work was left out, or came from the cache. The \
             larger share is the limit.\n",
            aligned(&lines, 1..9),
            self.machine.flops / 1e9,
            self.machine.bytes / 1e9,
        )
    }

    /// Returns operations and bytes of an iteration, relative to what the machine could do in its
    /// time.
    fn shares(&self, profile: &Profile) -> [f64; 2] {
        let seconds = profile.iteration[1];
        [
            profile.operations() / seconds / self.machine.flops,
            profile.bytes() / seconds / self.machine.bytes,
        ]
    }

    pub(super) fn json(&self) -> Json {
        let profiles = self.profiles.iter().map(|profile| {
            let pair = |[theirs, ours]: [f64; 2]| {
                Json::object([("python", Json::Number(theirs)), ("rust", Json::Number(ours))])
            };
            Json::object([
                ("dims", Json::Number(profile.dims as f64)),
                ("components", Json::Number(profile.components as f64)),
                ("cpu_seconds_before", pair(profile.before)),
                ("cpu_seconds_iteration", pair(profile.iteration)),
                ("cpu_seconds_whole_e_step", pair(profile.e_step)),
                ("active_responsibilities", Json::Number(profile.active)),
                ("operations_per_iteration", Json::Number(profile.operations())),
                ("feature_bytes", Json::Number(profile.bytes())),
            ])
        });
        Json::object([
            ("machine_flops_per_cpu_second", Json::Number(self.machine.flops)),
            ("machine_bytes_per_cpu_second", Json::Number(self.machine.bytes)),
            ("problems", Json::list(profiles)),
        ])
    }
}
