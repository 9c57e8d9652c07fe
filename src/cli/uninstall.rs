//! `trellis uninstall`: names what trellis put on this machine (hooks, home, demos), and with `--yes` takes it away.
//! How each is removed is known where it is made: `agent::hooks`, `store::leave`.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{Failure, Named, out};
use crate::agent::hooks::Settings;
use crate::agent::scripted::home as demo;
use crate::boot::{self, Ground, Place};
use crate::clock;
use crate::model::ids::Agent;
use crate::paths::{AgentRoots, Home, own_program};
use crate::store::leave::{self, Content};
use crate::store::lock::Kind;

/// Names it; `yes`: removes it. Of a home that was named nothing but itself is meant: no demo, no hook.
///
/// # Errors
/// Something drives, the home is none of trellis's or holds more than that, or something cannot be read or removed.
pub fn uninstall(place: &Named<'_>, yes: bool, as_json: bool) -> Result<(), Failure> {
    let (ground, _) = Ground::at_any_rate(place)?;
    let alone = place.home.is_some();
    let homes = homes(&ground, alone)?;
    let (settings, unclear) = if alone { (Vec::new(), Vec::new()) } else { settings(&ground) };
    let last = if as_json {
        Last::Json(value(&ground.home, &settings, &unclear, &homes))
    } else {
        tell(&ground.home, &settings, &unclear, &homes)?;
        Last::Line { alone }
    };
    if settings.is_empty() && unclear.is_empty() && homes.is_empty() {
        let nothing = format!("there is no home of trellis in {}", show(ground.home.root()));
        return last.tell(false, if alone { &nothing } else { "there is nothing of trellis here but the program" });
    }
    // Nothing is touched before all of it was looked at.
    let driven = homes.iter().find_map(|(home, _)| boot::refuse_if_driven(home).err());
    match driven {
        Some(driven) if yes => return Err(driven),
        Some(driven) => return last.plainly(&format!("nothing was removed: {}", driven.message)),
        None if yes => {}
        None => {
            let command = ground.home.command("uninstall --yes");
            return last.plainly(&format!("nothing was removed: `{command}` removes it"));
        }
    }
    let stamp = clock::now().strftime("%Y%m%d-%H%M%S").to_string();
    for settings in &settings {
        settings.leave(&stamp).map_err(|error| Failure::refused(error.to_string()))?;
    }
    let mut stays = Vec::new();
    for (home, content) in &homes {
        // Held until it is gone: nobody begins to drive what is being removed.
        let Place::Ours(_lock) = Place::take(home, Kind::Foreground)? else {
            return Err(busy(home));
        };
        // The lock's file may be new.
        let content = leave::look(home.root(), also(home)).ok().flatten().unwrap_or_else(|| content.clone());
        let gone = leave::remove(home.root(), &content);
        let gone =
            gone.map_err(|error| Failure::refused(format!("can't remove all of {}: {error}", show(home.root()))))?;
        if !gone {
            stays.push(show(home.root()));
        }
    }
    let rest = if stays.is_empty() {
        String::new()
    } else {
        format!("; {} stays with what is not trellis's", stays.join(", "))
    };
    last.tell(true, &format!("removed{rest}{}", if alone { "" } else { "; what is left is the program" }))?;
    if unclear.is_empty() { Ok(()) } else { Err(Failure::refused("see above: hooks may still stand there")) }
}

/// How the command ends.
enum Last {
    /// With a line; `alone`: of a home that was named nothing is said of the rest.
    Line { alone: bool },
    /// With everything in one object.
    Json(Value),
}

impl Last {
    /// Whether it was removed, and what is to be said. The program cannot know who put it there.
    fn tell(self, removed: bool, words: &str) -> Result<(), Failure> {
        let Self::Line { alone } = self else { return self.object(removed, words) };
        if alone {
            return out::line(&out::plain(&format!("{words}; `trellis uninstall` names what else is here")));
        }
        let own = own_program().map(|path| show(&path)).unwrap_or_default();
        out::line(&out::plain(&format!(
            "{words}, {own}: remove it as you installed it (`cargo uninstall trellis`, your package manager, `rm`)"
        )))
    }

    /// That nothing was removed, and why.
    fn plainly(self, words: &str) -> Result<(), Failure> {
        match self {
            Self::Line { .. } => out::line(&out::plain(words)),
            Self::Json(_) => self.object(false, words),
        }
    }

    fn object(self, removed: bool, words: &str) -> Result<(), Failure> {
        let Self::Json(mut found) = self else { return Ok(()) };
        if let Some(found) = found.as_object_mut() {
            found.insert("removed".to_owned(), removed.into());
            found.insert("says".to_owned(), words.into());
        }
        out::json(&found)
    }
}

fn show(path: &Path) -> String {
    path.display().to_string()
}

/// What a demo's home holds beside the rest.
fn also(home: &Home) -> &'static [&'static str] {
    if demo::is_one(home.root()) { &demo::FOLDERS } else { &[] }
}

