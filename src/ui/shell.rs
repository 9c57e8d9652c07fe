//! The loop around the screen: keys, projections, replies and times in, frames and effects out.
//! Draws only when something changed, at most 30 times a second; nothing ticks.

use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use anyhow::Context as _;
use crossterm::event::EventStream;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep_until};
use tokio_stream::StreamExt as _;

use crate::clock;
use crate::config::OnQuit;
use crate::model::command::Reply;
use crate::projection::counts::Counts;
use crate::projection::summary::Summary;
use crate::supervise::{Ends, stop_self};

use super::ahead::Ahead;
use super::app::{App, Effect, Exit, Msg, Nearby, Then};
use super::draw;
use super::engine::{Engine, Memory};
use super::input::message;
use super::keymap::Keymap;
use super::order::is_over;
use super::outside::through_program;
use super::pace::Pace;
use super::terminal::Screen;
use super::theme::{Symbols, Theme};

/// The name under which the time of the last look is remembered.
pub const LOOKED_AT: &str = "looked_at";
/// The time of the last look is kept so often at most.
const LOOKS_KEPT: SignedDuration = SignedDuration::from_mins(1);

/// Names of values that are remembered and read at the start.
const REMEMBERED: [&str; 8] = [
    super::forms::REMEMBERED,
    super::forms::PAIR_REMEMBERED,
    super::start_form::REMEMBERED,
    super::notes::DISMISSED,
    super::ahead::TRIED,
    super::look::EDITS,
    super::overlay::WRITTEN,
    "mouse",
];

/// Looks and keys, read anew after the person changed their files.
pub struct Fresh {
    /// Looks.
    pub theme: Theme,
    /// What the terminal can show.
    pub symbols: Symbols,
    /// Keys.
    pub keymap: Keymap,
    /// What leaving means while a run is going.
    pub on_quit: OnQuit,
    /// What of the files does not count.
    pub problems: Vec<String>,
}

/// How the screen is to be.
pub struct Settings {
    /// The person's time zone.
    pub zone: TimeZone,
    /// Looks.
    pub theme: Theme,
    /// What the terminal can show.
    pub symbols: Symbols,
    /// Keys.
    pub keymap: Keymap,
    /// Hints for new runs.
    pub nearby: Nearby,
    /// The person's editor, program and arguments; empty: there is none.
    pub editor: Vec<String>,
    /// The person's pager, program and arguments; empty: there is none.
    pub pager: Vec<String>,
    /// Mouse reports from the start, where nothing else is remembered.
    pub mouse: bool,
    /// What is remembered between two starts.
    pub memory: Box<dyn Memory>,
    /// The pane's title says how the runs stand.
    pub title: bool,
    /// What happened since the person last looked, for the first frame.
    pub happened: Option<Summary>,
    /// What of the person's files does not count, said with the first frame.
    pub problems: Vec<String>,
    /// Looks and keys that count from now on, where somebody watches their files.
    pub fresh: Option<mpsc::Receiver<Fresh>>,
    /// What leaving means while a run is going.
    pub on_quit: OnQuit,
    /// What comes from elsewhere than the driver.
    pub outside: Option<mpsc::Receiver<Outside>>,
}

/// Something that is to reach the person beside the frames.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outside {
    /// A signal asked to suspend.
    Suspend,
    /// A bell or a notification, for the terminal.
    Bytes(Vec<u8>),
    /// A sentence for the footer.
    Say {
        /// The sentence.
        words: String,
        /// Something did not work.
        is_error: bool,
    },
}

struct Shell<E> {
    engine: E,
    screen: Screen,
    app: App,
    settings: Settings,
    events: Option<EventStream>,
    replies: Vec<(Then, oneshot::Receiver<Reply>)>,
    handed: Option<oneshot::Receiver<Result<(), String>>>,
    happened: Option<oneshot::Receiver<Summary>>,
    /// Of the last look that was kept.
    kept_at: Option<Timestamp>,
    ahead: Option<oneshot::Receiver<Vec<Ahead>>>,
    nearby: Option<oneshot::Receiver<Nearby>>,
    pace: Pace,
    wake_at: Option<Timestamp>,
}

