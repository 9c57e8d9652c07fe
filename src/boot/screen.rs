//! The dashboard on an engine, and one frame of it: looks, keys and memory from the home and the environment.
//! What is drawn and what a key does are the screens'.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::Value;
use tokio::sync::{mpsc, oneshot, watch};

use super::Ground;
use super::engine::Engine;
use super::tell::Seat;
use super::{background, glance, there};
use crate::agent::scripted::home::Part;
use crate::agent::{Settings as Transports, by_hand, live, tmux};
use crate::clock;
use crate::config::{Symbols as Wanted, ThemeName};
use crate::driver::handle::Handle;
use crate::failure::Failure;
use crate::model::command::{Command, Reply};
use crate::model::ids::SessionKey;
use crate::model::tempo::Tempo;
use crate::out;
use crate::paths::{Environment, Home};
use crate::projection::summary::Summary;
use crate::projection::{Projection, RunView, Shown};
use crate::small_file;
use crate::store::home_files::{Remembered, read_config};
use crate::supervise::{Supervisor, Suspends, suspend_what_is_in_front};
use crate::tell::bytes;
use crate::ui;
use crate::ui::keymap::Keymap;
use crate::ui::theme::{Symbols, THEMES, Theme};
use crate::watch::FolderWatch;

/// How long a frame waits for the home to be read.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long it waits until every session was looked at once. One that was not is shown as not looked at.
const FIRST_LOOKS: Duration = Duration::from_secs(2);

/// Calls for the person that may wait for the screen.
const CALLS: usize = 16;

/// What the screen is made of, gathered before the engine takes the ground.
pub(super) struct Looks {
    settings: ui::Settings,
    transports: Transports,
    around: ui::Nearby,
    pub(super) problems: Vec<String>,
    home: Home,
    #[cfg(debug_assertions)]
    test_panic: Option<String>,
}

impl Looks {
    /// Of a home and its surroundings. What does not count falls back, and is said.
    ///
    /// # Errors
    /// The keymap that comes with the program does not read.
    pub(super) fn of(ground: &Ground) -> Result<Self, Failure> {
        let (config, environment) = (&ground.config, &ground.environment);
        let mut problems: Vec<String> = ground.problems.iter().map(ToString::to_string).collect();
        let around = around(ground);
        let settings = ui::Settings {
            zone: TimeZone::system(),
            theme: theme(&ground.home, config.theme, environment.no_color, &mut problems),
            symbols: symbols(config.symbols, environment),
            keymap: keymap(&ground.home, &mut problems)?,
            nearby: nearby(&around, &ground.transports()),
            editor: program(environment.editor.as_deref()),
            pager: program(environment.pager.as_deref().or(Some("less"))),
            mouse: config.mouse,
            memory: Box::new(Kept { home: ground.home.clone() }),
            title: bytes::has_title(environment.term.as_deref()),
            problems: Vec::new(),
            on_quit: config.on_quit,
            happened: None,
            fresh: None,
            outside: None,
        };
        Ok(Self {
            settings,
            transports: ground.transports(),
            around,
            problems,
            home: ground.home.clone(),
            #[cfg(debug_assertions)]
            test_panic: environment.test_panic.clone(),
        })
    }
}

/// Where the screen stands. A demo's agents live in the program itself and need no pane.
fn tmux_here(ground: &Ground) -> ui::Tmux {
    let environment = &ground.environment;
    if ground.stage.is_some() {
        ui::Tmux::Unneeded
    } else if !tmux::about::is_installed(environment.path.as_deref()) {
        ui::Tmux::Missing
    } else if environment.tmux.is_none() {
        ui::Tmux::Outside
    } else {
        ui::Tmux::Inside
    }
}

