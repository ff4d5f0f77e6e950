//! Keys, signed models and sealed snapshots on the command line.

use std::fs;
use std::process::Command;

use crate::workplace::Workplace;
use rebearing::operation::snapshot::Mac as _;
use rebearing::operation::snapshot::sealed::{DOMAIN as SEAL_DOMAIN, seal_head};
use rebearing::update::envelope::DOMAIN;
use rebearing_host::signing::snapshot_key;
use serde_json::Value;

const GOLDEN: &[u8] = include_bytes!("../../../../tests/golden/model-v1.rbm");

/// A folder with a key and the golden model.
fn desk() -> Workplace {
    let desk = Workplace::new();
    desk.write("model.rbm", GOLDEN);
    desk.run("key new --out plant");
    desk
}

/// Everything that a command printed.
fn printed(desk: &Workplace, arguments: &str) -> String {
    let output = desk.output(&arguments.split_whitespace().collect::<Vec<_>>());
    String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
}

#[test]
fn a_key_is_made_once_and_shows_its_id_alone() {
    let desk = Workplace::new();
    let made = desk.json("key new --out plant");
    let public = desk.read("plant.pub");
    let digits = public.strip_prefix("rebearing-ed25519 ").unwrap();
    assert_eq!(made["key_id"], digits[..8]);
    assert_eq!((&made["private"], &made["public"]), (&"plant".into(), &"plant.pub".into()));
    assert_eq!(desk.json("key show plant.pub")["key_id"], digits[..8]);
    let (before, shown) = (desk.read("plant"), printed(&desk, "key show plant.pub"));
    assert!(!shown.contains(&digits[..64]), "{shown}");
    desk.refused("key new --out plant", &["plant", "there already"]);
    fs::remove_file(desk.path().join("plant")).unwrap();
    desk.refused("key new --out plant", &["plant.pub", "there already"]);
    assert!(!desk.has("plant"), "half a pair");
    desk.write("plant", &before);
    desk.refused("key show plant", &["plant", "not a key of this kind"]);
    desk.refused("key show no.pub", &["no.pub"]);
    desk.refused("key new --out no/dir/key", &["no/dir/key", "folder that exists"]);

    // A point of small order, as a file that somebody slipped in.
    let weak = "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05";
    desk.write("weak.pub", format!("rebearing-ed25519 {weak}"));
    desk.refused("key show weak.pub", &["weak.pub", "weak key"]);
}

