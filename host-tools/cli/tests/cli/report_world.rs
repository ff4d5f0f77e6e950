//! Reports of every kind, made from simulated machines with the commands themselves.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use crate::workplace::Workplace;

pub(crate) const HEADER: &str = "path,label,domain,rate_hz,rpm,channel\n";
/// The figures of an adaptation with labels and a bearing.
const EVERY: &[&str] = &[
    "timeline",
    "spectra",
    "view",
    "plan",
    "mixture",
    "confusion",
    "evidence",
    "envelope",
    "recordings",
];
const BEARING: &str = "--bearing 9,7.94,39.04";

/// Names that would be markup if they were not escaped.
pub(crate) const HOSTILE: [&str; 3] =
    ["<script>alert(1)</script>", "\"><img src=x onerror=alert(2)>", "Healthy & 'quoted'"];

/// A folder with recordings, sources, models and pages.
pub(crate) struct World {
    pub(crate) place: Workplace,
}

/// A page and its properties.
pub(crate) struct Made {
    /// Name of the page.
    pub(crate) name: &'static str,
    /// Path of the page.
    pub(crate) path: PathBuf,
    /// Verdict of `adapt`; `None` for the command `report`.
    pub(crate) verdict: Option<&'static str>,
    /// Figures that the page must have.
    pub(crate) figures: &'static [&'static str],
}

impl World {
    /// Makes three simulated machines, and the source of one.
    pub(crate) fn new() -> Self {
        let world = Self { place: Workplace::new() };
        world.place.json(
            "simulate --out m --seconds 4 --machines 3 --classes Healthy,InnerRace,OuterRace,Ball",
        );
        // Labels carry from motor-c to motor-b; motor-a is too unlike both.
        world.place.json("fit --manifest m/manifest.csv --domain motor-c --out c.json");
        for machine in ["motor-a", "motor-c"] {
            let rows = world.rows("m/manifest.csv", &format!(",Healthy,{machine},"));
            world.place.write(&format!("m/healthy-{machine}.csv"), format!("{HEADER}{rows}"));
        }
        world
    }

    /// Returns the lines of a manifest that contain `part`.
    fn rows(&self, manifest: &str, part: &str) -> String {
        let text = self.place.read(manifest);
        text.lines()
            .filter(|line| line.contains(part))
            .fold(String::new(), |all, line| all + line + "\n")
    }

