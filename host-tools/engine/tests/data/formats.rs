//! Every format is read back, and every way in which a file can be wrong is refused by name.

use std::path::{Path, PathBuf};

use rebearing_host::data::recording::{Place, Recording, RecordingError, read};

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
}

/// Returns the message of a refusal. It must name the file.
fn refusal(path: &Path, channel: Option<&str>) -> String {
    let message = read(path, channel).unwrap_err().to_string();
    assert!(message.starts_with(&path.display().to_string()), "{message}");
    message
}

fn assert_refused(path: &Path, channel: Option<&str>, says: &str) {
    let message = refusal(path, channel);
    assert!(message.contains(says), "{message:?} does not say {says:?}");
}

/// Returns an uncompressed array of a MATLAB v5 file; `kind` is (class, data type).
fn mat_array(name: &str, size: [i32; 2], kind: (u32, u32), data: &[u8]) -> Vec<u8> {
    fn element(out: &mut Vec<u8>, data_type: u32, data: &[u8]) {
        out.extend(data_type.to_le_bytes());
        out.extend((data.len() as u32).to_le_bytes());
        out.extend(data);
        out.resize(out.len().next_multiple_of(8), 0);
    }
    let mut body = Vec::new();
    element(&mut body, 6, &[kind.0.to_le_bytes(), [0; 4]].concat());
    element(&mut body, 5, &size.map(i32::to_le_bytes).concat());
    element(&mut body, 1, name.as_bytes());
    element(&mut body, kind.1, data);
    let mut out = Vec::new();
    element(&mut out, 14, &body);
    out
}

fn mat_doubles(name: &str, size: [i32; 2], values: &[f64]) -> Vec<u8> {
    let data: Vec<u8> = values.iter().flat_map(|x| x.to_le_bytes()).collect();
    mat_array(name, size, (6, 9), &data)
}

fn mat_file(arrays: &[Vec<u8>]) -> Vec<u8> {
    let mut out = b"MATLAB 5.0 MAT-file".to_vec();
    out.resize(124, b' ');
    out.extend([0x00, 0x01, b'I', b'M']);
    out.extend(arrays.concat());
    out
}

fn npy_file(descr: &str, shape: &str, fortran: bool, data: &[u8]) -> Vec<u8> {
    let order = if fortran { "True" } else { "False" };
    let header = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}\n");
    let mut out = b"\x93NUMPY\x01\x00".to_vec();
    out.extend((header.len() as u16).to_le_bytes());
    out.extend(header.as_bytes());
    out.extend(data);
    out
}

fn npy_f32(shape: &str, fortran: bool, values: &[f32]) -> Vec<u8> {
    let data: Vec<u8> = values.iter().flat_map(|x| x.to_le_bytes()).collect();
    npy_file("<f4", shape, fortran, &data)
}

fn wav_file(
    spec: hound::WavSpec,
    write: impl Fn(&mut hound::WavWriter<std::io::Cursor<&mut Vec<u8>>>),
) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = hound::WavWriter::new(std::io::Cursor::new(&mut bytes), spec).unwrap();
    write(&mut writer);
    writer.finalize().unwrap();
    bytes
}

fn pcm(channels: u16, bits_per_sample: u16) -> hound::WavSpec {
    hound::WavSpec {
        channels,
        sample_rate: 12_800,
        bits_per_sample,
        sample_format: hound::SampleFormat::Int,
    }
}

fn samples(recording: &Recording) -> &[f32] {
    let stretches = recording.stretches().unwrap();
    assert_eq!(stretches.len(), 1);
    &stretches[0]
}