#[cfg(unix)]
#[test]
fn only_the_owner_can_read_a_private_key() {
    use std::os::unix::fs::PermissionsExt as _;
    let desk = desk();
    desk.run("key new --snapshot --out device.key");
    for name in ["plant", "device.key"] {
        let mode = desk.path().join(name).metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
}

#[test]
fn a_signed_model_verifies_with_its_key_and_runs_like_the_plain_one() {
    let desk = desk();
    desk.run("key new --out other");
    let signed = desk.json("sign --key plant --counter 12 --model model.rbm --out signed.rbm");
    assert_eq!((&signed["counter"], &signed["device"]), (&12.into(), &"any".into()));
    assert_eq!(signed["bytes"], GOLDEN.len() + 128);
    assert_eq!(desk.bytes("signed.rbm")[..GOLDEN.len()], *GOLDEN);
    // The same again is the same file, and a signed model can be signed anew.
    desk.run("sign --key plant --counter 12 --model signed.rbm --out again.rbm");
    assert_eq!(desk.bytes("again.rbm"), desk.bytes("signed.rbm"));

    let shown = desk.json("inspect signed.rbm");
    assert_eq!(shown["signed"]["counter"], 12);
    assert_eq!(shown["signed"]["key_id"], desk.json("key show plant.pub")["key_id"]);
    assert_eq!(shown["signed"]["verified"], Value::Null);
    assert!(desk.run("inspect signed.rbm").contains("was not checked"));
    assert_eq!(desk.json("inspect model.rbm")["signed"], Value::Null);
    let verified = desk.json("inspect --key plant.pub signed.rbm");
    assert_eq!(verified["signed"]["verified"], true);
    assert!(desk.run("inspect --key plant.pub signed.rbm").contains("the signature holds"));
    desk.refused("inspect --key other.pub signed.rbm", &["signed.rbm", "another key"]);
    desk.refused("inspect --key plant.pub model.rbm", &["model.rbm", "not signed"]);
    desk.refused("inspect --key plant signed.rbm", &["plant", "not a key of this kind"]);

    let samples = (0..9000_u32).map(|i| (i * i % 977).to_string() + "\n").collect::<String>();
    desk.write("run.csv", format!("x\n{samples}"));
    let labels = |model: &str| {
        let predicted = desk.json(&format!("predict --model {model} --rate 20000 run.csv"));
        predicted["files"].clone()
    };
    assert_eq!(labels("signed.rbm"), labels("model.rbm"));
}

#[test]
fn a_changed_file_does_not_verify() {
    let desk = desk();
    desk.run("sign --key plant --counter 12 --device 2f0031 --model model.rbm --out signed.rbm");
    let signed = desk.bytes("signed.rbm");
    for (at, part) in [
        (100, "checksum"),
        // Key id, counter, device, signature.
        (GOLDEN.len() + 8, "another key"),
        (GOLDEN.len() + 12, "NOT hold"),
        (GOLDEN.len() + 20, "NOT hold"),
        (GOLDEN.len() + 64, "NOT hold"),
        (GOLDEN.len() + 127, "NOT hold"),
        // The length of the model, and a word that is always zero.
        (GOLDEN.len() + 52, "another model"),
        (GOLDEN.len() + 60, "damaged"),
    ] {
        let mut changed = signed.clone();
        changed[at] ^= 1;
        desk.write("changed.rbm", &changed);
        desk.refused("inspect --key plant.pub changed.rbm", &["changed.rbm", part]);
    }
    desk.write("cut.rbm", &signed[..signed.len() - 1]);
    desk.refused("inspect cut.rbm", &["cut.rbm", "damaged"]);
    desk.write("longer.rbm", [&signed[..], b"x"].concat());
    desk.refused("inspect longer.rbm", &["longer.rbm", "damaged"]);
}

#[test]
fn a_passphrase_comes_from_a_file_and_opens_the_key() {
    let desk = desk();
    desk.write("secret.txt", "correct horse battery\nnot this line\n");
    desk.write("wrong.txt", "correct horse\n");
    desk.write("empty.txt", "\nsecond\n");
    desk.run("key new --out closed --passphrase-file secret.txt");
    let file = desk.read("closed");
    assert!(file.contains("argon2id") && !file.contains("open "), "{file}");
    let sign = "sign --counter 1 --model model.rbm --out signed.rbm --key closed --passphrase-file";
    desk.refused(&format!("{sign} wrong.txt"), &["closed", "passphrase does not open"]);
    desk.refused(&format!("{sign} empty.txt"), &["empty.txt", "first line"]);
    desk.refused(&format!("{sign} no.txt"), &["no.txt"]);
    assert!(!desk.has("signed.rbm"));
    desk.run(&format!("{sign} secret.txt"));
    desk.run("inspect --key closed.pub signed.rbm");
    desk.refused("key new --out x --passphrase-file empty.txt", &["empty.txt"]);
    assert!(!desk.has("x"));
    for command in [format!("{sign} wrong.txt"), format!("{sign} secret.txt")] {
        assert!(!printed(&desk, &command).contains("correct horse"));
    }
}

/// Signatures are always the same, so the end of a signed file is the answer of a good signer.
#[cfg(unix)]
#[test]
fn a_command_signs_the_exact_bytes_or_nothing_is_written() {
    let desk = desk();
    desk.run("sign --key plant --counter 12 --model model.rbm --out first.rbm");
    let sign = |signer: &str, counter: &'static str| {
        let words = ["sign", "--signer", signer, "--public", "plant.pub", "--counter", counter];
        let words = words.map(str::to_owned).into_iter();
        words.chain("--model model.rbm --out by.rbm".split(' ').map(str::to_owned)).collect()
    };
    let run = |words: Vec<String>| {
        desk.run_words(&words.iter().map(String::as_str).collect::<Vec<_>>());
    };
    let refused = |words: Vec<String>, part: &str| {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        desk.refused_words(&words, &[part, "nothing was written"]);
        assert!(!desk.has("by.rbm"));
    };
    refused(sign("exit 7", "12"), "exit status: 7");
    refused(sign("echo no", "12"), "3 bytes");
    // The signature of another counter.
    refused(sign("tail -c 64 first.rbm", "13"), "does not hold");
    refused(sign("head -c 64 /dev/zero", "12"), "does not hold");

    for answer in ["tail -c 64 first.rbm", "tail -c 64 first.rbm | od -An -v -tx1 | tr -d ' \\n'"] {
        run(sign(&format!("cat > seen && {answer}"), "12"));
        assert_eq!(desk.bytes("by.rbm"), desk.bytes("first.rbm"));
        let head = &desk.bytes("first.rbm")[GOLDEN.len()..][..64];
        assert_eq!(desk.bytes("seen"), [&DOMAIN[..], head, GOLDEN].concat());
        fs::remove_file(desk.path().join("by.rbm")).unwrap();
    }
    desk.refused("sign --signer x --counter 1 --model model.rbm --out by.rbm", &["--public"]);
    desk.refused("sign --counter 1 --model model.rbm --out by.rbm", &["--key"]);
}

