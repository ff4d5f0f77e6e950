//! Manifests are read back, and every way in which one can be wrong is refused by name.

use std::path::PathBuf;

use rebearing_host::data::manifest::{HEADER, Manifest, Row};

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }

    fn refusal(&self, text: impl AsRef<[u8]>) -> String {
        let path = self.file("m.csv", text);
        let message = Manifest::read(&path).unwrap_err().to_string();
        assert!(message.starts_with(&path.display().to_string()), "{message}");
        message
    }
}

#[test]
fn columns_stand_in_any_order_and_optional_ones_may_be_absent() {
    let folder = Folder::new();
    let path = folder.file(
        "m.csv",
        "\u{feff}rate_hz, domain,path,label,note\n12000,a,x.csv,Healthy,hm\n\n25600.5,b,y.csv,,\n",
    );
    let manifest = Manifest::read(&path).unwrap();
    assert_eq!(manifest.ignored_columns, ["note"]);
    assert_eq!(manifest.domains(), ["a", "b"]);
    let [x, y] = manifest.rows.as_slice() else {
        panic!("two rows");
    };
    assert_eq!((x.line, x.rate_hz, x.label.as_deref()), (2, 12000.0, Some("Healthy")));
    assert_eq!(x.path, folder.0.path().join("x.csv"));
    assert_eq!((y.line, y.rate_hz, y.label.as_deref()), (4, 25600.5, None));
    assert_eq!((y.rpm, y.channel.as_deref()), (None, None));
}

#[test]
fn written_manifests_read_back() {
    let folder = Folder::new();
    let row = |line: u64, name: &str| Row {
        line,
        name: name.into(),
        path: folder.0.path().join(name),
        label: (line == 2).then(|| "outer, race \"6 o'clock\"".into()),
        domain: "press".into(),
        rate_hz: 1.0 / 3.0,
        rpm: (line == 3).then_some(1480.25),
        channel: (line == 2).then(|| "x;y;z".into()),
        unit: None,
        full_scale: None,
    };
    let rows = vec![row(2, "a.wav"), row(3, "sub/b, c.wav")];
    let text = Manifest::to_csv(&rows);
    assert!(text.starts_with(&format!("{HEADER}\n")), "{text}");
    let manifest = Manifest::read(&folder.file("m.csv", text)).unwrap();
    assert_eq!(manifest.rows, rows);
    assert!(manifest.ignored_columns.is_empty());
}

#[test]
fn what_is_wrong_is_named() {
    let folder = Folder::new();
    let absent = folder.0.path().join("absent.csv");
    let message = Manifest::read(&absent).unwrap_err().to_string();
    assert!(message.contains("absent.csv: cannot read the manifest"), "{message}");
    for (text, says) in [
        ("", "the manifest is empty"),
        ("path,label,domain,rate_hz\n", "the manifest is empty"),
        ("path,label,rate_hz\na,b,1\n", "no column \"domain\" in the header; expected path,label"),
        ("a.wav,Healthy,a,12000\n", "no column \"path\""),
        (
            "path,label,domain,rate_hz\na.wav,H,d,12000\nb.wav,H,d,fast\n",
            "line 3: rate_hz of b.wav is \"fast\"",
        ),
        ("path,label,domain,rate_hz\na.wav,H,d,0\n", "must be a number above 0"),
        ("path,label,domain,rate_hz\na.wav,H,d,-5\n", "must be a number above 0"),
        ("path,label,domain,rate_hz\na.wav,H,d,nan\n", "must be a number above 0"),
        ("path,label,domain,rate_hz\na.wav,H,d,\n", "rate_hz of a.wav is \"\""),
        ("path,label,domain,rate_hz,rpm\na.wav,H,d,1,x\n", "line 2: rpm of a.wav is \"x\""),
        ("path,label,domain,rate_hz\n,H,d,1\n", "path is empty"),
        ("path,label,domain,rate_hz\na.wav,H,,1\n", "domain is empty"),
        ("path,label,domain,rate_hz\na.wav,H,d\n", "line 2: 3 fields, but the first row has 4"),
    ] {
        let message = folder.refusal(text);
        assert!(message.contains(says), "{message:?} does not say {says:?}");
    }
    let message = folder.refusal(b"path,label\xff");
    assert!(message.contains("not UTF-8 text (byte 10)"), "{message}");
}

#[test]
fn domains_files_and_rates_are_checked_before_use() {
    let folder = Folder::new();
    folder.file("x.csv", "1\n2\n");
    let spec = hound::WavSpec {
        channels: 1,
        sample_rate: 8000,
        bits_per_sample: 16,
        sample_format: hound::SampleFormat::Int,
    };
    let mut wav = hound::WavWriter::create(folder.0.path().join("w.wav"), spec).unwrap();
    wav.write_sample(1i16).unwrap();
    wav.finalize().unwrap();
    let path = folder.file(
        "m.csv",
        "path,label,domain,rate_hz,channel\nx.csv,,good,12000,\nw.wav,,wav,8000,\nw.wav,,slow,4000,\n\
         gone.csv,,away,12000,\nx.csv,,column,12000,z\n",
    );
    let manifest = Manifest::read(&path).unwrap();
    let read = |domain: &str| {
        let rows = manifest.rows_of(domain)?;
        manifest.recording(rows[0])
    };
    assert_eq!(read("good").unwrap().stretches().unwrap(), [[1.0, 2.0]]);
    assert_eq!(read("wav").unwrap().rate_hz, Some(8000.0));
    for (domain, says) in [
        ("typo", "no domain \"typo\"; the manifest has: good, wav, slow, away, column"),
        ("slow", "line 4: rate_hz is 4000 but w.wav carries 8000 Hz"),
        ("away", "line 5: no file"),
        ("column", "line 6: "),
        ("column", "no channel \"z\""),
    ] {
        let message = read(domain).unwrap_err().to_string();
        assert!(message.starts_with(&path.display().to_string()), "{message}");
        assert!(message.contains(says), "{message:?} does not say {says:?}");
    }
}

/// A spreadsheet runs cells that begin with these characters.
#[test]
fn no_written_cell_runs_in_a_spreadsheet_and_all_read_back() {
    let folder = Folder::new();
    let row = |line: u64, text: &str| Row {
        line,
        name: format!("{text}.wav"),
        path: folder.0.path().join(format!("{text}.wav")),
        label: Some(text.into()),
        domain: text.into(),
        rate_hz: 20000.0,
        rpm: None,
        channel: Some(text.into()),
        unit: None,
        full_scale: None,
    };
    let texts = ["=cmd|' /C calc'!A0", "+1", "-2+3", "@SUM(1)", "'=1", "'plain'", "=\"x\",y"];
    let rows: Vec<Row> = (2..).zip(texts).map(|(line, text)| row(line, text)).collect();
    let text = Manifest::to_csv(&rows);
    let mut cells = csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_bytes());
    for cell in cells
        .records()
        .flat_map(|record| record.unwrap().iter().map(str::to_owned).collect::<Vec<_>>())
    {
        assert!(!cell.starts_with(['=', '+', '-', '@', '\t', '\r']), "{cell}");
    }
    let manifest = Manifest::read(&folder.file("m.csv", &text)).unwrap();
    assert_eq!(manifest.rows, rows);
}