#[test]
fn mat_takes_the_named_variable_or_the_only_vector() {
    let folder = Folder::new();
    let rpm = mat_doubles("rpm", [1, 1], &[1797.0]);
    let de = mat_doubles("DE", [3, 1], &[1.0, -2.5, 3.0]);
    let fe = mat_doubles("FE", [1, 3], &[4.0, 5.0, 6.0]);

    let one = folder.file("one.mat", mat_file(&[rpm.clone(), de.clone()]));
    let recording = read(&one, None).unwrap();
    assert_eq!(samples(&recording), [1.0, -2.5, 3.0]);
    assert_eq!((recording.axes, recording.rate_hz), (1, None));

    let two = folder.file("two.MAT", mat_file(&[rpm, de, fe]));
    assert_refused(&two, None, "rpm (1×1), DE (3×1), FE (1×3)");
    assert_refused(&two, Some("BA"), "no channel \"BA\"; the file has: rpm (1×1)");
    assert_eq!(samples(&read(&two, Some("FE")).unwrap()), [4.0, 5.0, 6.0]);
    let both = read(&two, Some("FE; DE")).unwrap();
    assert_eq!(both.axes, 2);
    assert_eq!(samples(&both), [4.0, 1.0, 5.0, -2.5, 6.0, 3.0]);
    assert_refused(&two, Some("rpm;DE"), "rpm has 1 samples and DE has 3");
    assert_refused(&two, Some("DE;;FE"), "empty name");
}

#[test]
fn mat_reads_a_narrow_matrix_either_way_round_and_integers_as_counts() {
    let folder = Folder::new();
    let values: Vec<f64> = (0..8).map(f64::from).collect();
    let tall = folder.file("tall.mat", mat_file(&[mat_doubles("m", [4, 2], &values)]));
    let recording = read(&tall, Some("m")).unwrap();
    assert_eq!(samples(&recording), [0., 4., 1., 5., 2., 6., 3., 7.]);
    let wide = folder.file("wide.mat", mat_file(&[mat_doubles("m", [2, 4], &values)]));
    let recording = read(&wide, Some("m")).unwrap();
    assert_eq!(samples(&recording), [0., 1., 2., 3., 4., 5., 6., 7.]);
    let square = folder.file("square.mat", mat_file(&[mat_doubles("m", [2, 2], &values[..4])]));
    assert_refused(&square, Some("m"), "size [2, 2]");

    let counts: Vec<u8> = [-32768i16, 7].iter().flat_map(|x| x.to_le_bytes()).collect();
    let counts = mat_file(&[mat_array("n", [2, 1], (10, 3), &counts)]);
    let counts = folder.file("counts.mat", counts);
    assert_eq!(samples(&read(&counts, None).unwrap()), [-32768.0, 7.0]);
}

#[test]
fn mat_refuses_what_is_cut_off_empty_or_of_another_version() {
    let folder = Folder::new();
    let whole =
        mat_file(&[mat_doubles("a", [2, 1], &[1.0, 2.0]), mat_doubles("b", [2, 1], &[3.0, 4.0])]);
    // Part of the second array is missing: the first must not be taken for the whole file.
    for len in [whole.len() - 1, whole.len() - 60, 131] {
        let cut = folder.file("cut.mat", &whole[..len]);
        assert_refused(&cut, Some("a"), "cut off");
    }
    assert_refused(&folder.file("short.mat", &whole[..100]), None, "not a MATLAB v5 file");
    assert_refused(&folder.file("none.mat", &whole[..128]), None, "no numeric array");
    let empty = mat_file(&[mat_doubles("a", [0, 1], &[])]);
    assert_refused(&folder.file("empty.mat", empty), Some("a"), "a is empty");
    let hdf = folder.file("hdf.mat", b"MATLAB 7.3 MAT-file, Platform: GLNXA64");
    assert_refused(&hdf, None, "save(file, '-v7')");
    let mut odd = whole;
    odd[128] = 99;
    assert_refused(&folder.file("odd.mat", odd), None, "element of type 99 at byte 128");
}

