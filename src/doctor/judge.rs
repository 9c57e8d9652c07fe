//! From facts to findings. The order is that of the way of a message: tmux, programs, transcripts, home, settings.

use super::facts::{DriverProcess, Facts, HomeFact, ProgramFact, RootFact, ServerFact};
use super::versions::{TMUX_OLDEST, TMUX_TRIED, TRIED, is_older, version_in};
use super::{Finding, Sentence};

/// With less room than this a record and its texts may not be kept.
const LITTLE_ROOM: u64 = 16 << 20;
/// Watch instances that should be left for trellis itself.
const FEW_INSTANCES: u64 = 4;

fn say(words: impl Into<String>) -> Sentence {
    Sentence::new(words)
}

/// Judges all of it.
#[must_use]
pub fn judge(facts: &Facts) -> Vec<Finding> {
    let mut findings = Vec::new();
    findings.extend(facts.tmux.as_ref().map(tmux));
    findings.extend(facts.servers.iter().map(server));
    // The likeliest comes first: it is the one that shows trellis, if one does.
    findings.extend(facts.servers.first().filter(|_| facts.inside_tmux).into_iter().flat_map(options));
    findings.extend(programs(facts));
    findings.extend(facts.roots.iter().flat_map(root));
    findings.extend(facts.signs.iter().map(|(path, why)| {
        let says = say("claude's status files cannot be read at ").path(path).then(": ").own("reason", why);
        let advice = "let this user read that folder: without them nobody can tell what a session of claude does";
        Finding::stops("sessions", says, say(advice))
    }));
    findings.extend(live(facts));
    findings.extend(watching(facts));
    findings.extend(home(&facts.home));
    findings.extend(facts.absent.iter().map(|(run, side)| {
        let says = say("no process of ")
            .own("session", side.to_string())
            .then(" is running; run ")
            .own("run", run)
            .then(" needs it");
        Finding::stops("run", says, say("open the dashboard and press b there, or resume it in its pane"))
    }));
    findings.extend(facts.unreadable.iter().map(|(file, why)| {
        let says = say("").path(file).then(" cannot be read: ").own("reason", why);
        Finding::stops("settings", says, say("let this user read it, or move it away: no command goes without it"))
    }));
    findings.extend(facts.settings.iter().map(|(file, problem)| {
        let says = say("").path(file).then(": ").own("problem", problem);
        Finding::note("settings", says, say("mend it; until then the default counts"))
    }));
    if !facts.utf8 {
        let says = say("this locale shows no signs beyond ASCII: the screens are drawn with plain ones");
        findings.push(Finding::note("terminal", says, say("set LANG to a UTF-8 locale, such as C.UTF-8")));
    }
    findings
}

fn tmux(said: &Result<String, String>) -> Finding {
    let version = match said {
        Ok(said) => version_in(said),
        Err(why) => {
            let says = say("tmux cannot be run: ").own("reason", why);
            let advice = format!(
                "install tmux {TMUX_OLDEST} or newer; without it trellis reaches only sessions that it runs itself \
                 (headless) and those you paste into by hand"
            );
            return Finding::stops("tmux", says, say(advice));
        }
    };
    match version {
        None => Finding::note(
            "tmux",
            say("tmux does not tell a version that can be compared: ")
                .own("answer", said.as_deref().unwrap_or_default()),
            say(format!("trellis was tried with {TMUX_TRIED}")),
        ),
        Some(version) if is_older(version, TMUX_OLDEST) => Finding::stops(
            "tmux",
            say(format!("tmux {version} is too old")),
            say(format!("install {TMUX_OLDEST} or newer; trellis was tried with {TMUX_TRIED}")),
        ),
        Some(version) if version == TMUX_TRIED => Finding::well("tmux", say(format!("tmux {version}"))),
        Some(version) => Finding::well("tmux", say(format!("tmux {version} (tried with {TMUX_TRIED})"))),
    }
}

