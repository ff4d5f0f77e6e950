//! Every command in a terminal: help with an example that parses, completions, 80 columns, and
//! colours only if they are wanted.

use std::path::Path;
use std::process::{Command, Output};

use clap::{CommandFactory as _, Parser as _};
use rebearing_cli::commands::Cli;

fn rebearing(folder: &Path, words: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rebearing"));
    command.current_dir(folder).args(words.split_whitespace()).env("COLUMNS", "80");
    command.output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Returns the command lines in a help text: from `rebearing` to the end of the line or to a
/// redirection.
fn examples(help: &str) -> Vec<Vec<String>> {
    let (_, examples) = help.split_once("Example").unwrap_or_default();
    let examples = examples.replace("\\\n", " ");
    let lines = examples.lines().map(str::trim).filter(|line| line.starts_with("rebearing "));
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    lines.map(|line| words(line.split(" > ").next().unwrap_or(line))).collect()
}

#[test]
fn every_command_has_help_with_an_example_that_parses() {
    let mut cli = Cli::command().term_width(0);
    cli.build();
    let mut commands = vec![cli.render_long_help().to_string()];
    let subcommands = cli.get_subcommands_mut().filter(|command| command.get_name() != "help");
    commands.extend(subcommands.map(|command| command.render_long_help().to_string()));
    assert!(commands.len() > 14);
    for help in commands {
        let examples = examples(&help);
        assert!(!examples.is_empty(), "no example: {help}");
        for words in examples {
            if words.last().is_some_and(|word| word == "--help") {
                continue;
            }
            Cli::try_parse_from(&words).unwrap_or_else(|error| panic!("{words:?}: {error}"));
        }
    }
}

#[test]
fn completions_are_for_every_shell_and_work_in_bash() {
    let folder = tempfile::tempdir().unwrap();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let output = rebearing(folder.path(), &format!("completions {shell}"));
        let script = text(&output.stdout);
        assert!(output.status.success() && script.contains("evaluate"), "{shell}: {script}");
        if shell == "bash" {
            std::fs::write(folder.path().join("rebearing.bash"), script).unwrap();
        }
    }
    assert_eq!(rebearing(folder.path(), "completions csh").status.code(), Some(2));
    let complete = r#"
        . ./rebearing.bash
        COMP_WORDS=(rebearing wa) COMP_CWORD=1
        _rebearing rebearing wa rebearing
        echo "${COMPREPLY[@]}"
        COMP_WORDS=(rebearing watch --se) COMP_CWORD=2
        _rebearing rebearing --se watch
        echo "${COMPREPLY[@]}""#;
    let Ok(output) = Command::new("bash").current_dir(&folder).args(["-c", complete]).output()
    else {
        eprintln!("SKIPPED: there is no bash to complete in");
        return;
    };
    assert_eq!(text(&output.stdout), "watch\n--serial\n", "{}", text(&output.stderr));
}

/// Runs every command that prints a table.
#[test]
fn what_is_printed_fits_80_columns() {
    let folder = tempfile::tempdir().unwrap();
    let long = format!("a-folder-with-{}-name", "a-very-long".repeat(4));
    let recordings = folder.path().join(&long);
    std::fs::create_dir(&recordings).unwrap();
    let tour = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../firmware-examples/boards/stm32f405/src/bin/stm32f405-qemu.txt"
    );
    let commands = [
        format!(
            "simulate --out {long} --seconds 6 --machines 3 --classes Healthy,InnerRace,OuterRace"
        ),
        format!("fit --manifest {long}/manifest.csv --domain motor-a --out {long}/source.json"),
        format!(
            "adapt --source {long}/source.json --manifest {long}/manifest.csv --domain motor-b \
             --pool-is all --force --severity 0.7,1.8,4.5 --unit g --severity-band 20,1000 --bearing 9,7.94,39.04 --out {long}/m.rbm"
        ),
        format!("inspect --clock 80 {long}/m.rbm"),
        format!("predict --model {long}/m.rbm {long}/motor-b/InnerRace.wav"),
        format!("evaluate --manifest {long}/manifest.csv --source motor-a --target motor-b"),
        format!("evaluate --manifest {long}/manifest.csv --source all --target all --seeds 2"),
        format!("frequencies --bearing 9,7.94,39.04 --rpm 1480 {long}/motor-b/InnerRace.wav"),
        format!("watch --plain {tour}"),
        "doctor".to_owned(),
    ];
    for command in commands {
        let output = rebearing(folder.path(), &command);
        let (shown, said) = (text(&output.stdout), text(&output.stderr));
        assert!(output.status.success(), "{command}: {said}");
        for line in shown.lines() {
            assert!(line.chars().count() <= 80, "{command}: {}: {line}", line.chars().count());
        }
        assert!(!shown.contains('\x1b') && !said.contains('\x1b'), "{command}: colours");
        assert!(said.is_empty() || command == "demo", "{command}: progress in a pipe: {said}");
    }
}

#[test]
fn errors_have_no_colours_in_a_pipe() {
    let folder = tempfile::tempdir().unwrap();
    for words in ["inspect absent.rbm", "no-such-command", "predict"] {
        let output = rebearing(folder.path(), words);
        assert_eq!(output.status.code(), Some(2), "{words}");
        assert!(!text(&output.stderr).contains('\x1b'), "{words}");
    }
}

/// Runs in a terminal made by `script`: with colours, and without them if `NO_COLOR` is set.
#[cfg(target_os = "linux")]
#[test]
fn a_terminal_has_colours_unless_no_color_is_set() {
    let folder = tempfile::tempdir().unwrap();
    let run = |no_color: Option<&str>, words: &str| {
        let program = env!("CARGO_BIN_EXE_rebearing");
        let mut script = Command::new("script");
        script.args(["-qec", &format!("{program} {words}"), "/dev/null"]).env("TERM", "xterm");
        script.env_remove("NO_COLOR").envs(no_color.map(|value| ("NO_COLOR", value)));
        script.current_dir(&folder).output().map(|output| text(&output.stdout))
    };
    for words in ["inspect absent.rbm", "no-such-command", "doctor"] {
        let (Ok(plain), Ok(coloured)) = (run(Some("1"), words), run(None, words)) else {
            eprintln!("SKIPPED: there is no `script` to make a terminal with");
            return;
        };
        assert!(!plain.contains("\x1b["), "{words}: {plain:?}");
        assert!(coloured.contains("\x1b["), "{words}: {coloured:?}");
    }
}