impl Engine {
    /// Opens the dashboard on this thread and stays until the person leaves it.
    ///
    /// # Errors
    /// There is no terminal, or a task panicked.
    pub fn dashboard(mut self) -> Result<(), Failure> {
        let Some(mut looks) = self.looks.take() else { return Err(Failure::internal("the screen was opened twice")) };
        for problem in &looks.problems {
            tracing::warn!("{problem}");
        }
        looks.settings.problems.clone_from(&looks.problems);
        looks.settings.happened = happened(&self.home);
        let (call, calls) = mpsc::channel(CALLS);
        looks.settings.outside = Some(calls);
        self.tell(Seat::Screen(call.clone()));
        self.block_on(async { suspend_on_signal(call.clone(), &self.supervisor) });
        self.come_back(call.clone());
        looks.settings.fresh = Some(self.block_on(async { fresh_looks(&looks.home, &self.supervisor) }));
        let mut projections = self.handle.projections();
        projections.mark_unchanged();
        let driver = Driver {
            handle: self.handle.clone(),
            projections,
            transports: Arc::new(looks.transports),
            around: looks.around,
            supervisor: self.supervisor.clone(),
            home: self.home.clone(),
            tempo: self.tempo,
            call,
            #[cfg(debug_assertions)]
            test_panic: looks.test_panic,
        };
        let restore: crate::supervise::Restore = Arc::new(ui::terminal::give_back);
        let shown = self.supervisor.on_ui_thread(&restore, || self.block_on(ui::run(driver, looks.settings)));
        let home = self.home.clone();
        let finished = self.finish();
        match shown {
            Ok(Ok(ui::Exit::Background)) => {
                finished?;
                let (back, stop) = (home.command(""), home.command("drive --stop"));
                let steps = [("It goes on in the background. Back to it:", &*back), ("To end it:", &*stop)];
                let lines = ui::parting::next_steps(&steps, out::columns(std::io::stdout()));
                out::line(&lines.join("\n"))
            }
            Ok(Ok(ui::Exit::Quit)) => {
                // What was finished at the end was begun before their eyes.
                ui::Memory::remember(&mut Kept { home }, ui::LOOKED_AT, clock::now().to_string().into());
                finished
            }
            Ok(Ok(ui::Exit::Signalled | ui::Exit::EngineGone)) | Err(_) => finished,
            Ok(Err(error)) => {
                let words: Vec<String> = error.chain().map(ToString::to_string).collect();
                finished.and(Err(Failure::refused(words.join(": "))))
            }
        }
    }

    /// One frame, written, after some keys whose orders are not given. `run`: an id or its beginning; the newest without one.
    ///
    /// # Errors
    /// There is no such run, or the home was not read in time.
    pub fn frame(
        &self,
        paper: ui::Paper,
        still: ui::Still,
        keys: &[ui::key::Key],
        size: (u16, u16),
        run: Option<&str>,
    ) -> Result<String, Failure> {
        self.block_on(async {
            let projection = self.looked().await?;
            let still = match (still, run) {
                (ui::Still::Run(_), Some(id)) => ui::Still::Run(Some(Self::named(&projection, id)?.key.clone())),
                (still, _) => still,
            };
            let wanted = still.shows(keys, size, &projection, clock::now()).map_err(Failure::internal)?;
            // What is only shown has no conversation to wait for.
            let is_only_shown = |shown: &Shown| {
                projection.runs.iter().any(|run| Shown::Record(run.key.clone()) == *shown && run.read_only.is_some())
            };
            let projection = match wanted.filter(|shown| !is_only_shown(shown)) {
                None => projection,
                Some(shown) => {
                    self.handle.show(Some(shown));
                    self.settled(|projection| projection.shown.is_some()).await?
                }
            };
            ui::dump(paper, &still, keys, size, &projection, clock::now(), TimeZone::system())
                .map_err(Failure::internal)
        })
    }

    /// The run, or the pair alone, that an id, the beginning of one, or a name says.
    ///
    /// # Errors
    /// None or several.
    pub fn named<'a>(projection: &'a Projection, id: &str) -> Result<&'a RunView, Failure> {
        let runs = &projection.runs;
        if let Some(run) = runs.iter().find(|run| run.key.as_str() == id) {
            return Ok(run);
        }
        let by_id = runs.iter().filter(|run| !id.is_empty() && run.key.as_str().starts_with(id)).collect::<Vec<_>>();
        let fitting = if by_id.is_empty() { runs.iter().filter(|run| run.name == id).collect() } else { by_id };
        match fitting.as_slice() {
            [run] => Ok(*run),
            [_, _, ..] => Err(Failure::refused(format!("several runs are {id}; give one's id"))),
            [] => Err(Failure::refused(format!("there is no run {id}; trellis run list names them"))),
        }
    }

    /// The home as it stands, once its sessions were looked at or that takes too long.
    ///
    /// # Errors
    /// The home was not read in time.
    pub async fn looked(&self) -> Result<Arc<Projection>, Failure> {
        let read = self.settled(|projection| projection.at.is_some()).await?;
        let looked = self.settled(|projection| !projection.looking);
        tokio::time::timeout(FIRST_LOOKS, looked).await.unwrap_or(Ok(read))
    }

    async fn settled(&self, is_ready: impl Fn(&Projection) -> bool) -> Result<Arc<Projection>, Failure> {
        let mut projections = self.handle.projections();
        let ready = tokio::time::timeout(PATIENCE, projections.wait_for(|projection| is_ready(projection)));
        match ready.await {
            Ok(Ok(projection)) => Ok(Arc::clone(&projection)),
            _ => Err(Failure::refused("the home was not read in time; try again")),
        }
    }
}

