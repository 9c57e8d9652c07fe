//! Which key means what where, read from `assets/keymap.toml` and a person's own file. Footer and help are made from it.
//! Refuses a file in which a key would mean two things on one screen. What actions do is in `update`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use serde::Deserialize;
use serde::de::IntoDeserializer as _;

use super::action::Action;
use super::key::Key;

/// The keymap that comes with the program.
pub const DEFAULT: &str = include_str!("../../assets/keymap.toml");

/// One table of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Table {
    /// Everywhere but in text fields.
    Everywhere,
    /// Of the selected or shown run.
    OfARun,
    /// The list of runs.
    Runs,
    /// One run.
    Run,
    /// The list of sessions.
    Sessions,
    /// One transcript.
    Session,
    /// The log.
    Log,
    /// A relay that waits for a look.
    LookFirst,
    /// A multi-line editor.
    Editor,
    /// A form.
    Form,
    /// The palette and the filter line.
    Palette,
    /// What happened since the person looked.
    Summary,
    /// The keys of a screen.
    Help,
    /// Everything that lies over a screen, text fields too; to a question each key is an answer.
    Dialogs,
}

impl Table {
    /// What people call it.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Everywhere => "everywhere",
            Self::OfARun => "a run",
            Self::Runs => "runs",
            Self::Run => "run",
            Self::Sessions => "sessions",
            Self::Session => "session",
            Self::Log => "log",
            Self::LookFirst => "look first",
            Self::Editor => "editor",
            Self::Form => "form",
            Self::Palette => "palette, filter line",
            Self::Summary => "since you looked",
            Self::Help => "help",
            Self::Dialogs => "dialogs and text fields",
        }
    }
}

/// Where a key is pressed: which tables count, the nearest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are those of the screens")]
pub enum Place {
    Runs,
    Run,
    Sessions,
    Session,
    Log,
    LookFirst,
    Editor,
    Form,
    Palette,
    Summary,
    Help,
}

impl Place {
    /// All places.
    pub const ALL: &'static [Self] = &[
        Self::Runs,
        Self::Run,
        Self::Sessions,
        Self::Session,
        Self::Log,
        Self::LookFirst,
        Self::Editor,
        Self::Form,
        Self::Palette,
        Self::Summary,
        Self::Help,
    ];

    /// What people call it: its own table's name.
    #[must_use]
    pub fn title(self) -> &'static str {
        let own = self.tables().iter().rfind(|table| !matches!(table, Table::Everywhere | Table::Dialogs));
        own.map_or("", |table| table.title())
    }

    /// The tables that count here, nearest first.
    #[must_use]
    pub const fn tables(self) -> &'static [Table] {
        match self {
            Self::Runs => &[Table::OfARun, Table::Runs, Table::Everywhere],
            Self::Run => &[Table::OfARun, Table::Run, Table::Everywhere],
            Self::Sessions => &[Table::Sessions, Table::Everywhere],
            Self::Session => &[Table::Session, Table::Everywhere],
            Self::Log => &[Table::Log, Table::Everywhere],
            Self::LookFirst => &[Table::LookFirst, Table::Dialogs],
            Self::Editor => &[Table::Editor, Table::Dialogs],
            Self::Form => &[Table::Form, Table::Dialogs],
            Self::Palette => &[Table::Palette, Table::Dialogs],
            Self::Summary => &[Table::Summary, Table::Dialogs],
            Self::Help => &[Table::Help, Table::Dialogs],
        }
    }
}

/// One line of the keymap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    /// Its keys; the first is the one that is shown.
    pub keys: Vec<Key>,
    /// What they mean.
    pub action: Action,
    /// One or two words for the footer; empty: not in the footer.
    pub word: String,
    /// A sentence for the help.
    pub says: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    keys: Vec<String>,
    action: String,
    #[serde(default)]
    word: Option<String>,
    #[serde(default)]
    says: Option<String>,
}

/// All of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keymap {
    tables: BTreeMap<Table, Vec<Binding>>,
}

impl Keymap {
    /// Reads a whole keymap.
    ///
    /// # Errors
    /// Each problem: it is no TOML, names a table, key or action that does not exist, or gives a key two meanings on one
    /// screen.
    pub fn parse(file: &str) -> Result<Self, Vec<String>> {
        Self { tables: BTreeMap::new() }.overlaid(file)
    }

    /// The one that comes with the program.
    ///
    /// # Errors
    /// As [`Keymap::parse`], in one line; a test holds that it has none.
    pub fn standard() -> Result<Self, String> {
        Self::parse(DEFAULT).map_err(|problems| problems.join("; "))
    }

