//! Files that would block or fill the host if the command opened them.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::workplace::Workplace;

/// A command that takes longer is stuck.
const PATIENCE: Duration = Duration::from_mins(1);

/// Runs a command in 2 GB of memory and returns its exit code and what it says on standard error.
fn run(place: &Workplace, arguments: &str) -> (Option<i32>, String) {
    let limited = "ulimit -v 2000000; exec \"$0\" \"$@\"";
    let mut child = Command::new("sh")
        .args(["-c", limited, env!("CARGO_BIN_EXE_rebearing")])
        .args(arguments.split(' '))
        .current_dir(place.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let started = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if started.elapsed() > PATIENCE {
            child.kill().unwrap();
            panic!("stuck: {arguments}");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let output = child.wait_with_output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

fn pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

#[cfg(unix)]
#[test]
fn every_command_refuses_a_pipe_and_a_device() {
    let place = Workplace::new();
    pipe(&place.path().join("pipe.csv"));
    place.write("m.csv", "path,label,domain,rate_hz\npipe.csv,Healthy,a,20000\n");
    let model = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/golden/model-v1.rbm");
    std::os::unix::fs::symlink("/dev/zero", place.path().join("zero.csv")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", place.path().join("zero.npy")).unwrap();
    for input in ["pipe.csv", "zero.csv", "."] {
        for command in [
            format!("predict --model {model} {input}"),
            format!("predict --model {input} x.csv"),
            format!("inspect {input}"),
            format!("fit --manifest {input} --domain a --out x.json"),
            format!("adapt --source {input} --manifest m.csv --domain a --out x.rbm"),
            format!("evaluate --manifest {input} --source a --target b"),
            format!("frequencies --bearing 9,7.94,39.04 --rpm 1797 {input}"),
            format!("features --manifest {input} --out x.csv"),
            format!("gmm --data {input} --components 2 --out g.json"),
            format!("plan --cost {input} --a {input} --b {input} --out p.npy"),
        ] {
            let (code, said) = run(&place, &command);
            assert_eq!(code, Some(2), "{command}: {said}");
            let extension = command.ends_with(" .") && said.contains("no reader");
            assert!(said.contains("not a regular file") || extension, "{command}: {said}");
        }
    }
    let (code, said) = run(&place, "fit --manifest m.csv --domain a --out x.json");
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("no file"), "{said}");
    assert!(run(&place, "manifest .").0.is_some());
}

#[test]
fn small_arrays_cannot_take_the_stack_or_the_memory() {
    let place = Workplace::new();
    let model = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/golden/model-v1.rbm");
    let deep = [
        "{'descr': '<f4', 'fortran_order': False, 'shape': ".to_owned(),
        "(".repeat(5000),
        "1,".into(),
        "),".repeat(4999),
        "), }\n".into(),
    ]
    .concat();
    let length = (deep.len() as u16).to_le_bytes();
    place.write("deep.npy", [b"\x93NUMPY\x01\0", &length[..], deep.as_bytes()].concat());
    place.write("large.npy", b"\x93NUMPY\x02\0\xf0\xff\xff\xff{ ");
    place.write("m.csv", "path,label,domain,rate_hz\ndeep.npy,H,a,20000\nlarge.npy,H,b,20000\n");
    for command in [
        &format!("predict --model {model} deep.npy"),
        &format!("predict --model {model} large.npy"),
        "fit --manifest m.csv --domain a --out x.json",
        "fit --manifest m.csv --domain b --out x.json",
        "gmm --data deep.npy --components 2 --out g.json",
        "gmm --data large.npy --components 2 --out g.json",
    ] {
        let (code, said) = run(&place, command);
        assert_eq!(code, Some(2), "{command}: {said}");
        assert!(said.contains("at most 10000 are read"), "{command}: {said}");
    }
}