/// `kill -TSTP` gives the terminal back before anything stops. A program that has it is suspended, and we with it.
fn suspend_on_signal(call: mpsc::Sender<ui::Outside>, supervisor: &Supervisor) {
    let mut suspends = match Suspends::listen() {
        Ok(suspends) => suspends,
        Err(error) => return tracing::warn!("can't listen to requests to suspend: {error}"),
    };
    let mut shutdown = supervisor.token();
    supervisor.spawn("suspend", async move {
        loop {
            tokio::select! {
                _ = shutdown.wait() => return,
                asked = suspends.next() => match asked {
                    None => return,
                    Some(()) if ui::terminal::is_ours() => {
                        if call.send(ui::Outside::Suspend).await.is_err() {
                            return;
                        }
                    }
                    Some(()) => {
                        if let Err(error) = suspend_what_is_in_front() {
                            tracing::warn!("can't suspend: {error}");
                        }
                    }
                },
            }
        }
    });
}

/// Watches the files of looks and keys through their folder, and reads them anew after each change.
fn fresh_looks(home: &Home, supervisor: &Supervisor) -> mpsc::Receiver<ui::Fresh> {
    let files = [home.config(), home.keymap(), home.theme()];
    let names: Vec<&str> = files.iter().filter_map(|file| file.file_name()?.to_str()).collect();
    let (mut folder, mut woken) = FolderWatch::start(home.root(), &names, supervisor);
    let (give, fresh) = mpsc::channel(1);
    let (root, shutdown) = (home.root().to_owned(), supervisor.token());
    supervisor.spawn("settings", async move {
        let mut shutdown = shutdown;
        loop {
            tokio::select! {
                _ = shutdown.wait() => return,
                heard = woken.recv() => if heard.is_none() { return },
            }
            if folder.changed().is_empty() {
                continue;
            }
            match read_looks(&root) {
                Ok(looks) => {
                    if give.send(looks).await.is_err() {
                        return;
                    }
                }
                Err(failure) => tracing::warn!("{}", failure.message),
            }
        }
    });
    fresh
}

pub(super) fn read_looks(root: &Path) -> Result<ui::Fresh, Failure> {
    let ground = Ground::find(Some(root))?;
    let mut problems: Vec<String> = ground.problems.iter().map(ToString::to_string).collect();
    let theme = theme(&ground.home, ground.config.theme, ground.environment.no_color, &mut problems);
    let symbols = symbols(ground.config.symbols, &ground.environment);
    let keymap = keymap(&ground.home, &mut problems)?;
    Ok(ui::Fresh { theme, symbols, keymap, on_quit: ground.config.on_quit, problems })
}

/// The screen's side of the driver's handle.
struct Driver {
    handle: Handle,
    projections: watch::Receiver<Arc<Projection>>,
    transports: Arc<Transports>,
    around: ui::Nearby,
    supervisor: Supervisor,
    home: Home,
    tempo: Tempo,
    /// What no reply tells reaches the person by this.
    call: mpsc::Sender<ui::Outside>,
    #[cfg(debug_assertions)]
    test_panic: Option<String>,
}

/// For tests of what a panic leaves behind.
#[cfg(debug_assertions)]
impl Driver {
    fn panic_where_a_test_wants_it(&self) {
        match self.test_panic.as_deref() {
            Some("screen") => panic_on_purpose(),
            Some("task") => self.supervisor.spawn("a test", async { panic_on_purpose() }),
            Some("thread") => {
                // No thread left is no panic, and the test says so.
                let _ = self.supervisor.thread("a test", panic_on_purpose);
            }
            _ => {}
        }
    }
}

#[cfg(debug_assertions)]
#[expect(clippy::panic, reason = "this is what the test wants to see")]
fn panic_on_purpose() {
    panic!("on purpose");
}