fn server(server: &ServerFact) -> Finding {
    let panes = count(server.panes, "pane");
    Finding::well("tmux", say("a server with ").then(panes).then(" answers at ").path(&server.socket))
}

/// What the server around trellis does to its copies and notifications.
fn options(server: &ServerFact) -> Vec<Finding> {
    let option = |name: &str| server.options.get(name).map(String::as_str);
    let about = |words: &str| say("the tmux server at ").path(&server.socket).then(format!(" has {words}"));
    let mut findings = Vec::new();
    if option("set-clipboard") == Some("off") {
        let advice = "set -s set-clipboard on; until then a copy reaches tmux's own buffer only";
        findings.push(Finding::note("clipboard", about("set-clipboard off"), say(advice)));
    }
    if option("bell-action") == Some("none") {
        let advice = "set -g bell-action any, or trellis's bell is not heard";
        findings.push(Finding::note("bell", about("bell-action none"), say(advice)));
    }
    if option("monitor-bell") == Some("off") {
        let advice = "set -gw monitor-bell on, or a bell in a window behind is not shown";
        findings.push(Finding::note("bell", about("monitor-bell off"), say(advice)));
    }
    if option("allow-passthrough") == Some("off") {
        let advice = "set -g allow-passthrough on, if your terminal's own notifications are wanted; \
                      until then trellis uses tmux's messages";
        findings.push(Finding::note("notification", about("allow-passthrough off"), say(advice)));
    }
    findings
}

fn programs(facts: &Facts) -> Vec<Finding> {
    // A side can be of one agent alone, so one program that is missing stops nothing.
    let none = facts.programs.iter().all(|program| program.file.is_err()) && facts.live.is_empty();
    facts.programs.iter().map(|program| judge_program(program, none)).collect()
}

fn judge_program(program: &ProgramFact, none: bool) -> Finding {
    let agent = program.agent;
    let about = match agent {
        crate::model::ids::Agent::Claude => "claude",
        crate::model::ids::Agent::Codex => "codex",
    };
    let file = match &program.file {
        Ok(file) => file,
        Err(why) => {
            let says = say(format!("{agent}'s program is not found: ")).own("reason", why);
            let what = if program.named {
                format!("put a program there, or correct {agent}_program in config.toml or take it out")
            } else {
                format!("install it, or name it in config.toml ({agent}_program)")
            };
            let advice = format!("{what}; sessions that run already need nothing");
            return if none {
                Finding::stops(about, says, say(advice))
            } else {
                Finding::note(about, says, say(advice))
            };
        }
    };
    let Some(tried) = TRIED.iter().find(|tried| tried.agent == agent) else {
        return Finding::well(about, say("").path(file));
    };
    let last = format!("trellis was last tried with {} on {}", tried.version, tried.passed);
    let said = match &program.version {
        Some(Ok(said)) => said,
        Some(Err(why)) => {
            let says = say("").path(file).then(" does not tell its version: ").own("reason", why);
            return Finding::stops(about, says, say(format!("run it yourself to see why; {last}")));
        }
        None => return Finding::well(about, say("").path(file)),
    };
    let Some(version) = version_in(said) else {
        let says = say("").path(file).then(" tells a version that cannot be compared: ").own("answer", said);
        return Finding::note(about, says, say(last));
    };
    let named = |words: &str| say(format!("{agent} {version}{words} at ")).path(file);
    if is_older(version, &tried.oldest) {
        let other =
            if program.named { format!(", or name another as {agent}_program in config.toml") } else { String::new() };
        let advice = format!("update it to {} or newer ({}){other}; {last}", tried.oldest, tried.before);
        Finding::stops(about, named(" is too old"), say(advice))
    } else if is_older(&tried.version, version) {
        let advice =
            format!("{last}; if its messages are not understood, trellis doctor --report says what to tell us");
        Finding::note(about, named(" is newer than what trellis was tried with"), say(advice))
    } else if is_older(version, &tried.version) {
        Finding::note(about, named(" is older than what trellis was tried with"), say(last))
    } else {
        Finding::well(about, named(""))
    }
}

