//! A key that means nothing on a screen says on which it does. Orders nothing.

use super::action::Action;
use super::app::App;
use super::key::Key;
use super::keymap::Table;

impl App {
    /// A key that means something on another screen says where.
    pub(super) fn say_where(&mut self, key: Key) {
        let Some((table, binding)) = self.keymap.elsewhere(self.place(), key) else { return };
        let says = binding.says.split(';').next().unwrap_or_default().to_owned();
        let place = self.where_it_works(table);
        self.say(format!("{key} works {place}: {says}"), false);
    }

    /// Where the keys of a table work: `among the sessions (2)`.
    pub(super) fn where_it_works(&self, table: Table) -> String {
        let screen = |name: &str, action: Action| {
            let key = self.keymap.key(self.screen_place(), action).map(|key| format!(" ({key})")).unwrap_or_default();
            format!("{name}{key}")
        };
        match table {
            Table::Run => "in a run".to_owned(),
            Table::Session => "in a session".to_owned(),
            Table::Sessions => screen("among the sessions", Action::ShowSessions),
            Table::Log => screen("in the log", Action::ShowLog),
            _ => screen("among the runs", Action::ShowRuns),
        }
    }
}