impl ui::Engine for Driver {
    fn projection(&self) -> Arc<Projection> {
        self.handle.projection()
    }

    async fn changed(&mut self) -> bool {
        self.projections.changed().await.is_ok()
    }

    fn send(&self, command: Command) -> oneshot::Receiver<Reply> {
        if self.handle.projection().takes_orders {
            return there::order(&self.home, command, &self.supervisor);
        }
        self.handle.order(command)
    }

    fn show(&self, what: Option<Shown>) {
        #[cfg(debug_assertions)]
        self.panic_where_a_test_wants_it();
        self.handle.show(what);
    }

    fn happened_since(&self, since: Timestamp) -> oneshot::Receiver<Summary> {
        let (answer, answered) = oneshot::channel();
        let (home, supervisor, now) = (self.home.clone(), self.supervisor.clone(), self.handle.projection());
        self.supervisor.spawn("summary", async move {
            let told = supervisor.blocking("summary", move || glance::happened(&home, since, &now)).await;
            if let Some(summary) = told {
                let _ = answer.send(summary);
            }
        });
        answered
    }

    fn go_on_in_background(&self) -> oneshot::Receiver<Result<(), String>> {
        let (answer, answered) = oneshot::channel();
        let (home, tempo, handle) = (self.home.clone(), self.tempo, self.handle.clone());
        let tmux = self.transports.tmux.named.clone();
        let mut shutdown = self.supervisor.token();
        self.supervisor.spawn("hand over", async move {
            tokio::select! {
                handed = background::hand_over(&home, tempo, tmux.as_deref(), &handle) => {
                    let _ = answer.send(handed);
                }
                // A person who quits meanwhile wants no driver to be left.
                _ = shutdown.wait() => {}
            }
        });
        answered
    }

    fn take_over(&self) {
        background::take_over(&self.home, &self.handle, self.call.clone(), &self.supervisor);
    }

    fn look_ahead(&self, sides: Vec<ui::ahead::Side>) -> oneshot::Receiver<Vec<ui::ahead::Ahead>> {
        let (tell, told) = oneshot::channel();
        let supervisor = self.supervisor.clone();
        self.supervisor.spawn("look ahead", async move {
            let seen = supervisor.blocking("look ahead", move || sides.iter().map(super::ahead::look).collect());
            if let Some(seen) = seen.await {
                // The form may be closed already.
                let _ = tell.send(seen);
            }
        });
        told
    }

    fn look_around(&self) -> oneshot::Receiver<ui::Nearby> {
        self.handle.look_around();
        let (tell, told) = oneshot::channel();
        let (around, transports, supervisor) =
            (self.around.clone(), Arc::clone(&self.transports), self.supervisor.clone());
        self.supervisor.spawn("look around", async move {
            if let Some(nearby) = supervisor.blocking("look around", move || nearby(&around, &transports)).await {
                // Who asked may have left.
                let _ = tell.send(nearby);
            }
        });
        told
    }

    fn go_to_pane(&self, session: SessionKey) {
        let transports = Arc::clone(&self.transports);
        let (supervisor, call) = (self.supervisor.clone(), self.call.clone());
        self.supervisor.spawn("go to pane", async move {
            let went = supervisor.blocking("go to pane", move || {
                let live = live::discover(&transports).into_iter().find(|live| live.session == session);
                let pane = live.ok_or_else(|| format!("{session} is not open"))?.pane?;
                pane.bring_to_front()
            });
            if let Some(Err(why)) = went.await {
                let words = format!("can't go to the pane: {why}");
                tracing::warn!("{words}");
                // The screen may be closed already.
                let _ = call.send(ui::Outside::Say { words, is_error: true }).await;
            }
        });
    }

    fn copy(&self, text: String) {
        if self.transports.tmux.inside.is_none() {
            return;
        }
        let transports = Arc::clone(&self.transports);
        let supervisor = self.supervisor.clone();
        self.supervisor.spawn("copy", async move {
            let copied = supervisor.blocking("copy", move || by_hand::copy(&text, &transports.tmux));
            if let Some(Err(why)) = copied.await {
                tracing::warn!("can't copy through tmux: {why}");
            }
        });
    }
}

