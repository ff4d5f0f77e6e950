//! A headless Chromium, controlled over its debugging pipe.
//!
//! The protocol is JSON with a zero byte after each message, on file descriptors 3 and 4. A shell
//! and two named pipes connect them. A crate for this would pull in more than it saves.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

/// Longest wait for an answer: a browser that hangs must not hang the tests.
const PATIENCE: Duration = Duration::from_mins(2);

/// A page in a browser.
pub(crate) struct Browser {
    child: Child,
    commands: File,
    messages: Receiver<Value>,
    session: Option<String>,
    last: u64,
    /// Events that the page caused since it was opened.
    pub(crate) events: Vec<Value>,
    _profile: TempDir,
}

impl Browser {
    /// Starts `program` with an empty profile.
    pub(crate) fn start(program: &Path) -> Self {
        let profile = tempfile::tempdir().expect("a folder for the profile");
        let [to, from] = ["to", "from"].map(|name| profile.path().join(name));
        let made = Command::new("mkfifo").args([&to, &from]).status().expect("mkfifo");
        assert!(made.success(), "mkfifo");
        let child = Command::new("sh")
            .args(["-c", "exec \"$0\" \"$@\" 3<\"$TO\" 4>\"$FROM\""])
            .arg(program)
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-quic",
                "--no-first-run",
            ])
            .args([
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
            ])
            .args(["--hide-scrollbars", "--remote-debugging-pipe", "about:blank"])
            .arg(format!("--user-data-dir={}", profile.path().join("profile").display()))
            .env("TO", &to)
            .env("FROM", &from)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the browser starts");
        let commands = OpenOptions::new().write(true).open(&to).expect("the pipe opens");
        let answers = File::open(&from).expect("the pipe opens");
        let (send, messages) = channel();
        std::thread::spawn(move || {
            for message in BufReader::new(answers).split(0).map_while(Result::ok) {
                let Ok(message) = serde_json::from_slice(&message) else { return };
                if send.send(message).is_err() {
                    return;
                }
            }
        });
        let mut browser = Self {
            child,
            commands,
            messages,
            session: None,
            last: 0,
            events: Vec::new(),
            _profile: profile,
        };
        let target = browser.call("Target.createTarget", &json!({ "url": "about:blank" }));
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        let session = browser.call("Target.attachToTarget", &attach);
        browser.session = session["sessionId"].as_str().map(Into::into);
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.call(&format!("{domain}.enable"), &json!({}));
        }
        browser
    }

    /// Calls a method and waits for its answer. Anything the page does meanwhile becomes an event.
    pub(crate) fn call(&mut self, method: &str, parameters: &Value) -> Value {
        self.last += 1;
        let mut message = json!({ "id": self.last, "method": method, "params": parameters });
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        self.commands.write_all(format!("{message}\0").as_bytes()).expect("the browser listens");
        loop {
            let answer = self.next(method);
            if answer["id"] == self.last {
                assert!(answer["error"].is_null(), "{method}: {}", answer["error"]);
                return answer["result"].clone();
            }
            self.events.push(answer);
        }
    }

    fn next(&mut self, what: &str) -> Value {
        self.messages.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("{what}: no answer"))
    }

    /// Opens a file in a window of this size and waits until it is drawn.
    pub(crate) fn open(&mut self, page: &Path, (width, height): (u32, u32)) {
        let size =
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.call("Emulation.setDeviceMetricsOverride", &size);
        self.events.clear();
        self.call("Page.navigate", &json!({ "url": format!("file://{}", page.display()) }));
        while !self.events.iter().any(|event| event["method"] == "Page.loadEventFired") {
            let event = self.next("loading");
            self.events.push(event);
        }
    }

    /// Returns the value of a JavaScript expression. The page's policy does not bind the debugger.
    pub(crate) fn evaluate(&mut self, expression: &str) -> Value {
        let answer = self
            .call("Runtime.evaluate", &json!({ "expression": expression, "returnByValue": true }));
        assert!(answer["exceptionDetails"].is_null(), "{}", answer["exceptionDetails"]);
        answer["result"]["value"].clone()
    }

    /// Returns a picture of the whole page as PNG.
    pub(crate) fn screenshot(&mut self) -> Vec<u8> {
        let metrics = self.call("Page.getLayoutMetrics", &json!({}));
        let size = &metrics["cssContentSize"];
        let clip =
            json!({ "x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1 });
        let options = json!({ "captureBeyondViewport": true, "clip": clip });
        decoded(&self.call("Page.captureScreenshot", &options)["data"])
    }

    /// Returns the printed page as PDF.
    pub(crate) fn pdf(&mut self) -> Vec<u8> {
        decoded(
            &self.call(
                "Page.printToPDF",
                &json!({ "printBackground": true, "preferCSSPageSize": true }),
            )["data"],
        )
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Decodes Base64, the protocol's form of files.
fn decoded(data: &Value) -> Vec<u8> {
    let digit = |byte: u8| match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let text = data.as_str().expect("data").trim_end_matches('=');
    let mut bytes = Vec::new();
    let (mut bits, mut held) = (0_u32, 0);
    for byte in text.bytes() {
        bits = bits << 6 | u32::from(digit(byte));
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held) as u8);
            bits &= (1 << held) - 1;
        }
    }
    bytes
}
