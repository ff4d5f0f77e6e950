//! The dashboard on a real terminal. It handles keys and resizing, and restores the terminal.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::view::{Look, draw};
use rebearing_host::device::line::Line;
use rebearing_host::device::watch::source::Stream;
use rebearing_host::device::watch::state::Watch;

/// Interval at which keys are read, and the shortest time between two pictures.
const BEAT: Duration = Duration::from_millis(50);

/// How a watch ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The stream has ended.
    Stream,
    /// The user has quit.
    Quit,
}

impl End {
    /// The end in one word, as in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Stream => "stream",
            Self::Quit => "quit",
        }
    }
}

/// The terminal in raw mode. Dropping this restores it, and so does a panic.
struct Screen(DefaultTerminal);

impl Screen {
    fn open() -> Result<Self> {
        ratatui::try_init()
            .map(Self)
            .inspect_err(|_| ratatui::restore())
            .context("cannot draw on this terminal: use --plain")
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        ratatui::restore();
    }
}

/// Shows the stream until it ends (or, with `stay`, until the user quits after that).
pub fn show(
    stream: &Stream,
    watch: &mut Watch,
    look: Look<'_>,
    stay: bool,
    stop: &AtomicBool,
) -> Result<End> {
    let mut screen = Screen::open()?;
    let mut look = look;
    let mut changed = true;
    loop {
        let until = Instant::now() + BEAT;
        while !look.ended {
            let left = until.saturating_duration_since(Instant::now());
            match stream.lines.recv_timeout(left) {
                Ok(line) => {
                    watch.push(Line::parse(&line.map_err(|reason| stream.failure(reason))?));
                    changed = true;
                }
                Err(RecvTimeoutError::Timeout) => break,
                Err(RecvTimeoutError::Disconnected) => {
                    look.ended = true;
                    changed = true;
                }
            }
            // Keys must be read even if the device never pauses.
            if left.is_zero() {
                break;
            }
        }
        if changed {
            screen.0.draw(|frame| draw(frame, watch, look)).context("cannot draw")?;
            changed = false;
        }
        if look.ended && !stay {
            return Ok(End::Stream);
        }
        match keys(if look.ended { BEAT } else { Duration::ZERO })? {
            Pressed::Quit => return Ok(if look.ended { End::Stream } else { End::Quit }),
            Pressed::Resized => changed = true,
            Pressed::Nothing => {}
        }
        if stop.load(Ordering::Relaxed) {
            return Ok(End::Quit);
        }
    }
}

enum Pressed {
    Quit,
    Resized,
    Nothing,
}

/// Returns the quit or resize event so far, if there is one.
fn keys(wait: Duration) -> Result<Pressed> {
    let mut pressed = Pressed::Nothing;
    let mut wait = wait;
    let remedy = "cannot read the keyboard: use --plain";
    while event::poll(wait).context(remedy)? {
        wait = Duration::ZERO;
        match event::read().context(remedy)? {
            Event::Key(key) if quits(key) => return Ok(Pressed::Quit),
            Event::Resize(..) => pressed = Pressed::Resized,
            _ => {}
        }
    }
    Ok(pressed)
}

fn quits(key: KeyEvent) -> bool {
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    key.kind == KeyEventKind::Press
        && match key.code {
            KeyCode::Char('q') | KeyCode::Esc => true,
            KeyCode::Char('c') => control,
            _ => false,
        }
}

/// Reads the stream to its end without a screen, handing every line to `on_line`.
pub fn listen(
    stream: &Stream,
    watch: &mut Watch,
    stop: &AtomicBool,
    mut on_line: impl FnMut(&Line) -> io::Result<()>,
) -> Result<End> {
    loop {
        match stream.lines.recv_timeout(BEAT) {
            Ok(line) => {
                let line = Line::parse(&line.map_err(|reason| stream.failure(reason))?);
                match on_line(&line) {
                    // The reader may stop reading.
                    Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                        return Ok(End::Quit);
                    }
                    result => result.context("cannot write")?,
                }
                watch.push(line);
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Ok(End::Stream),
        }
        if stop.load(Ordering::Relaxed) {
            return Ok(End::Quit);
        }
    }
}