/// openssl is a signer as it is, with its own key. `docs/signing.md` shows these lines.
#[cfg(target_os = "linux")]
#[test]
fn openssl_is_a_signer() {
    let desk = desk();
    let shell = |line: &str| {
        let output = Command::new("sh").current_dir(desk.path()).args(["-c", line]).output();
        let output = output.expect("a shell");
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    };
    if Command::new("openssl").arg("version").output().is_err() {
        eprintln!("NOT CHECKED: there is no openssl here");
        return;
    }
    shell("openssl genpkey -algorithm ed25519 -out plant.pem");
    shell(
        "echo \"rebearing-ed25519 $(openssl pkey -in plant.pem -pubout -outform DER | tail -c 32 \
         | od -An -v -tx1 | tr -d ' \\n') key of the plant\" > pem.pub",
    );
    let signer = "openssl pkeyutl -sign -rawin -inkey plant.pem -in /dev/stdin";
    let words = ["sign", "--signer", signer, "--public", "pem.pub", "--counter", "3"];
    desk.run_words(&[&words[..], &["--model", "model.rbm", "--out", "signed.rbm"]].concat());
    desk.run("inspect --key pem.pub signed.rbm");
}

#[test]
fn what_is_wrong_is_told_without_repeating_counter_and_device() {
    let desk = desk();
    let sign = "sign --key plant --model model.rbm --out signed.rbm";
    for (more, part, secret) in [
        ("--counter 0", "starts at 1", " 0"),
        ("--counter 98765432109", "--counter", "98765432109"),
        ("--counter abcabc", "--counter", "abcabc"),
        ("--counter 77 --device beefx", "--device", "beef"),
        ("--counter 77 --device 000000", "every device", "0000"),
    ] {
        let line = format!("{sign} {more}");
        desk.refused(&line, &[part]);
        assert!(!printed(&desk, &line).contains(secret), "{}", printed(&desk, &line));
    }
    desk.refused("sign --key no --counter 1 --model model.rbm --out s.rbm", &["no"]);
    desk.refused("sign --key plant.pub --counter 1 --model model.rbm --out s.rbm", &["plant.pub"]);
    desk.refused("sign --key plant --counter 1 --model no.rbm --out s.rbm", &["no.rbm"]);
    desk.refused("sign --key plant --counter 1 --model model.rbm --out no/s.rbm", &["no/s.rbm"]);
    assert!(!desk.has("signed.rbm") && !desk.has("s.rbm"));
}