    /// This keymap with a person's own lines over it: a line replaces the keys of its action in its table.
    ///
    /// # Errors
    /// As [`Keymap::parse`].
    pub fn overlaid(mut self, file: &str) -> Result<Self, Vec<String>> {
        let file: toml::Table =
            toml::from_str(file).map_err(|error| vec![format!("mend the keymap: {}", error.message())])?;
        let mut problems = Vec::new();
        for (name, lines) in file {
            let known: Result<Table, toml::de::Error> = Table::deserialize(name.as_str().into_deserializer());
            match (known, lines) {
                (Ok(table), toml::Value::Array(lines)) => {
                    let bindings = self.tables.entry(table).or_default();
                    for line in lines {
                        let put = line
                            .try_into()
                            .map_err(|error| error.message().to_owned())
                            .and_then(|line| put(bindings, &line));
                        problems
                            .extend(put.err().map(|why| format!("mend the keymap, table {}: {why}", table.title())));
                    }
                }
                (Ok(_), _) => problems.push(format!("mend the keymap: write [[{name}]], a line each")),
                (Err(error), _) => problems.push(format!("mend the keymap: {}", error.message())),
            }
        }
        problems.extend(self.conflicts());
        if problems.is_empty() { Ok(self) } else { Err(merged(problems)) }
    }

    /// Each key that means two things on one screen, with the first such screen.
    fn conflicts(&self) -> Vec<String> {
        let mut told = BTreeSet::new();
        let mut found = Vec::new();
        for place in Place::ALL {
            let mut taken: BTreeMap<Key, Action> = BTreeMap::new();
            for binding in self.bindings(*place) {
                for key in &binding.keys {
                    let two = binding.action;
                    match taken.get(key) {
                        Some(one) if told.insert((*key, *one, two)) => found.push(format!(
                            "give {key} one meaning in the keymap: on {place:?} it is {} and {}",
                            one.name(),
                            two.name()
                        )),
                        Some(_) => {}
                        None => {
                            taken.insert(*key, two);
                        }
                    }
                }
            }
        }
        found
    }

    /// The lines that count in a place, nearest table first.
    pub fn bindings(&self, place: Place) -> impl Iterator<Item = &Binding> {
        place.tables().iter().flat_map(|table| self.table(*table))
    }

    /// The lines of one table, in the order of the file.
    #[must_use]
    pub fn table(&self, table: Table) -> &[Binding] {
        self.tables.get(&table).map_or(&[], Vec::as_slice)
    }

    /// What a key means in a place.
    #[must_use]
    pub fn action(&self, place: Place, key: Key) -> Option<Action> {
        self.bindings(place).find(|binding| binding.keys.contains(&key)).map(|binding| binding.action)
    }

    /// The line of an action in a place.
    #[must_use]
    pub fn binding(&self, place: Place, action: Action) -> Option<&Binding> {
        self.bindings(place).find(|binding| binding.action == action)
    }

    /// The key of this keymap that means what a key of the standard one means in a place.
    #[must_use]
    pub fn instead_of(&self, place: Place, standard: Key) -> Option<Key> {
        self.key(place, Self::standard_action(place, standard)?)
    }

    /// What a key of the keymap that comes with trellis means there.
    #[must_use]
    pub fn standard_action(place: Place, standard: Key) -> Option<Action> {
        static STANDARD: OnceLock<Option<Keymap>> = OnceLock::new();
        STANDARD.get_or_init(|| Self::standard().ok()).as_ref()?.action(place, standard)
    }

    /// What a key without a meaning in a place means in other lists and views: where, and its line.
    #[must_use]
    pub fn elsewhere(&self, place: Place, key: Key) -> Option<(Table, &Binding)> {
        let tables = [Table::Run, Table::OfARun, Table::Runs, Table::Sessions, Table::Session, Table::Log];
        let mut others = tables.into_iter().filter(|table| !place.tables().contains(table));
        others.find_map(|table| Some((table, self.table(table).iter().find(|line| line.keys.contains(&key))?)))
    }

    /// The key to show for an action in a place.
    #[must_use]
    pub fn key(&self, place: Place, action: Action) -> Option<Key> {
        self.binding(place, action).and_then(|binding| binding.keys.first().copied())
    }
}

