//! A zoo of malformed recordings. For each, `fit` and `predict` end with exit code 2, write
//! nothing, and print a message that names the file, the place in it and the remedy.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::sync::LazyLock;

use crate::workplace::Workplace;

/// A folder with a good recording, and a model made from it and others.
static WORLD: LazyLock<Workplace> = LazyLock::new(|| {
    let world = Workplace::new();
    world.run("simulate --out m --seconds 2 --classes Healthy,InnerRace");
    world.run("fit --manifest m/manifest.csv --domain motor-a --out source.json");
    world.run(
        "adapt --source source.json --manifest m/manifest.csv --domain motor-b --pool-is all --force --out model.rbm",
    );
    world
});

const RATE: u32 = 20_000;

/// A malformed file of the zoo.
struct Animal {
    name: &'static str,
    bytes: Vec<u8>,
    channel: &'static str,
    /// Part of the message that names the place in the file.
    place: &'static str,
    /// Part of the message that says what to do.
    remedy: &'static str,
}

fn animal(
    name: &'static str,
    bytes: impl Into<Vec<u8>>,
    place: &'static str,
    remedy: &'static str,
) -> Animal {
    Animal { name, bytes: bytes.into(), channel: "", place, remedy }
}

fn of_channel(channel: &'static str, animal: Animal) -> Animal {
    Animal { channel, ..animal }
}

/// Runs a command on the file. The message must name the file, the place and the remedy.
fn assert_refused(arguments: &str, animal: &Animal) {
    WORLD.refused(arguments, &[animal.name, animal.place, animal.remedy]);
}

fn fit(animal: &Animal) {
    let Animal { name, bytes, channel, .. } = animal;
    WORLD.write(name, bytes);
    let manifest = format!(
        "path,label,domain,rate_hz,channel\nm/motor-a/Healthy.wav,Healthy,d,{RATE},\n{name},InnerRace,d,{RATE},{channel}\n"
    );
    WORLD.write(&format!("{name}.manifest.csv"), manifest);
    let arguments = format!("fit --manifest {name}.manifest.csv --domain d --out {name}.json");
    assert_refused(&arguments, animal);
    assert!(!WORLD.has(&format!("{name}.json")), "{name}: a source was written");
}

fn predict(animal: &Animal) {
    let Animal { name, bytes, channel, .. } = animal;
    WORLD.write(name, bytes);
    let channel = if channel.is_empty() { "" } else { &format!("--channel {channel}") };
    assert_refused(&format!("predict --model model.rbm {channel} {name}"), animal);
}

fn refused(animals: &[Animal]) {
    for animal in animals {
        fit(animal);
        predict(animal);
    }
}

fn golden(name: &str) -> Vec<u8> {
    let folder =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../engine/tests/data/golden/recordings");
    std::fs::read(folder.join(name)).unwrap()
}

/// Returns a golden file with other bytes from `at` on.
fn changed(name: &str, at: usize, bytes: &[u8]) -> Vec<u8> {
    let mut file = golden(name);
    file[at..at + bytes.len()].copy_from_slice(bytes);
    file
}

fn cut(name: &str, len: usize) -> Vec<u8> {
    golden(name)[..len].to_vec()
}

fn utf16(text: &str) -> Vec<u8> {
    [0xFF, 0xFE].into_iter().chain(text.encode_utf16().flat_map(u16::to_le_bytes)).collect()
}

/// Returns text with one number per line, and with `other` in one of the lines.
fn lines(count: usize, line: usize, other: &str) -> String {
    let mut text = String::new();
    for number in 1..=count {
        let value = format!("{:.3}", (number as f64).sin());
        let _ = writeln!(text, "{}", if number == line { other } else { &value });
    }
    text
}

#[test]
fn tables() {
    let mut uneven = String::from("time,x\n");
    for i in 0..5000 {
        let late = if i >= 3000 { i + 40 } else { i };
        let _ = writeln!(uneven, "{:.6},{}", f64::from(late) / f64::from(RATE), i % 17);
    }
    let mut other_rate = String::from("time,x\n");
    for i in 0..5000 {
        let _ = writeln!(other_rate, "{:.6},{}", f64::from(i) / 8000.0, i % 17);
    }
    refused(&[
        animal("text.csv", lines(5000, 4711, "oops"), "line 4711, column 0", "correct it"),
        animal("first.csv", lines(5000, 1, "0.5x"), "line 1, column 0", "correct it"),
        animal("ragged.csv", "a,b\n1,2\n3\n", "line 3", "every row needs the same columns"),
        animal("wide.csv", "1;2\n3;4;5\n", "line 2", "every row needs the same columns"),
        of_channel("0", animal("slip.csv", "1.5,l.2\n1,2\n", "line 1, column 1", "correct it")),
        of_channel("x", animal("gap.csv", "x,y\n1,2\n,3\n", "line 3, column x", "correct it")),
        of_channel("x", animal("marks.csv", "x;y\n1,5;2\n2.5;3\n", "line 3", "the same")),
        animal("comma.csv", "1,5\n2,25\n", "line 1", "put `;` between columns"),
        animal("empty.csv", "", "in it", "record again"),
        animal("header.csv", "x\n", "in it", "record again"),
        animal("utf16.csv", utf16("x\n1\n"), "line 1", "UTF-8"),
        animal("binary.csv", b"1\n2\0\0\0\n".to_vec(), "line 2", "export the table"),
        animal("uneven.csv", uneven, "line 3002, column time", "cut it at the gap"),
        animal("noise.wav.csv", golden("scipy_i16.wav"), "by its first bytes", "name it .wav"),
        animal("columns.csv", "a,b,c\n1,2,3\n", "a, b, c", "name one"),
        of_channel("z", animal("nochannel.csv", "a,b\n1,2\n", "\"z\"", "the file has: a, b")),
        animal("table.xlsx", "PK", "\"xlsx\"", "use .wav"),
    ]);
    let rate = |place, remedy| animal("rate.csv", other_rate.clone(), place, remedy);
    fit(&rate("line 3: rate_hz is 20000 but rate.csv carries 8000 Hz", "correct the row"));
    predict(&rate("is sampled at 8000 Hz", "--resample"));
}

