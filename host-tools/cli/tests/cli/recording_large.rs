//! Adapts to a recording of 1 GB in less than 500 MB of memory. The test takes minutes, so
//! `cargo xtask large` runs it and a plain `cargo test` does not.

#![cfg(target_os = "linux")]

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rebearing_host::data::manifest::Manifest;

const BYTES: u32 = 1 << 30;
const MOST_MEMORY: u64 = 500_000_000;

fn command(directory: &Path, arguments: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rebearing"));
    command.args(arguments.split(' ')).current_dir(directory);
    command
}

fn run(directory: &Path, arguments: &str) {
    assert!(command(directory, arguments).status().unwrap().success(), "{arguments}");
}

/// Returns the peak memory of a process so far in bytes, as the kernel counts it.
fn peak(child: &Child) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok().map(|kilobytes| 1024 * kilobytes)
}

/// Writes the recordings of a machine one after the other, repeated, as 16-bit counts in one WAV.
fn write_large(manifest: &Manifest, domain: &str, path: &Path) {
    let rows = manifest.rows_of(domain).unwrap();
    let mut samples: Vec<u8> = Vec::new();
    for row in &rows {
        let recording = manifest.recording(row).unwrap();
        let peak = recording.stretches().unwrap()[0].iter().fold(0.0_f32, |m, x| m.max(x.abs()));
        for sample in &recording.stretches().unwrap()[0] {
            let count = (sample / peak * 30_000.0).round() as i16;
            samples.extend(count.to_le_bytes());
        }
    }
    let rate = rows[0].rate_hz as u32;
    let mut file = BufWriter::new(File::create(path).unwrap());
    let mut header = b"RIFF".to_vec();
    header.extend((36 + BYTES).to_le_bytes());
    header.extend(b"WAVEfmt \x10\0\0\0\x01\0\x01\0");
    header.extend(rate.to_le_bytes());
    header.extend((2 * rate).to_le_bytes());
    header.extend([2, 0, 16, 0]);
    header.extend(b"data");
    header.extend(BYTES.to_le_bytes());
    file.write_all(&header).unwrap();
    let mut left = BYTES as usize;
    while left > 0 {
        let part = left.min(samples.len());
        file.write_all(&samples[..part]).unwrap();
        left -= part;
    }
    file.flush().unwrap();
}

#[test]
#[ignore = "minutes; cargo xtask large"]
fn a_gigabyte_is_adapted_to_in_bounded_memory() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    run(path, "simulate --out m --seconds 20 --classes Healthy,InnerRace,OuterRace");
    run(path, "fit --manifest m/manifest.csv --domain motor-a --out source.json");
    let manifest = Manifest::read(&path.join("m/manifest.csv")).unwrap();
    write_large(&manifest, "motor-b", &path.join("large.wav"));
    let rate = manifest.rows_of("motor-b").unwrap()[0].rate_hz;
    let table = format!("path,label,domain,rate_hz\nlarge.wav,,motor-b,{rate}\n");
    std::fs::write(path.join("large.csv"), table).unwrap();

    let adapt = "adapt --json --source source.json --manifest large.csv --domain motor-b \
                 --pool-is all --force --out large.rbm";
    let started = Instant::now();
    let mut child = command(path, adapt).stdout(Stdio::piped()).spawn().unwrap();
    let mut most = 0;
    let status = loop {
        most = peak(&child).unwrap_or(0).max(most);
        match child.try_wait().unwrap() {
            Some(status) => break status,
            None => std::thread::sleep(Duration::from_millis(20)),
        }
    };
    assert!(status.success());
    let output: serde_json::Value =
        serde_json::from_reader(child.stdout.take().unwrap()).expect("one JSON object");
    println!(
        "1 GB WAV: {} windows, verdict {}, peak memory {} MB, {:.0} s",
        output["windows"],
        output["verdict"],
        most / 1_000_000,
        started.elapsed().as_secs_f64()
    );
    assert!(output["windows"].as_u64() > Some(500_000), "{output}");
    assert!(path.join("large.rbm").is_file());
    assert!(most > 0 && most < MOST_MEMORY, "peak memory {most} bytes");
}
