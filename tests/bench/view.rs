//! How long the conversation view takes: each operation is one update and one frame, with 1,000 and 100,000 messages and
//! with one message of 5 MB, beside a frame that shows nothing. `cargo bench --bench view`.

#![expect(clippy::disallowed_methods, reason = "a bench is about the clock")]
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a bench prints, and may fail")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use trellis::machine::Wait;
use trellis::model::conversation::{Item, ItemKind};
use trellis::model::ids::{Agent, MessageId, RecordKey, Role, RunId, SessionId, SessionRef};
use trellis::model::outbox::{EntryState, Purpose};
use trellis::model::session::SessionState;
use trellis::projection::{
    DriverFact, Projection, RunView, Settings, SideView, Standing, Thread, ThreadEntry, ThreadKind,
};
use trellis::ui::app::{App, Msg};
use trellis::ui::draw;
use trellis::ui::keymap::Keymap;
use trellis::ui::theme::{Symbols, Theme};

const SIZE: (u16, u16) = (200, 60);
const ROUNDS: usize = 15;

fn now() -> Timestamp {
    "2026-03-14T14:21:12Z".parse().unwrap()
}

fn run() -> RunView {
    let side = |agent: Agent| SideView {
        session: SessionRef { agent, worktree: "/home/dev/shop".to_owned(), session_id: SessionId::from("s") },
        label: agent.as_str().to_owned(),
        state: SessionState::Idle,
        place: "%1".to_owned(),
        transport: None,
    };
    RunView {
        key: RecordKey::Run(RunId::from("run")),
        revision: 1,
        name: "shop".to_owned(),
        given_name: String::new(),
        standing: Standing::Going,
        state_word: "going".to_owned(),
        since: now(),
        sentence: "codex reviews".to_owned(),
        wait: Wait::default(),
        stage: None,
        phase: Some(1),
        phases_expected: None,
        relays: 0,
        max_relays: 10,
        phases: Vec::new(),
        relay_list: Vec::new(),
        reviews: Vec::new(),
        open_points: Vec::new(),
        implementer: side(Agent::Claude),
        reviewer: side(Agent::Codex),
        banner: None,
        look_first: None,
        delivery: None,
        impossible: Vec::new(),
        phase_asked: false,
        first_wait: false,
        unreviewed: false,
        read_only: None,
        settings: Settings::Run(Box::default()),
        created_at: now(),
        stopped_at: None,
        stop_words: String::new(),
    }
}

/// Markdown as agents write it, about 900 bytes, different in each message.
fn message(n: usize) -> String {
    format!(
        "Message {n}: the **total** of cart {n} is rounded once, after tax.\n\n\
         1. `src/checkout.rs:{n}` reads the price rules and applies them in order; the tests for empty carts pass, and \
         those for 語 names and for discounts do as well\n2. the log line of a failed charge holds no card number\n   - \
         checked with `cargo test checkout_{n}`\n\n```rust\nlet total = round(sum(cart, {n}) * (1.0 + tax)); // once, and \
         this line is longer than the column\nassert_eq!(total, expected);\n```\n\n| rule | before | after |\n|---|--:|--:|\n\
         | discount | {n} | {n} |\n| tax | 19 | 19 |\n\nEverything else is as it was, see docs/prices.md for the order of \
         the columns, which matters to the importer.\n"
    )
}

fn said(n: usize, text: &str) -> ThreadEntry {
    let role = if n.is_multiple_of(2) { Role::Implementer } else { Role::Reviewer };
    let label = if n.is_multiple_of(2) { "claude" } else { "codex" }.to_owned();
    let kind = ItemKind::Text { message_id: MessageId::new(format!("m{n}")), text: text.into() };
    let item = Item { offset: n as u64, at: Some(now()), kind };
    ThreadEntry { at: Some(now()), kind: ThreadKind::Said { role, label, item } }
}

fn other(n: usize) -> Option<ThreadEntry> {
    let kind = match n % 100 {
        0 => ThreadKind::Phase { n: u32::try_from(n / 100).unwrap(), summary: "A phase".to_owned() },
        50 => ThreadKind::Relay {
            n: Some(u32::try_from(n / 100).unwrap()),
            purpose: Purpose::ToReviewer,
            what: format!("relay {} to codex", n / 100),
            to: Role::Reviewer,
            label: "codex".to_owned(),
            sent_at: Some(now()),
            seen_at: Some(now()),
            state: EntryState::Delivered,
            edited: false,
            text: "".into(),
            original: None,
        },
        _ => return None,
    };
    Some(ThreadEntry { at: Some(now()), kind })
}

fn thread(texts: impl Iterator<Item = String>) -> Thread {
    let mut entries = Vec::new();
    for (n, text) in texts.enumerate() {
        entries.extend(other(n));
        entries.push(said(n, &text));
    }
    Thread { record: Some(RecordKey::Run(RunId::from("run"))), entries: entries.into(), ..Thread::default() }
}

fn projection(thread: Option<Arc<Thread>>) -> Arc<Projection> {
    Arc::new(Projection { driver: DriverFact::Here, runs: vec![run()].into(), shown: thread, ..Projection::default() })
}

struct Rig {
    app: App,
    buffer: Buffer,
    theme: Theme,
}

impl Rig {
    fn new(projection: Arc<Projection>) -> Self {
        let app = App::new(projection, Keymap::standard().unwrap(), now(), TimeZone::UTC, SIZE);
        let buffer = Buffer::empty(Rect { x: 0, y: 0, width: SIZE.0, height: SIZE.1 });
        Self { app, buffer, theme: Theme::standard(false) }
    }