/// Opens the screen and stays until the person leaves it, a signal comes, or the engine is gone.
///
/// # Errors
/// When there is no terminal or it goes away.
pub async fn run<E: Engine>(engine: E, settings: Settings) -> anyhow::Result<Exit> {
    let memory: std::collections::BTreeMap<String, serde_json::Value> =
        REMEMBERED.iter().filter_map(|name| Some(((*name).to_owned(), settings.memory.remembered(name)?))).collect();
    let mouse = memory.get("mouse").and_then(serde_json::Value::as_bool).unwrap_or(settings.mouse);
    let mut ends = Ends::listen().context("listen for signals")?;
    let screen = Screen::enter(mouse, settings.title)?;
    let mut app =
        App::new(engine.projection(), settings.keymap.clone(), clock::now(), settings.zone.clone(), screen.size());
    app.nearby = settings.nearby.clone();
    app.recall(memory);
    app.mouse = mouse;
    app.on_quit = settings.on_quit;
    app.has_notes = true;
    let mut shell = Shell {
        engine,
        screen,
        app,
        settings,
        events: Some(EventStream::new()),
        replies: Vec::new(),
        handed: None,
        happened: None,
        kept_at: None,
        ahead: None,
        nearby: None,
        pace: Pace::default(),
        wake_at: None,
    };
    if let Some(happened) = shell.settings.happened.take() {
        shell.app.open_summary(happened);
    }
    let problems = std::mem::take(&mut shell.settings.problems);
    shell.tell_problems(&problems);
    shell.take(Msg::Woken)?;
    loop {
        let due = shell.pace.due(Instant::now());
        let woken = shell.wake_instant();
        let msg = tokio::select! {
            biased;
            _ = ends.next() => return Ok(shell.leave(Exit::Signalled)),
            event = next_event(&mut shell.events) => match event {
                Some(Ok(event)) => message(event),
                // The terminal is gone: what runs goes on elsewhere or at the next start.
                Some(Err(_)) | None => return Ok(shell.leave(Exit::Signalled)),
            },
            (then, reply) = next_reply(&mut shell.replies) => Some(Msg::Replied(then, reply)),
            seen = next_answer(&mut shell.ahead) => seen.map(Msg::Ahead),
            nearby = next_answer(&mut shell.nearby) => nearby.map(Msg::Nearby),
            alive = shell.engine.changed() => {
                if !alive {
                    return Ok(Exit::EngineGone);
                }
                Some(Msg::Changed(shell.engine.projection()))
            }
            fresh = next_of(&mut shell.settings.fresh) => {
                shell.look_anew(fresh);
                None
            }
            outside = next_of(&mut shell.settings.outside) => {
                match outside {
                    Outside::Suspend => shell.suspend()?,
                    Outside::Bytes(bytes) => shell.screen.write(&bytes)?,
                    Outside::Say { words, is_error } => {
                        shell.app.say(words, is_error);
                        shell.pace.changed();
                    }
                }
                None
            }
            happened = next_answer(&mut shell.happened) => happened.map(Msg::Happened),
            handed = next_answer(&mut shell.handed) => {
                let handed = handed.unwrap_or_else(|| Err("the engine is gone".to_owned()));
                if shell.handed_over(handed) {
                    return Ok(shell.leave(Exit::Background));
                }
                None
            }
            () = sleep_to(due) => {
                shell.draw()?;
                None
            }
            () = sleep_to(woken) => Some(Msg::Woken),
        };
        if let Some(msg) = msg
            && let Some(exit) = shell.take(msg)?
        {
            return Ok(shell.leave(exit));
        }
    }
}

async fn sleep_to(at: Option<Instant>) {
    match at {
        // A timer is a millisecond late, and for what is due already it is not needed.
        Some(at) if at <= Instant::now() => {}
        Some(at) => sleep_until(at).await,
        None => std::future::pending().await,
    }
}

/// The answer that is waited for, `None` when none will come; never ends while nothing is waited for.
async fn next_answer<T>(answer: &mut Option<oneshot::Receiver<T>>) -> Option<T> {
    let Some(waited) = answer else { return std::future::pending().await };
    let said = waited.await.ok();
    *answer = None;
    said
}

async fn next_event(events: &mut Option<EventStream>) -> Option<std::io::Result<crossterm::event::Event>> {
    match events {
        Some(events) => events.next().await,
        None => std::future::pending().await,
    }
}