/// The same said of several lines is said once, with their number.
fn merged(problems: Vec<String>) -> Vec<String> {
    let mut counts: Vec<(String, usize)> = Vec::new();
    for problem in problems {
        match counts.iter_mut().find(|(known, _)| *known == problem) {
            Some((_, count)) => *count = count.saturating_add(1),
            None => counts.push((problem, 1)),
        }
    }
    let words =
        |(problem, count): (String, usize)| if count > 1 { format!("{problem} ({count} lines)") } else { problem };
    counts.into_iter().map(words).collect()
}

fn put(bindings: &mut Vec<Binding>, line: &Line) -> Result<(), String> {
    let keys = line.keys.iter().map(|key| key.parse()).collect::<Result<Vec<Key>, String>>()?;
    let action = Action::ALL
        .iter()
        .copied()
        .find(|action| action.name() == line.action)
        .ok_or_else(|| format!("there is no action {}", line.action))?;
    match bindings.iter_mut().find(|binding| binding.action == action) {
        Some(binding) => {
            binding.keys = keys;
            if let Some(word) = &line.word {
                binding.word.clone_from(word);
            }
            if let Some(says) = &line.says {
                binding.says.clone_from(says);
            }
        }
        None => bindings.push(Binding {
            keys,
            action,
            word: line.word.clone().unwrap_or_default(),
            says: line.says.clone().unwrap_or_else(|| action.name().replace('-', " ")),
        }),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::key::Code;

    #[test]
    fn the_standard_keymap_reads() {
        let keymap = Keymap::standard().unwrap();
        assert_eq!(keymap.action(Place::Runs, Key::char('x')), Some(Action::Stop));
        assert_eq!(keymap.action(Place::Run, Key::plain(Code::Backspace)), Some(Action::Back));
        assert_eq!(keymap.action(Place::Form, Key::char('x')), None);
    }

    #[test]
    fn a_conflict_is_refused_by_name() {
        let error = Keymap::standard().unwrap().overlaid("[[runs]]\nkeys = [\"x\"]\naction = \"new-run\"").unwrap_err();
        assert_eq!(error, ["give x one meaning in the keymap: on Runs it is stop and new-run"]);
    }

    #[test]
    fn an_own_line_replaces_the_keys() {
        let keymap =
            Keymap::standard().unwrap().overlaid("[[runs]]\nkeys = [\"Ctrl-n\"]\naction = \"new-run\"").unwrap();
        assert_eq!(keymap.action(Place::Runs, Key::ctrl('n')), Some(Action::NewRun));
        assert_eq!(keymap.action(Place::Runs, Key::char('n')), None);
        assert!(!keymap.binding(Place::Runs, Action::NewRun).unwrap().says.is_empty());
    }

    #[test]
    fn unknown_names_are_named() {
        for (file, part) in [
            ("[[runs]]\nkeys = [\"Hyper\"]\naction = \"open\"", "no key Hyper"),
            ("[[runs]]\nkeys = [\"x\"]\naction = \"explode\"", "no action explode"),
            ("[[moon]]\nkeys = [\"x\"]\naction = \"open\"", "moon"),
        ] {
            let error = Keymap::parse(file).unwrap_err();
            assert!(error[0].contains(part), "{error:?}");
        }
    }

    #[test]
    fn what_is_wrong_with_several_lines_is_said_once() {
        let line = "[[runs]]\nkeys = [\"x\"]\naction = \"explode\"\n";
        let error = Keymap::parse(&line.repeat(3)).unwrap_err();
        assert_eq!(error, ["mend the keymap, table runs: there is no action explode (3 lines)"]);
    }

    #[test]
    fn every_problem_is_named_and_each_once() {
        let file = [
            "[[runs]]\nkeys = [\"Hyper\"]\naction = \"open\"",
            "[[runs]]\nkeys = [\"x\"]\naction = \"explode\"",
            "[[moon]]\nkeys = [\"x\"]\naction = \"open\"",
            "[[log]]\nkey = [\"x\"]\naction = \"copy\"",
            // On both screens of runs, and on another one.
            "[[of-a-run]]\nkeys = [\"p\"]\naction = \"stop\"",
            "[[session]]\nkeys = [\"t\"]\naction = \"copy\"",
        ];
        let error = Keymap::standard().unwrap().overlaid(&file.join("\n")).unwrap_err();
        let parts = [
            "unknown field",
            "moon",
            "no key Hyper",
            "no action explode",
            "pause-or-go-on and stop",
            "go-to-pane and copy",
        ];
        assert_eq!(error.len(), parts.len(), "{error:#?}");
        for part in parts {
            assert_eq!(error.iter().filter(|line| line.contains(part)).count(), 1, "{part}: {error:#?}");
        }
    }
}