#[test]
fn mat_reads_past_arrays_that_are_no_samples() {
    let folder = Folder::new();
    let text = mat_array("s", [1, 2], (4, 4), &[b'a', 0, b'b', 0]);
    let file = mat_file(&[text, mat_doubles("x", [2, 1], &[1.0, 2.0])]);
    let path = folder.file("mixed.mat", file);
    assert_eq!(samples(&read(&path, None).unwrap()), [1.0, 2.0]);
    assert_refused(&path, Some("s"), "the file has: x (2×1)");
}

#[test]
fn npy_dimensions_are_samples_segments_and_axes() {
    let folder = Folder::new();
    let values = [0., 1., 2., 3., 4., 5.];
    let flat = read(&folder.file("1.npy", npy_f32("(6,)", false, &values)), None).unwrap();
    assert_eq!(samples(&flat), values);
    let list = read(&folder.file("2.npy", npy_f32("(3, 2)", false, &values)), None).unwrap();
    assert_eq!(list.stretches().unwrap(), [[0., 1.], [2., 3.], [4., 5.]]);
    assert_eq!((list.stretch_frames(), list.frames()), (vec![2, 2, 2], 6));
    let fortran = read(&folder.file("f.npy", npy_f32("(3, 2)", true, &values)), None).unwrap();
    assert_eq!(fortran.stretches().unwrap(), [[0., 3.], [1., 4.], [2., 5.]]);
    let path = folder.file("3.npy", npy_f32("(1, 3, 2)", false, &values));
    let axes = read(&path, None).unwrap();
    assert_eq!((axes.axes, samples(&axes)), (2, &values[..]));
    assert_eq!(samples(&read(&path, Some("1")).unwrap()), [1., 3., 5.]);
    assert_eq!(samples(&read(&path, Some("1;0")).unwrap()), [1., 0., 3., 2., 5., 4.]);
    assert_refused(&path, Some("2"), "axes 0 to 1");
}

#[test]
fn npy_number_types_are_narrowed_and_others_refused() {
    let folder = Folder::new();
    let f64s: Vec<u8> = [0.1f64, -1e300].iter().flat_map(|x| x.to_le_bytes()).collect();
    let recording =
        read(&folder.file("f8.npy", npy_file("<f8", "(2,)", false, &f64s)), None).unwrap();
    assert_eq!(samples(&recording), [0.1f32, f32::NEG_INFINITY]);
    let i16s: Vec<u8> = [-5i16, 300].iter().flat_map(|x| x.to_be_bytes()).collect();
    let recording =
        read(&folder.file("i2.npy", npy_file(">i2", "(2,)", false, &i16s)), None).unwrap();
    assert_eq!(samples(&recording), [-5.0, 300.0]);
    let i32s = 70_000i32.to_le_bytes();
    let recording =
        read(&folder.file("i4.npy", npy_file("<i4", "(1,)", false, &i32s)), None).unwrap();
    assert_eq!(samples(&recording), [70_000.0]);
    let complex = folder.file("c8.npy", npy_file("<c8", "(1,)", false, &[0; 8]));
    assert_refused(&complex, None, "save as float32");
}

#[test]
fn npy_refuses_shapes_that_do_not_fit() {
    let folder = Folder::new();
    let whole = npy_f32("(6,)", false, &[0.0; 6]);
    let cut = folder.file("cut.npy", &whole[..whole.len() - 1]);
    assert_refused(&cut, None, "cut off or damaged");
    let huge = npy_f32("(4000000000, 4000000000)", false, &[0.0; 6]);
    assert_refused(&folder.file("huge.npy", huge), None, "does not fit the 24 bytes");
    assert_refused(&folder.file("none.npy", npy_f32("(0,)", false, &[])), None, "no samples");
    let deep = npy_f32("(1, 1, 1, 6)", false, &[0.0; 6]);
    assert_refused(&folder.file("deep.npy", deep), None, "3-D");
    let wide = npy_f32("(1, 1, 6)", false, &[0.0; 6]);
    assert_refused(&folder.file("wide.npy", wide), None, "6 axes");
    assert_refused(&folder.file("text.npy", "hello"), None, "not a NumPy .npy file");
}