/// What stays as it is around the person; a demo's home has no panes, its idle pair stands for the window.
fn around(ground: &Ground) -> ui::Nearby {
    let spare = ground.stage.iter().flat_map(|stage| &stage.parts).filter(|part| part.role.is_none());
    ui::Nearby {
        window: spare.map(Part::key).collect(),
        worktree: ground.environment.current_dir.as_deref().map(|folder| folder.display().to_string()),
        tmux: tmux_here(ground),
        demo: ground.stage.is_some(),
        as_root: ground.as_root(),
    }
}

/// The same with the sessions of the window as they are now.
fn nearby(around: &ui::Nearby, transports: &Transports) -> ui::Nearby {
    if around.tmux != ui::Tmux::Inside {
        return around.clone();
    }
    ui::Nearby { window: live::of_window(&live::discover(transports)), ..around.clone() }
}

/// `state.toml` as the screen's memory. Read anew before each change: another dashboard may have written it meanwhile.
struct Kept {
    home: Home,
}

impl ui::Memory for Kept {
    fn remembered(&self, name: &str) -> Option<Value> {
        Remembered::load(&self.home).get(name)
    }

    fn remember(&mut self, name: &str, value: Value) {
        let mut remembered = Remembered::load(&self.home);
        let kept =
            remembered.set(name, value).and_then(|()| remembered.save(&self.home).map_err(|error| error.to_string()));
        if let Err(why) = kept {
            tracing::warn!("{why}");
        }
    }
}

/// What happened since the person last looked at this home; nothing when they never did.
fn happened(home: &Home) -> Option<Summary> {
    let since = Remembered::load(home).get(ui::LOOKED_AT)?;
    Some(glance::happened(home, since.as_str()?.parse().ok()?, &glance::glance(home)))
}

/// Everything in the files of looks, keys and settings that does not count, by file, key and problem.
#[must_use]
pub fn problems(home: &Home) -> Vec<String> {
    let environment = Environment::read();
    let (config, found) = read_config(home);
    let mut problems: Vec<String> = found.iter().map(ToString::to_string).collect();
    let _ = theme(home, config.theme, environment.no_color, &mut problems);
    if let Err(failure) = keymap(home, &mut problems) {
        problems.push(failure.message);
    }
    problems
}

fn theme(home: &Home, chosen: ThemeName, no_color: bool, problems: &mut Vec<String>) -> Theme {
    let name = match chosen {
        ThemeName::Terminal => "terminal",
        ThemeName::Mono => "mono",
        ThemeName::HighContrast => "high-contrast",
        ThemeName::ColourBlind => "colour-blind",
    };
    let own = read(&home.theme(), problems);
    let own = own.map(|own| Theme::named(&own, name));
    match own {
        Some(Ok(own)) if no_color => return own.without_color(),
        Some(Ok(own)) => return own,
        Some(Err(problem)) => {
            problems.push(format!("theme.toml: {problem}; the theme that comes with trellis counts"));
        }
        None => {}
    }
    let name = if no_color { "mono" } else { name };
    Theme::named(THEMES, name).unwrap_or_else(|_| Theme::standard(no_color))
}

fn keymap(home: &Home, problems: &mut Vec<String>) -> Result<Keymap, Failure> {
    if let Some(own) = read(&home.keymap(), problems) {
        match Keymap::standard().map_err(Failure::internal)?.overlaid(&own) {
            Ok(keymap) => return Ok(keymap),
            Err(found) => problems
                .extend(found.into_iter().map(|problem| format!("keymap.toml: {problem}; the standard keys count"))),
        }
    }
    Keymap::standard().map_err(Failure::internal)
}

fn read(path: &Path, problems: &mut Vec<String>) -> Option<String> {
    match small_file::text(path) {
        Ok(text) => Some(text),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(error) => {
            problems.push(format!("can't read {}: {error}", path.display()));
            None
        }
    }
}

fn symbols(wanted: Wanted, environment: &Environment) -> Symbols {
    let plain =
        environment.term.as_deref().is_some_and(|term| matches!(term, "linux" | "dumb") || term.starts_with("vt"));
    match wanted {
        Wanted::Auto if !environment.is_utf8() => Symbols::AsciiOnly,
        Wanted::Ascii => Symbols::AsciiGlyphs,
        Wanted::Auto if plain => Symbols::AsciiGlyphs,
        Wanted::Auto | Wanted::Unicode => Symbols::Unicode,
    }
}

/// A program and its arguments, as they stand in a variable: split at blanks, never handed to a shell.
fn program(words: Option<&str>) -> Vec<String> {
    words.into_iter().flat_map(str::split_whitespace).map(str::to_owned).collect()
}