/// The next thing that comes; never ends when nobody sends any.
async fn next_of<T>(source: &mut Option<mpsc::Receiver<T>>) -> T {
    if let Some(next) = source
        && let Some(value) = next.recv().await
    {
        return value;
    }
    *source = None;
    std::future::pending().await
}

/// The first reply that comes; never ends while none is waited for.
async fn next_reply(replies: &mut Vec<(Then, oneshot::Receiver<Reply>)>) -> (Then, Option<Reply>) {
    std::future::poll_fn(|context| {
        for (at, (then, reply)) in replies.iter_mut().enumerate() {
            if let Poll::Ready(reply) = Pin::new(reply).poll(context) {
                let then = *then;
                replies.swap_remove(at);
                return Poll::Ready((then, reply.ok()));
            }
        }
        Poll::Pending
    })
    .await
}

impl<E: Engine> Shell<E> {
    /// Takes on looks and keys.
    fn look_anew(&mut self, fresh: Fresh) {
        self.settings.theme = fresh.theme;
        self.settings.symbols = fresh.symbols;
        self.app.keymap = fresh.keymap;
        self.app.on_quit = fresh.on_quit;
        if fresh.problems.is_empty() {
            self.app.say("the changed settings count".to_owned(), false);
        }
        self.tell_problems(&fresh.problems);
        self.pace.changed();
    }

    /// Says the first; the others wait for it to be mended, or for `trellis config check`.
    fn tell_problems(&mut self, problems: &[String]) {
        let more = match problems.len() {
            0 => return,
            1 => String::new(),
            n => format!(" (and {} more: trellis config check)", n - 1),
        };
        if let Some(first) = problems.first() {
            self.app.say(format!("{first}{more}"), true);
        }
    }

    /// When something visible changes by itself.
    fn wake_instant(&self) -> Option<Instant> {
        let left = self.wake_at?.duration_since(clock::now());
        Some(Instant::now() + Duration::try_from(left).unwrap_or(Duration::ZERO))
    }

    fn draw(&mut self) -> anyhow::Result<()> {
        self.pace.drawn(Instant::now());
        self.app.now = self.app.now.max(clock::now());
        let (app, theme, symbols) = (&mut self.app, &self.settings.theme, self.settings.symbols);
        let mut wake_at = None;
        self.screen.draw(|buffer| {
            app.size = (buffer.area.width, buffer.area.height);
            let drawn = draw::frame(app, theme, symbols, buffer);
            wake_at = drawn.wake_at;
            drawn.cursor
        })?;
        self.wake_at = wake_at;
        self.app.frame_drawn();
        self.screen.set_title(&Counts::of(&self.app.projection).short())
    }

    /// Takes a message and carries out what it leads to; an exit ends the loop.
    fn take(&mut self, msg: Msg) -> anyhow::Result<Option<Exit>> {
        if matches!(msg, Msg::Woken) {
            self.wake_at = None;
        }
        self.pace.changed();
        let is_key = matches!(msg, Msg::Key(_));
        let effects = self.app.update(msg, clock::now());
        if is_key {
            self.keep_look(LOOKS_KEPT);
        }
        for effect in effects {
            if let Some(exit) = self.perform(effect)? {
                return Ok(Some(exit));
            }
        }
        Ok(None)
    }

    fn perform(&mut self, effect: Effect) -> anyhow::Result<Option<Exit>> {
        match effect {
            Effect::Send { command, then } => self.replies.push((then, self.engine.send(command))),
            Effect::LookAround => {
                // Notifications may have been tried elsewhere meanwhile.
                if let Some(tried) = self.settings.memory.remembered(super::ahead::TRIED) {
                    self.app.memory.insert(super::ahead::TRIED.to_owned(), tried);
                }
                self.nearby = Some(self.engine.look_around());
            }
            Effect::Show(what) => self.engine.show(what),
            Effect::Copy { text, what } => {
                self.screen.copy(&text)?;
                self.app.say(format!("copied {what} to the clipboard, {} characters", text.chars().count()), false);
                self.engine.copy(text);
            }
            Effect::EditOutside(text) => self.edit(&text)?,
            Effect::Page(text) => self.page(&text)?,
            Effect::LookAhead(sides) => self.ahead = Some(self.engine.look_ahead(sides)),
            Effect::GoToPane(session) => self.engine.go_to_pane(session),
            Effect::Mouse(on) => self.screen.set_mouse(on)?,
            Effect::Remember(name, value) => self.settings.memory.remember(name, value),
            Effect::Redraw => self.screen.clear()?,
            Effect::Suspend => self.suspend()?,
            Effect::Summarise(since) => self.happened = Some(self.engine.happened_since(since)),
            Effect::GoOn => self.handed = Some(self.engine.go_on_in_background()),
            Effect::TakeOver => self.engine.take_over(),
            Effect::Quit(exit) => return Ok(Some(exit)),
        }
        Ok(None)
    }