#[test]
fn csv_with_or_without_header_by_name_or_index() {
    let folder = Folder::new();
    let named = folder.file("named.csv", "t,x,y\n0.0,1.5,10\n0.1,-2e-1,nan\n");
    assert_refused(
        &named,
        None,
        "which channel? name one (several axes as `a;b;c`) of: t (time), x, y",
    );
    assert_eq!(samples(&read(&named, Some("x")).unwrap()), [1.5, -0.2]);
    assert_eq!(samples(&read(&named, Some("1")).unwrap()), [1.5, -0.2]);
    let both = read(&named, Some("x;y")).unwrap();
    assert_eq!(both.axes, 2);
    assert_eq!(both.first_non_finite().unwrap(), Some(Place { stretch: 0, frame: 1, axis: 1 }));
    assert_refused(&named, Some("z"), "the file has: t, x, y");
    assert_refused(&named, Some("3"), "no channel \"3\"");

    let bare = folder.file("bare.csv", "1\n2\r\n\n3");
    assert_eq!(samples(&read(&bare, None).unwrap()), [1.0, 2.0, 3.0]);
    let semicolons = folder.file("s.csv", "a;b\n1;2\n");
    assert_eq!(samples(&read(&semicolons, Some("b")).unwrap()), [2.0]);
    let tabs = folder.file("t.tsv", "1\t2\n3\t4\n");
    assert_eq!(samples(&read(&tabs, Some("1;0")).unwrap()), [2.0, 1.0, 4.0, 3.0]);
}

#[test]
fn csv_names_the_line_that_is_wrong() {
    let folder = Folder::new();
    let text = folder.file("text.csv", "x,y\n1,2\r\n\r\n3,oops\n");
    assert_refused(&text, Some("y"), "line 4, column y: \"oops\" is not a number");
    assert_eq!(samples(&read(&text, Some("x")).unwrap()), [1.0, 3.0]);
    let gap = folder.file("gap.csv", "x,y\n1,\n");
    assert_refused(&gap, Some("y"), "line 2, column y: \"\" is not a number");
    let ragged = folder.file("ragged.csv", "x,y\n1,2\n3\n");
    assert_refused(&ragged, Some("x"), "line 3: 1 field, but the first row has 2");
    assert_refused(&folder.file("header.csv", "x\n"), None, "no samples");
    assert_refused(&folder.file("blank.csv", "\n\n"), None, "no samples");
    let binary = folder.file("binary.csv", b"1\n\xff\xfe\n");
    assert_refused(&binary, None, "line 2");
}

#[test]
fn wav_carries_its_rate_and_its_channels_are_axes() {
    let folder = Folder::new();
    for bits in [8u16, 16, 24, 32] {
        let most = i32::MAX >> (32 - bits);
        let bytes = wav_file(pcm(2, bits), |w| {
            for x in [-most - 1, 1, 2, most] {
                w.write_sample(x).unwrap();
            }
        });
        let path = folder.file(&format!("{bits}.wav"), bytes);
        let recording = read(&path, None).unwrap();
        assert_eq!((recording.rate_hz, recording.axes), (Some(12_800.0), 2));
        assert_eq!(samples(&recording), [(-most - 1) as f32, 1.0, 2.0, most as f32]);
        assert_eq!(samples(&read(&path, Some("1")).unwrap()), [1.0, most as f32]);
        assert_refused(&path, Some("2"), "channels 0 to 1");
    }
    let float = hound::WavSpec { sample_format: hound::SampleFormat::Float, ..pcm(1, 32) };
    let bytes = wav_file(float, |w| {
        for x in [0.25f32, f32::NAN, f32::INFINITY] {
            w.write_sample(x).unwrap();
        }
    });
    let recording = read(&folder.file("float.wav", bytes), None).unwrap();
    assert_eq!(samples(&recording)[0].to_bits(), 0.25f32.to_bits());
    let place = recording.first_non_finite().unwrap().unwrap();
    assert_eq!(place.to_string(), "stretch 0, frame 1, axis x");
}