/// The home that is meant and the demos below the temporary folder, as far as they are there; `alone`: it was named, and
/// no other is meant.
fn homes(ground: &Ground, alone: bool) -> Result<Vec<(Home, Content)>, Failure> {
    let mut homes = Vec::new();
    let root = ground.home.root();
    let refused = |why: &str| Failure::refused(format!("{} is left alone: {why}", show(root)));
    if let Some(content) = leave::look(root, also(&ground.home)).map_err(|error| refused(&error.to_string()))? {
        if let Some(held) = held_by(ground) {
            return Err(refused(&format!("{} lies in it", show(&held))));
        }
        if !content.is_home && !content.own.is_empty() {
            return Err(refused("it is no home of trellis"));
        }
        homes.extend(content.is_home.then(|| (ground.home.clone(), content)));
    }
    let demos = if alone { Vec::new() } else { demo::made_below(&std::env::temp_dir()) };
    for home in demos.into_iter().filter(|path| path != root).map(Home::at) {
        let content = leave::look(home.root(), also(&home));
        homes.extend(content.ok().flatten().map(|content| (home, content)));
    }
    Ok(homes)
}

/// A person's own folder, or an agent's, that is the home or lies in it.
fn held_by(ground: &Ground) -> Option<PathBuf> {
    let whole = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let root = whole(ground.home.root());
    let agents = agent_roots(ground).into_iter().flat_map(|roots| [roots.claude, roots.codex]);
    let theirs = agents.chain(ground.environment.user_home.clone());
    let is_demo = demo::is_one(&root);
    let own = |path: &PathBuf| is_demo && demo::FOLDERS.iter().any(|name| path.starts_with(root.join(name)));
    theirs.map(|path| whole(&path)).find(|path| path.starts_with(&root) && !own(path))
}

/// Where the agents' settings are: as the home says, and as everywhere else.
fn agent_roots(ground: &Ground) -> Vec<AgentRoots> {
    let usual = AgentRoots::resolve(&ground.home, &ground.environment, None, None);
    if usual == ground.roots { vec![usual] } else { vec![usual, ground.roots.clone()] }
}

/// The settings with something of trellis in or beside them; and those of which nobody can tell, with the reason.
fn settings(ground: &Ground) -> (Vec<Settings>, Vec<String>) {
    let (mut found, mut unclear): (Vec<Settings>, Vec<String>) = (Vec::new(), Vec::new());
    for (roots, agent) in agent_roots(ground).iter().flat_map(|roots| [(roots, Agent::Claude), (roots, Agent::Codex)]) {
        let read = Settings::read(&roots.hooks(agent), agent);
        match read.and_then(|settings| Ok((settings.installed()?.len(), settings))) {
            Ok((ours, settings)) if ours > 0 || !settings.copies().is_empty() => {
                if found.iter().all(|one| one.path != settings.path) {
                    found.push(settings);
                }
            }
            Ok(_) => {}
            Err(error) => unclear.push(error.to_string()),
        }
    }
    (found, unclear)
}

fn busy(home: &Home) -> Failure {
    Failure::refused(format!("another trellis has just begun to drive {}; end it first", show(home.root())))
}

fn tell(meant: &Home, settings: &[Settings], unclear: &[String], homes: &[(Home, Content)]) -> Result<(), Failure> {
    for settings in settings {
        let hooks = settings.installed().map_or(0, |ours| ours.len());
        out::line(&out::plain(&format!("hooks  {}: {hooks} entries of trellis", show(&settings.path))))?;
        for copy in settings.copies() {
            out::line(&out::plain(&format!("       {}: a copy that trellis kept", show(&copy))))?;
        }
    }
    for problem in unclear {
        out::line(&out::plain(&format!("hooks  can't tell, look yourself: {problem}")))?;
    }
    for (home, content) in homes {
        let kind = if home == meant { "home " } else { "demo " };
        let used = if boot::refuse_if_driven(home).is_err() { ": in use" } else { "" };
        out::line(&out::plain(&format!("{kind}  {}{used}", show(home.root()))))?;
        for path in &content.own {
            out::line(&out::plain(&format!("       {}", show(path))))?;
        }
        for path in &content.strange {
            out::line(&out::plain(&format!("       {} is not trellis's and stays", show(path))))?;
        }
    }
    Ok(())
}

/// The same as JSON.
fn value(meant: &Home, settings: &[Settings], unclear: &[String], homes: &[(Home, Content)]) -> Value {
    let paths = |paths: &[PathBuf]| paths.iter().map(|path| show(path)).collect::<Vec<_>>();
    let hooks = settings.iter().map(|settings| {
        let entries = settings.installed().map_or(0, |ours| ours.len());
        json!({"file": show(&settings.path), "entries": entries, "copies": paths(&settings.copies())})
    });
    let homes = homes.iter().map(|(home, content)| {
        json!({
            "home": show(home.root()), "demo": home != meant, "in_use": boot::refuse_if_driven(home).is_err(),
            "own": paths(&content.own), "stays": paths(&content.strange),
        })
    });
    json!({"hooks": hooks.collect::<Vec<_>>(), "unclear": unclear, "homes": homes.collect::<Vec<_>>()})
}