    /// Keeps when the person was last here, for the next start, unless that was kept less than so long ago.
    fn keep_look(&mut self, at_least: SignedDuration) {
        let at = self.app.looked_at;
        if self.kept_at.is_none_or(|kept| at.duration_since(kept) >= at_least) {
            self.kept_at = Some(at);
            self.settings.memory.remember(LOOKED_AT, at.to_string().into());
        }
    }

    /// The end: what the person saw is known.
    fn leave(&mut self, exit: Exit) -> Exit {
        if matches!(exit, Exit::Quit | Exit::Background) {
            // They looked until now.
            self.app.looked_at = clock::now();
        }
        self.keep_look(SignedDuration::ZERO);
        exit
    }

    /// Whether another process drives now.
    fn handed_over(&mut self, handed: Result<(), String>) -> bool {
        self.app.handing = false;
        self.pace.changed();
        match handed {
            Ok(()) => true,
            Err(why) => {
                self.app.say(why, true);
                false
            }
        }
    }

    /// Lends the terminal. Our stream of events is dropped first: merely unpolled it would still read the other's keys.
    fn lend<T>(&mut self, meanwhile: impl FnOnce() -> T) -> anyhow::Result<T> {
        self.events = None;
        let result = self.screen.lend(meanwhile);
        self.events = Some(EventStream::new());
        self.pace.changed();
        result
    }

    fn edit(&mut self, text: &str) -> anyhow::Result<()> {
        let argv = self.settings.editor.clone();
        if argv.is_empty() {
            self.app.say("set EDITOR to open a text in your editor", true);
            return Ok(());
        }
        let words = self.suspended();
        let came_back = self.lend(|| through_program(&argv, text, || tell(&words)))?;
        match came_back {
            Ok(text) => self.take(Msg::Edited(text)).map(|_| ()),
            Err(error) => self.take(Msg::Trouble(format!("{error:#}"))).map(|_| ()),
        }
    }

    fn page(&mut self, text: &str) -> anyhow::Result<()> {
        let argv =
            if self.settings.pager.is_empty() { self.settings.editor.clone() } else { self.settings.pager.clone() };
        if argv.is_empty() {
            self.app.say("set PAGER or EDITOR to open a text outside", true);
            return Ok(());
        }
        // What an agent wrote is as harmful in a pager as it is here.
        let clean = super::sanitise::clean_block(text).into_owned();
        let words = self.suspended();
        if let Err(error) = self.lend(|| through_program(&argv, &clean, || tell(&words)))? {
            self.app.say(format!("{error:#}"), true);
        }
        Ok(())
    }

    /// What a suspended trellis leaves behind for the person.
    fn suspended(&self) -> String {
        let names: Vec<String> = self
            .app
            .projection
            .runs
            .iter()
            .filter(|run| !is_over(run))
            .map(|run| super::sanitise::clean_line(&run.name).into_owned())
            .collect();
        if names.is_empty() {
            "trellis is suspended; fg brings it back".to_owned()
        } else {
            format!("trellis is suspended; not driven until fg: {}", names.join(", "))
        }
    }

    fn suspend(&mut self) -> anyhow::Result<()> {
        let words = self.suspended();
        let stopped = self.lend(|| {
            tell(&words);
            stop_self()
        })?;
        if let Err(error) = stopped {
            self.app.say(format!("suspending did not work: {error}"), true);
        }
        self.take(Msg::Woken).map(|_| ())
    }
}

/// A line on the terminal while it is not ours.
fn tell(words: &str) {
    use std::io::Write as _;
    let _ = writeln!(std::io::stdout(), "{words}");
}