fn root(root: &RootFact) -> Vec<Finding> {
    let agent = root.agent;
    let content = match &root.content {
        Err(why) => {
            let says =
                say(format!("{agent}'s transcripts cannot be read at ")).path(&root.path).then(": ").own("reason", why);
            let advice = "let this user read that folder, or name another one in config.toml";
            return vec![Finding::stops("transcripts", says, say(advice))];
        }
        Ok(None) => {
            let says = say(format!("{agent} has no transcripts yet: ")).path(&root.path).then(" is not there");
            let advice = "it is waited for; if they are elsewhere, name the folder in config.toml";
            return vec![Finding::note("transcripts", says, say(advice))];
        }
        Ok(Some(content)) => content,
    };
    let says = say(format!("{} of {agent} at ", count(content.sessions, "session"))).path(&root.path);
    let mut findings = vec![Finding::well("transcripts", says)];
    if content.refused > 0 {
        let says = say(format!("{} of {agent} cannot be read, of the newest", count(content.refused, "transcript")));
        findings.push(Finding::note("transcripts", says, say("let this user read them, or no run goes with them")));
    }
    if !content.unknown.is_empty() {
        let all: u64 = content.unknown.values().sum();
        let mut types: Vec<(&String, &u64)> = content.unknown.iter().collect();
        types.sort_by_key(|(name, n)| (std::cmp::Reverse(**n), (*name).clone()));
        let mut says = say(format!(
            "{all} records of the newest {} are not understood: ",
            count(content.read, &format!("{agent} session"))
        ));
        for (at, (name, n)) in types.into_iter().take(8).enumerate() {
            says = says.then(if at > 0 { ", " } else { "" }).then(format!("{n} × "));
            says = if is_protocols(name) { says.then(name) } else { says.own("type", shortened(name)) };
        }
        let advice = "they are kept and passed over; a newer trellis may know them";
        findings.push(Finding::note("transcripts", says, say(advice)));
    }
    findings
}

/// Whether the type of a record looks like a word of the agent's protocol, as in `event_msg/item_completed/FileChange`:
/// parts of few short words of letters alone. What looks otherwise may be anybody's text and is left out of a report.
fn is_protocols(name: &str) -> bool {
    let is_word = |word: &str| {
        let capitals = word.chars().filter(char::is_ascii_uppercase).count();
        (1..=16).contains(&word.len()) && word.chars().all(|sign| sign.is_ascii_alphabetic()) && capitals <= 3
    };
    let is_part = |part: &str| {
        let joint = if part.contains('_') { '_' } else { '-' };
        part.len() <= 32 && part.split(joint).count() <= 4 && part.split(joint).all(is_word)
    };
    name.split('/').count() <= 3 && name.split('/').all(is_part)
}

fn shortened(name: &str) -> String {
    let mut shown: String = name.chars().take(60).collect();
    if shown.len() < name.len() {
        shown.push('…');
    }
    shown
}

fn live(facts: &Facts) -> Vec<Finding> {
    let sorted = facts.live.iter().map(|(session, place)| match place {
        Ok(place) => Finding::well(
            "session",
            say("").own("session", session.to_string()).then(" is reached: ").own("place", place),
        ),
        Err(why) => Finding::note(
            "session",
            say("nothing is typed to ").own("session", session.to_string()).then(": ").own("reason", why),
            say("it can be a side by hand: trellis copies each message and you paste it"),
        ),
    });
    sorted.collect()
}