#[test]
fn wav() {
    let i16 = || golden("scipy_i16.wav");
    let rifx: Vec<u8> = [b"RIFX", &i16()[4..]].concat();
    refused(&[
        animal("cut.wav", cut("scipy_i16.wav", 100), "at byte 44", "copy it again"),
        animal("header.wav", cut("scipy_i16.wav", 30), "ends at byte 30", "copy it again"),
        animal("start.wav", cut("scipy_i16.wav", 4), "ends at byte 4", "copy it again"),
        animal("rifx.wav", rifx, "at byte 0", "sox in.wav out.wav"),
        animal("open.wav", changed("scipy_i16.wav", 40, &[0; 4]), "at byte 44", "--ignore-length"),
        animal("nodata.wav", [&cut("scipy_i16.wav", 40)[..], &[0; 4]].concat(), "in it", "record"),
        animal("odd.wav", changed("scipy_i16.wav", 40, &[159]), "at byte 44", "write it again"),
        animal("mulaw.wav", changed("scipy_i16.wav", 20, &[7]), "chunk `fmt `", "write PCM"),
        animal("none.wav", changed("scipy_i16.wav", 22, &[0]), "chunk `fmt `", "write it again"),
        animal("still.wav", changed("scipy_i16.wav", 24, &[0; 4]), "0 Hz", "write it again"),
        animal("text.wav", "0.1\n0.2\n0.3\n0.4\n", "at byte 0", "export it as WAV"),
        animal("empty.wav", "", "in it", "record again"),
        animal("matrix.wav", golden("plain.mat"), "by its first bytes", "name it .mat"),
        of_channel("2", animal("two.wav", i16(), "\"2\"", "channels 0 to 1")),
    ]);
}

#[test]
fn matlab() {
    let plain = golden("plain.mat");
    // A big-endian mark on little-endian data, and an invalid mark.
    let swapped = changed("plain.mat", 124, &[1, 0, b'M', b'I']);
    let half_swapped = changed("plain.mat", 126, b"MI");
    let middle = golden("compressed.mat").len() / 2;
    let broken = changed("compressed.mat", middle, &[0xFF; 8]);
    let mut of_zero = plain[..128].to_vec();
    for word in [14_u32, 48, 6, 8, 6, 0, 5, 8, 0, 1, 1 | 1 << 16, u32::from(b'x'), 9, 0] {
        of_zero.extend(word.to_le_bytes());
    }
    let of_x = |animal| of_channel("x", animal);
    refused(&[
        of_x(animal("cut.mat", cut("plain.mat", plain.len() - 100), "at byte", "copy")),
        of_x(animal("cut2.mat", cut("compressed.mat", middle), "at byte", "copy")),
        of_x(animal("broken.mat", broken, "array at byte", "again")),
        of_x(animal("swapped.mat", swapped, "at byte 128", "again")),
        of_x(animal("half.mat", half_swapped, "at byte 124", "save(file, '-v7')")),
        of_x(animal("v4.mat", golden("version4.mat"), "at byte 124", "save(file, '-v7')")),
        animal("v73.mat", "MATLAB 7.3 MAT-file, Platform: GLNXA64", "first bytes", "'-v7'"),
        animal("hdf.mat", b"\x89HDF\r\n\x1a\n".to_vec(), "first bytes", "scipy.io.savemat"),
        animal("text.mat", "1\n2\n", "at byte 124", "save(file, '-v7')"),
        animal("none.mat", cut("plain.mat", 128), "128 bytes", "save the samples"),
        of_x(animal("zero.mat", of_zero, "x is empty", "choose another")),
        of_channel("nothing", animal("no.mat", plain.clone(), "\"nothing\"", "the file has: x")),
        animal("many.mat", plain, "data.vibration.x", "name one"),
        animal("empty.mat", "", "in it", "record again"),
    ]);
}