#[test]
fn wav_refuses_what_is_cut_off_empty_or_too_wide() {
    let folder = Folder::new();
    let four = wav_file(pcm(4, 16), |w| {
        for x in 0..8i32 {
            w.write_sample(x).unwrap();
        }
    });
    let path = folder.file("four.wav", &four);
    assert_refused(&path, None, "4 axes, but a recording has at most 3");
    assert_refused(&path, Some("0;1;2;3"), "4 axes");
    assert_eq!(samples(&read(&path, Some("3;0")).unwrap()), [3., 0., 7., 4.]);
    for len in [four.len() - 1, 60, 20, 4] {
        let cut = folder.file("cut.wav", &four[..len]);
        assert_refused(&cut, Some("0"), "not a readable WAV file");
    }
    let empty = folder.file("empty.wav", wav_file(pcm(1, 16), |_| ()));
    assert_refused(&empty, None, "no samples");
}

#[test]
fn files_that_are_absent_empty_or_unknown() {
    let folder = Folder::new();
    let absent = folder.0.path().join("absent.wav");
    assert!(matches!(read(&absent, None), Err(RecordingError::Io { .. })));
    refusal(&absent, None);
    for name in ["e.mat", "e.npy", "e.csv", "e.wav"] {
        assert_refused(&folder.file(name, b""), None, "no samples");
    }
    assert_refused(&folder.file("x.xlsx", b"x"), None, "use .wav, .mat (v5 to v7), .npy");
    assert_refused(&folder.file("bare", b"x"), None, "extension \"\"");
}

#[test]
fn mutated_files_are_read_or_refused_but_never_panic() {
    let folder = Folder::new();
    let golden = |name: &str| {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/golden/recordings");
        std::fs::read(folder.join(name)).unwrap()
    };
    let seeds = [
        ("z.mat", golden("compressed.mat")),
        ("s.mat", golden("plain.mat")),
        ("z.npz", golden("compressed.npz")),
        ("p.npz", golden("plain.npz")),
        ("t.tsv", golden("time.tsv")),
        ("g.csv", golden("german.csv")),
        ("p.parquet", golden("snappy.parquet")),
        ("n.parquet", golden("null.parquet")),
        ("f.wav", golden("scipy_f64.wav")),
        ("m.mat", mat_file(&[mat_doubles("a", [3, 1], &[1.0, 2.0, 3.0])])),
        ("m.npy", npy_f32("(3, 2)", false, &[0.0; 6])),
        ("m.csv", b"x,y\n1,2\n3,4\n".to_vec()),
        ("m.wav", wav_file(pcm(1, 16), |w| w.write_sample(5i16).unwrap())),
    ];
    // A multiplicative generator is random enough to choose bytes.
    let mut state = 1u64;
    let mut random = |n: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) as usize % n
    };
    let mut read_well = 0;
    for (name, seed) in &seeds {
        for _ in 0..200 {
            let mut bytes = seed.clone();
            for _ in 0..=random(3) {
                let at = random(bytes.len());
                bytes[at] = random(256) as u8;
            }
            let path = folder.file(name, bytes);
            for channel in [None, Some("x"), Some("i16")] {
                let Ok(recording) = read(&path, channel) else { continue };
                assert!((1..=3).contains(&recording.axes));
                assert!(recording.stretches().unwrap().iter().all(|s| !s.is_empty()));
                assert!(
                    recording.stretches().unwrap().iter().all(|s| s.len() % recording.axes == 0)
                );
                read_well += 1;
            }
        }
    }
    assert!(read_well > 50, "mutations that a reader may accept: {read_well}");
}