    fn draw(&mut self) {
        let _ = draw::frame(&mut self.app, &self.theme, Symbols::Unicode, &mut self.buffer);
        self.app.frame_drawn();
    }

    fn press(&mut self, keys: &str) {
        for key in keys.split_whitespace() {
            self.app.update(Msg::Key(key.parse().unwrap()), now());
        }
    }

    /// Until a search has come to its end.
    fn settle(&mut self) {
        while self.app.talk.search.is_busy() {
            self.app.update(Msg::Woken, now());
        }
    }
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// The median of one update and one frame; `ready` is not measured.
fn measure(rig: &mut Rig, ready: impl Fn(&mut Rig), act: impl Fn(&mut Rig)) -> Duration {
    let times = (0..ROUNDS).map(|_| {
        ready(rig);
        let begun = Instant::now();
        act(rig);
        rig.draw();
        begun.elapsed()
    });
    median(times.collect())
}

fn say(name: &str, took: Duration, empty: Duration) {
    let ratio = took.as_secs_f64() / empty.as_secs_f64();
    println!("{name:<44} {:>9.3} ms {ratio:>8.1}x", took.as_secs_f64() * 1_000.0);
}

fn operations(name: &str, thread: &Arc<Thread>, empty: Duration) {
    let mut rig = Rig::new(projection(Some(Arc::clone(thread))));
    rig.app.update(Msg::Woken, now());
    rig.press("Enter");
    let shown = projection(Some(Arc::clone(thread)));
    rig.app.update(Msg::Changed(shown), now());
    rig.draw();
    let middle = |rig: &mut Rig| {
        rig.press("G");
        rig.draw();
        rig.press("[ [ [ { {");
        rig.draw();
    };
    let begin = |rig: &mut Rig| {
        rig.press("g");
        rig.draw();
    };
    let keys: [(&str, &str); 8] = [
        ("End", "G"),
        ("PageUp", "PgUp"),
        ("PageDown", "PgDn"),
        ("Home", "g"),
        ("previous phase [", "["),
        ("next phase ]", "]"),
        ("previous relay {", "{"),
        ("next relay }", "}"),
    ];
    for (what, keys) in keys {
        // Each time from where the last one led, so that what is drawn was not drawn before.
        middle(&mut rig);
        say(&format!("{name}: {what}"), measure(&mut rig, |_| {}, |rig| rig.press(keys)), empty);
    }
    say(&format!("{name}: End from the first line"), measure(&mut rig, begin, |rig| rig.press("G")), empty);
    let typed = |rig: &mut Rig| {
        middle(rig);
        rig.press("/ Ctrl-u");
        for letter in "message 7".chars() {
            let key = if letter == ' ' { "Space".to_owned() } else { letter.to_string() };
            rig.app.update(Msg::Key(key.parse().unwrap()), now());
        }
        rig.draw();
    };
    say(&format!("{name}: search, first match"), measure(&mut rig, typed, |rig| rig.press("Enter")), empty);
    rig.press("Enter");
    rig.settle();
    say(&format!("{name}: previous match N"), measure(&mut rig, |_| {}, |rig| rig.press("N")), empty);
    say(&format!("{name}: next match n"), measure(&mut rig, |_| {}, |rig| rig.press("n")), empty);
    rig.press("/ Ctrl-u Esc");
    let mut longer = (**thread).clone();
    longer.entries.push(said(1, "one more message"));
    let longer = projection(Some(Arc::new(longer)));
    let again = projection(Some(Arc::clone(thread)));
    let took = measure(
        &mut rig,
        |rig| {
            rig.app.update(Msg::Changed(Arc::clone(&again)), now());
            rig.press("G");
            rig.draw();
        },
        |rig| {
            rig.app.update(Msg::Changed(Arc::clone(&longer)), now());
        },
    );
    say(&format!("{name}: one more message"), took, empty);
    let narrow = |rig: &mut Rig| {
        middle(rig);
        rig.app.size = (60, 24);
        rig.buffer = Buffer::empty(Rect { x: 0, y: 0, width: 60, height: 24 });
        rig.draw();
    };
    let took = measure(&mut rig, narrow, |rig| {
        rig.app.update(Msg::Resize(SIZE.0, SIZE.1), now());
        rig.buffer = Buffer::empty(Rect { x: 0, y: 0, width: SIZE.0, height: SIZE.1 });
    });
    say(&format!("{name}: another size"), took, empty);
}

fn main() {
    let mut rig = Rig::new(Arc::new(Projection::default()));
    rig.draw();
    let empty = measure(&mut rig, |_| {}, |_| {});
    println!("{:<44} {:>12} {:>9}", "operation: update and frame, 200 x 60", "median", "empty");
    say("a frame that shows nothing", empty, empty);
    for count in [1_000, 100_000] {
        let thread = Arc::new(thread((0..count).map(message)));
        operations(&format!("{count} messages"), &thread, empty);
    }
    let huge: String = (0..7_500).map(message).collect();
    println!("one message of {} bytes", huge.len());
    let thread = Arc::new(thread([huge].into_iter()));
    let opened = (0..ROUNDS).map(|_| {
        let mut rig = Rig::new(projection(None));
        rig.press("Enter");
        rig.draw();
        let begun = Instant::now();
        rig.app.update(Msg::Changed(projection(Some(Arc::clone(&thread)))), now());
        rig.draw();
        begun.elapsed()
    });
    say("5 MB: open", median(opened.collect()), empty);
    operations("5 MB", &thread, empty);
}