/// Splits a file of records, and seals each with its number as the count.
fn sealed(desk: &Workplace, file: &str, device: u8) -> Vec<Vec<u8>> {
    let key = snapshot_key::read(&desk.path().join("device.key")).unwrap();
    let (bytes, mut at, mut records) = (desk.bytes(file), 0, Vec::new());
    while at < bytes.len() {
        let length = u32::from_le_bytes(*bytes[at + 8..].first_chunk().unwrap()) as usize;
        let record = &bytes[at..at + length];
        let head = seal_head([device; 16], 40 + records.len() as u32);
        let mut mac = key.mac();
        for part in [&SEAL_DOMAIN[..], record, &head] {
            mac.absorb(part);
        }
        records.push([record, &head, &mac.tag()].concat());
        at += length;
    }
    records
}

#[test]
fn with_a_key_only_sealed_snapshots_of_one_device_in_order_are_taken() {
    let desk = Workplace::new();
    desk.json("simulate --out m --seconds 8 --classes Healthy,InnerRace");
    desk.json("fit --manifest m/manifest.csv --domain motor-a --out source.json");
    let target = "--manifest m/manifest.csv --domain motor-b";
    let adapt = "adapt --source source.json --pool-is all --force";
    desk.json(&format!("{adapt} {target} --out model.rbm"));
    let wav = "m/motor-b/Healthy.wav m/motor-b/InnerRace.wav";
    desk.json(&format!("predict --model model.rbm --snapshot-out plain.rbs {wav}"));
    desk.run("key new --snapshot --out device.key");
    desk.run("key new --snapshot --out other.key");
    let records = sealed(&desk, "plain.rbs", 7);
    assert!(records.len() >= 2);
    desk.write("a.rbs", &records[0]);
    desk.write("b.rbs", records[1..].concat());
    desk.write("all.rbs", records.concat());
    desk.write("c.rbs", &sealed(&desk, "plain.rbs", 8)[1]);

    let with = |files: &str, key: &str| format!("{adapt} --out s.rbm --snapshot {files} {key}");
    let plain = desk.json(&with("plain.rbs", ""));
    assert_eq!(plain["warnings"].as_array().map(Vec::len), Some(0), "{plain}");
    let model = desk.bytes("s.rbm");
    for files in ["all.rbs", "a.rbs b.rbs"] {
        let checked = desk.json(&with(files, "--snapshot-key device.key"));
        assert_eq!(checked["warnings"], plain["warnings"]);
        assert_eq!(desk.bytes("s.rbm"), model, "the same features give the same model");
    }
    let unchecked = desk.json(&with("all.rbs", ""));
    let warning = unchecked["warnings"][0].as_str().unwrap();
    assert!(warning.contains("--snapshot-key"), "{warning}");

    fs::remove_file(desk.path().join("s.rbm")).unwrap();
    let key = "--snapshot-key device.key";
    for (files, key, parts) in [
        ("plain.rbs", key, &["plain.rbs", "no seal", "--snapshot-key"][..]),
        ("all.rbs", "--snapshot-key other.key", &["all.rbs", "does not hold"]),
        ("b.rbs a.rbs", key, &["a.rbs", "older"]),
        ("a.rbs a.rbs", key, &["a.rbs", "twice"]),
        ("a.rbs c.rbs", key, &["c.rbs", "another device"]),
        ("all.rbs", "--snapshot-key no.key", &["no.key"]),
        ("all.rbs", "--snapshot-key plain.rbs", &["plain.rbs"]),
    ] {
        desk.refused(&with(files, key), parts);
    }
    let mut forged = records.concat();
    forged[100] ^= 1;
    desk.write("forged.rbs", &forged);
    desk.refused(&with("forged.rbs", key), &["forged.rbs", "checksum"]);
    assert!(!desk.has("s.rbm"));
}