/// Returns a zip archive of one array. Its bytes and announced sizes may disagree.
fn npz(name: &str, array: &[u8], announced: u32, crc: u32) -> Vec<u8> {
    let mut packed = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::best());
    packed.write_all(array).unwrap();
    let packed = packed.finish().unwrap();
    let mut common = Vec::new();
    common.extend([20, 0, 0, 0, 8, 0, 0, 0, 0, 0]);
    common.extend(crc.to_le_bytes());
    common.extend((packed.len() as u32).to_le_bytes());
    common.extend(announced.to_le_bytes());
    common.extend((name.len() as u16).to_le_bytes());
    common.extend([0, 0]);
    let local = [b"PK\x03\x04", &common[..], name.as_bytes(), &packed[..]].concat();
    let central = [b"PK\x01\x02\x14\x00", &common[..], &[0; 14], name.as_bytes()].concat();
    let mut end = b"PK\x05\x06\0\0\0\0\x01\0\x01\0".to_vec();
    end.extend((central.len() as u32).to_le_bytes());
    end.extend((local.len() as u32).to_le_bytes());
    end.extend([0, 0]);
    [local, central, end].concat()
}

fn crc(bytes: &[u8]) -> u32 {
    let mut crc = flate2::Crc::new();
    crc.update(bytes);
    crc.sum()
}

fn npy(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n");
    let length = (header.len() as u16).to_le_bytes();
    [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), data].concat()
}

#[test]
fn numpy() {
    let array = npy("<f4", "(25000000,)", &vec![0; 100_000_000]);
    let bomb = npz("x.npy", &array, array.len() as u32, crc(&array));
    assert!(bomb.len() < 150_000, "{} bytes", bomb.len());
    // The same trick, hidden: the archive announces only the size that the array's header gives.
    let good = npy("<f4", "(4,)", &[0; 16]);
    let more = npy("<f4", "(4,)", &vec![0; 1_000_000]);
    let hidden = npz("x.npy", &more, good.len() as u32, crc(&good));
    let damaged = npz("x.npy", &good, good.len() as u32, crc(&good) ^ 1);
    let none = npy("<f4", "(0,)", &[]);
    let zero = npz("x.npy", &none, none.len() as u32, crc(&none));
    refused(&[
        animal("cut.npy", cut("x.npy", 400), "bytes of data after the header", "numpy.save"),
        animal("header.npy", cut("x.npy", 40), "at byte 0", "numpy.save"),
        animal("text.npy", "1\n2\n", "at byte 0", "numpy.save"),
        animal("strings.npy", npy("<U3", "(2,)", &[0; 24]), "in the header", "save as float32"),
        animal("objects.npy", npy("|O", "(2,)", &[0; 16]), "in the header", "save as float32"),
        animal("deep.npy", npy("<f4", "(1, 1, 1, 2)", &[0; 8]), "[1, 1, 1, 2]", "1-D"),
        animal("zero.npy", npy("<f4", "(0,)", &[]), "in it", "record again"),
        animal("huge.npy", npy("<f4", "(99999999999999999,)", &[0; 8]), "[99999999", "numpy.save"),
        animal("empty.npy", "", "in it", "record again"),
        animal("archive.npy", golden("plain.npz"), "by its first bytes", "name it .npz"),
        animal("bomb.npz", bomb, "array x (at byte", "numpy.savez"),
        animal("hidden.npz", hidden, "array x (at byte", "numpy.savez"),
        animal("damaged.npz", damaged, "array x (at byte", "numpy.savez"),
        animal("cut.npz", cut("plain.npz", 900), "directory at the end", "numpy.savez"),
        animal("text.npz", "1\n2\n", "directory at the end", "numpy.savez"),
        animal("zero.npz", zero, "array x is empty", "choose another"),
        animal("empty.npz", "", "in it", "record again"),
        animal("many.npz", golden("plain.npz"), "x [40], y [40]", "name one"),
    ]);
}

#[cfg(feature = "parquet")]
#[test]
fn parquet() {
    let len = golden("snappy.parquet").len();
    let of_f32 = |animal| of_channel("f32", animal);
    refused(&[
        of_f32(animal("cut.parquet", cut("snappy.parquet", len - 10), "directory", "copy it")),
        of_f32(animal("brotli.parquet", golden("brotli.parquet"), "with brotli", "snappy")),
        animal("text.parquet", "x\n1\n", "directory", "copy it"),
        animal("many.parquet", golden("snappy.parquet"), "f32, i16", "name one"),
        of_channel("text", animal("t.parquet", golden("snappy.parquet"), "\"text\"", "file has")),
        animal("empty.parquet", "", "in it", "record again"),
    ]);
}

/// NaN cannot be learned from, but it is a sensor fault to report.
#[test]
fn not_a_number() {
    let nan = animal("nan.csv", lines(20_000, 4711, "nan"), "frame 4710", "cut that part out");
    fit(&nan);
    let found = WORLD.json("predict --model model.rbm nan.csv");
    assert!(found["files"][0]["labels"]["sensor_fault"].as_u64() > Some(0), "{found}");
}