fn watching(facts: &Facts) -> Vec<Finding> {
    let mut findings = Vec::new();
    if facts.watching.polling {
        let says = say("the system lends no watches: transcripts are looked at again and again instead");
        let advice = match facts.watching.limits {
            Some(limits) => format!(
                "raise fs.inotify.max_user_watches (now {}) or fs.inotify.max_user_instances (now {}) with sysctl",
                limits.watches, limits.instances
            ),
            None => String::from("it costs a little and loses nothing"),
        };
        findings.push(Finding::note("watching", says, say(advice)));
    } else if let Some(limits) = facts.watching.limits {
        let used = format!("{} of {} watch instances are in use", limits.instances_used, limits.instances);
        if limits.instances.saturating_sub(limits.instances_used) < FEW_INSTANCES {
            let advice = "raise fs.inotify.max_user_instances with sysctl, or trellis has to look again and again";
            findings.push(Finding::note("watching", say(used), say(advice)));
        } else {
            findings.push(Finding::well("watching", say(used)));
        }
    }
    findings
}

fn home(home: &HomeFact) -> Vec<Finding> {
    let mut findings = Vec::new();
    let here = |words: &str| say("").path(&home.path).then(words);
    match (&home.refuses, &home.lock_refuses) {
        (Some(why), _) => {
            let says = here(" cannot be written: ").own("reason", why);
            findings.push(Finding::stops("home", says, say("make it writable, or name another folder with --home")));
        }
        (None, Some(why)) => {
            let says = here(": its lock cannot be looked at: ").own("reason", why);
            findings.push(Finding::stops("home", says, say("make trellis.lock readable for this user")));
        }
        (None, None) if home.exists => findings.push(Finding::well("home", here(""))),
        (None, None) => findings.push(Finding::well("home", here(" is made when it is needed"))),
    }
    if let Some(mode) = home.wide {
        let may = if mode & 0o022 == 0 { "look" } else { "write" };
        let says = say(format!("others on this machine may {may} into ")).path(&home.path);
        let says = says.then(format!(" (mode {mode:o})"));
        let advice = say("close it: chmod 700 ").path(&home.path);
        findings.push(if mode & 0o022 == 0 {
            Finding::note("home", says, advice)
        } else {
            // A config.toml of theirs could name a program to run.
            Finding::stops("home", says, advice)
        });
    }
    if let Some(free) = home.free.filter(|free| *free < LITTLE_ROOM) {
        let says = say(format!("{} KB are free for ", free / 1024)).path(&home.path);
        findings.push(Finding::stops("home", says, say("make room: nothing is sent that cannot be saved first")));
    }
    findings.extend(home.driver.as_ref().map(driver));
    findings.extend(home.strangers.iter().map(|(pid, name)| {
        let says =
            say("another program has files of this home open: ").own("program", name).then(format!(" (pid {pid})"));
        Finding::stops(
            "home",
            says,
            say("end it, or give trellis a folder of its own with --home: two writers lose messages"),
        )
    }));
    if let Some((file, why)) = home.foreign.first() {
        let says =
            say(format!("{} only shown: ", are(home.foreign.len(), "record"))).path(file).then(": ").own("reason", why);
        findings.push(Finding::note(
            "home",
            says,
            say("they keep their bytes; the program that wrote them can go on with them"),
        ));
    }
    if home.quarantined > 0 {
        let says = say(format!("{} in ", are(home.quarantined, "file"))).path(format!("{}/quarantine", home.path));
        findings.push(Finding::note("home", says, say("they could not be read; look at them, then remove them")));
    }
    findings
}

fn driver(driver: &DriverProcess) -> Finding {
    let who = driver.pid.map_or(String::from("another trellis"), |pid| format!("trellis (pid {pid})"));
    if driver.stopped {
        let says = say(format!("{who} drives this home and is stopped: nothing goes on"));
        return Finding::stops("driver", says, say("let it go on with fg in its shell, or end it"));
    }
    Finding::well("driver", say(format!("{who} drives this home; other commands look on")))
}

fn count(n: usize, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}

fn are(n: usize, what: &str) -> String {
    format!("{} {}", count(n, what), if n == 1 { "is" } else { "are" })
}

#[cfg(test)]
#[path = "judge_tests.rs"]
mod tests;