    /// Runs `adapt` and checks its verdict.
    fn adapt(
        &self,
        name: &'static str,
        options: &str,
        verdict: &'static str,
        figures: &'static [&'static str],
    ) -> Made {
        let found =
            self.place.json(&format!("adapt {options} --out {name}.rbm --report {name}.html"));
        assert_eq!(found["verdict"], verdict, "{name}: {}", found["reasons"]);
        let path = self.place.path().join(format!("{name}.html"));
        Made { name, path, verdict: Some(verdict), figures }
    }

    /// Makes a page for every verdict.
    pub(crate) fn verdicts(&self) -> Vec<Made> {
        let of = "--source c.json --domain";
        let gate = &["timeline", "spectra", "view", "gate", "confusion"];
        vec![
            self.adapt(
                "adapt",
                &format!("{of} motor-b --manifest m/manifest.csv --pool-is all {BEARING}"),
                "adapt",
                EVERY,
            ),
            self.adapt(
                "keep-gate",
                &format!("{of} motor-c --manifest m/healthy-motor-c.csv --pool-is healthy"),
                "keep",
                gate,
            ),
            self.adapt(
                "abstain-gate",
                &format!("{of} motor-a --manifest m/healthy-motor-a.csv --pool-is healthy"),
                "abstain",
                gate,
            ),
            self.adapt(
                "abstain",
                &format!("{of} motor-a --manifest m/healthy-motor-a.csv"),
                "abstain",
                &["timeline", "spectra", "view", "confusion"],
            ),
            self.adapt(
                "forced",
                &format!("{of} motor-a --manifest m/healthy-motor-a.csv --force"),
                "abstain",
                &["timeline", "spectra", "view", "plan", "mixture", "confusion"],
            ),
            self.contradicted(),
        ]
    }

    /// Makes a page whose source had the labels of healthy and outer race swapped.
    fn contradicted(&self) -> Made {
        let text = self.place.read("m/manifest.csv");
        let swapped = text
            .replace(",Healthy,", ",?,")
            .replace(",OuterRace,", ",Healthy,")
            .replace(",?,", ",OuterRace,");
        self.place.write("m/swapped.csv", swapped);
        self.place.json("fit --manifest m/swapped.csv --domain motor-c --out swapped.json");
        self.adapt(
            "contradicted",
            &format!(
                "--source swapped.json --domain motor-b --manifest m/manifest.csv --pool-is all {BEARING}"
            ),
            "adapt",
            EVERY,
        )
    }

    /// Makes pages for other kinds of models and recordings; needs the models of
    /// [`World::verdicts`].
    pub(crate) fn kinds(&self) -> Vec<Made> {
        let of = "--source c.json --domain motor-b";
        let all = "--manifest m/manifest.csv --pool-is all";
        let mut made = vec![self.adapt(
            "integers",
            &format!("{of} {all} --encoding i16 {BEARING}"),
            "adapt",
            EVERY,
        )];
        let recordings =
            ["Healthy", "InnerRace", "OuterRace", "Ball"].map(|c| format!("m/motor-b/{c}.wav"));
        self.place.json(&format!(
            "predict --model adapt.rbm --snapshot-out b.rbs {}",
            recordings.join(" ")
        ));
        made.push(self.adapt(
            "snapshot",
            &format!("{of} --snapshot b.rbs --pool-is all"),
            "adapt",
            &["timeline", "spectra", "view", "plan", "mixture"],
        ));
        made.push(self.adapt(
            "nothing-integers",
            "--source c.json --domain motor-a --manifest m/healthy-motor-a.csv --encoding i16",
            "abstain",
            &["timeline", "spectra", "view", "confusion"],
        ));
        made.push(self.library());
        made.push(self.many());
        made.push(self.axes());
        made.push(self.hostile());
        for (name, model) in
            [("later", "adapt"), ("later-gate", "keep-gate"), ("later-integers", "integers")]
        {
            let domain = if name == "later-gate" { "motor-c" } else { "motor-b" };
            let options = format!(
                "--model {model}.rbm --source c.json --manifest m/manifest.csv --domain {domain}"
            );
            self.place.json(&format!("report {options} {BEARING} --out {name}.html"));
            let path = self.place.path().join(format!("{name}.html"));
            let figures =
                &["timeline", "spectra", "view", "confusion", "evidence", "envelope", "recordings"];
            made.push(Made { name, path, verdict: None, figures });
        }
        made
    }

    /// Makes a page with two machines to choose from.
    fn library(&self) -> Made {
        self.place.json("fit --manifest m/manifest.csv --domain motor-a,motor-c --out two.json");
        self.adapt(
            "library",
            "--source two.json --domain motor-b --manifest m/manifest.csv --pool-is all",
            "adapt",
            &["timeline", "spectra", "view", "plan", "mixture", "confusion"],
        )
    }

    /// Makes a page with twenty classes that have long names.
    fn many(&self) -> Made {
        self.place.json("simulate --out many --seconds 2 --machines 3 --seed 3");
        let text = self.place.read("many/manifest.csv");
        let mut manifest = String::from(HEADER);
        for domain in ["old", "new"] {
            for (class, row) in text.lines().skip(1).take(20).enumerate() {
                let fields: Vec<&str> = row.split(',').collect();
                let label = format!("condition number {class} of the gearbox");
                let [path, rate, rpm] = [fields[0], fields[3], fields[4]];
                let _ = writeln!(manifest, "{path},{label},{domain},{rate},{rpm},");
            }
        }
        self.place.write("many/twenty.csv", manifest);
        self.place.json("fit --manifest many/twenty.csv --domain old --out old.json");
        self.adapt(
            "many",
            &format!(
                "--source old.json --manifest many/twenty.csv --domain new --pool-is all {BEARING}"
            ),
            "adapt",
            &[
                "timeline",
                "spectra",
                "view",
                "plan",
                "mixture",
                "confusion",
                "evidence",
                "recordings",
            ],
        )
    }

    /// Makes a page with three axes and blocks of shaft orders.
    fn axes(&self) -> Made {
        self.place.json(
            "simulate --out three --seconds 4 --machines 3 --axes 3 --classes Healthy,OuterRace,Looseness",
        );
        let manifest = "--manifest three/manifest.csv --domain";
        self.place.json(&format!(
            "fit {manifest} motor-c --blocks bands,orders,envelope --out three.json"
        ));
        self.adapt(
            "axes",
            &format!("--source three.json {manifest} motor-b --pool-is all {BEARING}"),
            "adapt",
            EVERY,
        )
    }

    /// Makes a page with names of classes, machines and files that look like markup.
    fn hostile(&self) -> Made {
        let mut manifest = csv::Writer::from_writer(Vec::new());
        manifest.write_record(HEADER.trim().split(',')).unwrap();
        for (domain, machine) in [("<b>old</b>", "motor-c"), ("<b>new</b>", "motor-b")] {
            for (label, class) in HOSTILE.iter().zip(["InnerRace", "OuterRace", "Healthy"]) {
                let file = format!("m/<i>{machine} & {class}.wav");
                fs::copy(
                    self.place.path().join(format!("m/{machine}/{class}.wav")),
                    self.place.path().join(&file),
                )
                .unwrap();
                manifest.write_record([file.as_str(), label, domain, "20000", "", ""]).unwrap();
            }
        }
        self.place.write("hostile.csv", manifest.into_inner().unwrap());
        self.place.json("fit --manifest hostile.csv --domain <b>old</b> --out hostile.json");
        self.adapt(
            "hostile",
            &format!(
                "--source hostile.json --manifest hostile.csv --domain <b>new</b> --pool-is all {BEARING}"
            ),
            "adapt",
            &["timeline", "spectra", "view", "plan", "mixture", "confusion", "evidence", "recordings"],
        )
    }

    /// Makes pages of evaluations: several targets, names that look like markup, and a method without
    /// a prediction. Needs the manifest of [`World::kinds`].
    pub(crate) fn evaluations(&self) -> Vec<Made> {
        let all = "--manifest m/manifest.csv --source others --target all";
        let made = |name: &'static str, options: &str, figures| {
            let found = self.place.json(&format!("evaluate {options} --report {name}.html"));
            assert_eq!(found["report"], format!("{name}.html"));
            let path = self.place.path().join(format!("{name}.html"));
            Made { name, path, verdict: None, figures }
        };
        let every = &["targets", "risk", "promises", "calibration"];
        vec![
            made("evaluated", &format!("{all} --pool-is all --seeds 2"), every),
            made(
                "evaluated-hostile",
                "--manifest hostile.csv --source <b>old</b> --target <b>new</b> --pool-is all",
                every,
            ),
            made("evaluated-plain", &format!("{all} --method source-only"), &["targets"]),
        ]
    }
}
