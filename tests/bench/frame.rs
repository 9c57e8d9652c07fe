//! Frames of 200 × 60 cells in memory: a change of one line and its bytes, and scrolling at 1,000 and 1,000,000 messages,
//! beside an empty draw. Drawn as the screen does: into a buffer, compared, and only what differs written.

use std::io::{self, Write};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use std::{cell::Cell, hint::black_box};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::{Terminal, TerminalOptions, Viewport};
use trellis::model::conversation::{Item, ItemKind};
use trellis::model::ids::{Agent, MessageId, Role, SessionId, SessionRef};
use trellis::model::session::SessionState;
use trellis::projection::{DriverFact, Projection, SessionView, Thread, ThreadEntry, ThreadKind};
use trellis::ui::app::{App, Msg};
use trellis::ui::draw;
use trellis::ui::keymap::Keymap;
use trellis::ui::terminal::cells::Cells;
use trellis::ui::theme::{Symbols, Theme};

use crate::Plan;
use crate::gauge;
use crate::pty::SIZE;

const ROUNDS: usize = 301;

/// Counts what is written.
#[derive(Clone, Default)]
struct Counter(Rc<Cell<usize>>);

impl Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.set(self.0.get() + bytes.len());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn area() -> Rect {
    Rect { x: 0, y: 0, width: SIZE.0, height: SIZE.1 }
}

fn terminal() -> (Terminal<Cells<Counter>>, Counter) {
    let counter = Counter::default();
    let options = TerminalOptions { viewport: Viewport::Fixed(area()) };
    (Terminal::with_options(Cells::new(counter.clone()), options).unwrap(), counter)
}

fn now() -> Timestamp {
    "2026-03-14T14:21:12Z".parse().unwrap()
}

fn session() -> SessionRef {
    SessionRef { agent: Agent::Claude, worktree: "/home/dev/shop".to_owned(), session_id: SessionId::from("s") }
}

fn view() -> SessionView {
    SessionView {
        session: session(),
        title: "The newest".into(),
        state: SessionState::Idle,
        fact: trellis::model::session::StateFact::default(),
        active_at: Some(now()),
        transport: None,
        place: "%1".to_owned(),
        live: true,
        used_by: None,
        put_away: false,
        branch: None,
        last_words: "".into(),
        path: "".into(),
        agent: Agent::Claude,
        launch: None,
    }
}

fn said(n: usize, text: &Arc<str>) -> ThreadEntry {
    let kind = ItemKind::Text { message_id: MessageId::new(format!("m{n}")), text: Arc::clone(text) };
    let item = Item { offset: n as u64, at: Some(now()), kind };
    let role = if n.is_multiple_of(2) { Role::Implementer } else { Role::Reviewer };
    ThreadEntry { at: Some(now()), kind: ThreadKind::Said { role, label: "claude".to_owned(), item } }
}

fn thread(count: usize) -> Thread {
    let text = |n: usize| {
        format!("Message {n}: the **total** is rounded once, after tax.\n\n1. `src/a.rs:{n}` 語\n2. checked\n")
    };
    let texts: Vec<Arc<str>> = (0..count.min(1_000)).map(|n| text(n).into()).collect();
    let entries = (0..count).map(|n| said(n, &texts[n % texts.len()])).collect();
    Thread { session: Some(session().key()), entries, ..Thread::default() }
}

struct Rig {
    app: App,
    theme: Theme,
    terminal: Terminal<Cells<Counter>>,
    counter: Counter,
    shown: Buffer,
}

impl Rig {
    fn new(thread: &Arc<Thread>) -> Self {
        let app = App::new(projection(thread), Keymap::standard().unwrap(), now(), TimeZone::UTC, SIZE);
        let (terminal, counter) = terminal();
        let mut rig = Self { app, theme: Theme::standard(false), terminal, counter, shown: Buffer::empty(area()) };
        rig.press("2");
        rig.draw();
        rig.press("Enter");
        rig.app.update(Msg::Changed(projection(thread)), now());
        rig.draw();
        rig
    }

    fn press(&mut self, keys: &str) {
        for key in keys.split_whitespace() {
            self.app.update(Msg::Key(key.parse().unwrap()), now());
        }
    }

    fn draw(&mut self) {
        let mut buffer = Buffer::empty(area());
        let _ = draw::frame(&mut self.app, &self.theme, Symbols::Unicode, &mut buffer);
        if buffer != self.shown {
            self.terminal.draw(|target| target.buffer_mut().content.clone_from(&buffer.content)).unwrap();
            self.shown = buffer;
        }
        self.app.frame_drawn();
    }
}

fn projection(thread: &Arc<Thread>) -> Arc<Projection> {
    let sessions = vec![view()].into();
    Arc::new(Projection {
        driver: DriverFact::Here,
        sessions,
        shown: Some(Arc::clone(thread)),
        ..Projection::default()
    })
}

pub fn run(_: &Plan) {
    let (mut bare, _counter) = terminal();
    let empty = gauge::median(ROUNDS, || {
        bare.draw(|_| {}).unwrap();
    });
    gauge::note("an empty draw of 200 × 60", &gauge::show(empty));
    for count in [1_000, 1_000_000] {
        let shown = Arc::new(thread(count));
        let mut rig = Rig::new(&shown);
        let name = format!("{count} messages: ");
        let (mut times, mut bytes) = (Vec::new(), Vec::new());
        let mut grown = (*shown).clone();
        for n in 0..ROUNDS {
            let words: Arc<str> = format!("{}", char::from(b'A' + (n % 26) as u8)).repeat(20).into();
            grown.entries.truncate(count);
            grown.entries.push(said(count, &words));
            let next = projection(&Arc::new(grown.clone()));
            let before = rig.counter.0.get();
            times.push(
                gauge::timed(|| {
                    rig.app.update(Msg::Changed(next), now());
                    rig.draw();
                })
                .0,
            );
            bytes.push(rig.counter.0.get() - before);
        }
        bytes.sort_unstable();
        gauge::beside(&format!("{name}one line changes | an empty draw"), gauge::at(&mut times, 0.5), empty, 6.0);
        gauge::at_most(&format!("{name}its bytes, median"), bytes[bytes.len() / 2] as f64, "B", 100.0);
        let mut scrolls: Vec<Duration> = Vec::new();
        for n in 0..ROUNDS {
            let key = if n / 20 % 2 == 0 { "PgUp" } else { "PgDn" };
            scrolls.push(
                gauge::timed(|| {
                    rig.press(key);
                    rig.draw();
                })
                .0,
            );
        }
        let p99 = gauge::at(&mut scrolls, 0.99);
        gauge::at_most(&format!("{name}a page scrolled, p99"), p99.as_secs_f64() * 1e3, "ms", 4.0);
        black_box(&rig.shown);
    }
}
