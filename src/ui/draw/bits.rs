//! Small things that several screens show: glyphs of standing, the phase strip, the steps, ticks.

use crate::model::ids::Role;
use crate::model::reach::{Tick, Ticks};
use crate::model::run::AttemptStatus;
use crate::model::session::{Need, SessionState};
use crate::projection::{PhaseView, RunView, Stage, Standing};
use crate::ui::action::Action;
use crate::ui::app::App;
use crate::ui::order::is_over;
use crate::ui::row::{Row, Span, Tone, text, toned};
use crate::ui::times::Times;
use crate::ui::width::{cut, width};
use crate::ui::wrap::wrap;

/// Glyph and tone of a run's standing.
pub const fn standing(standing: Standing) -> (&'static str, Tone) {
    match standing {
        Standing::NeedsYou => ("!", Tone::NeedsYou),
        Standing::Going => ("●", Tone::Going),
        Standing::Waits => ("○", Tone::Going),
        Standing::Limit => ("◷", Tone::Held),
        Standing::Paused => ("‖", Tone::Held),
        Standing::Done => ("✓", Tone::Text),
        Standing::Ended => ("■", Tone::Text),
        Standing::Failed => ("✗", Tone::Failed),
    }
}

/// Glyph and tone of an attempt: of the one that the run is at those of the run, so that `!` stands only where a person is
/// needed.
pub fn attempt(run: &RunView, phase: &PhaseView) -> (&'static str, Tone) {
    match phase.status {
        AttemptStatus::Running | AttemptStatus::NotConverged if phase.needs_you && !is_over(run) => {
            standing(run.standing)
        }
        AttemptStatus::Running if run.phase == Some(phase.n) && !is_over(run) => standing(run.standing),
        AttemptStatus::Running => ("●", Tone::Going),
        AttemptStatus::Converged => ("✓", Tone::Text),
        AttemptStatus::Skipped => ("»", Tone::Text),
        AttemptStatus::Stopped => ("■", Tone::Text),
        AttemptStatus::NotConverged | AttemptStatus::Error => ("✗", Tone::Failed),
    }
}

/// `! needs you`, `● going`.
pub fn state_word(run: &RunView) -> Vec<Span> {
    let (glyph, tone) = standing(run.standing);
    vec![toned(tone, format!("{glyph} {}", run.state_word))]
}

/// Columns in which a strip shows the phase that the run is at, the one before and the one after it, however long it is.
const STRIP: usize = 5;

/// `✓✓»●··`: the newest attempt of each phase, then the phases that are still expected of a run that is not over.
pub struct Strip {
    marks: Vec<(&'static str, Tone)>,
    /// The one that the run is at.
    now: usize,
}

impl Strip {
    /// Columns it cannot do with less of.
    pub fn least(&self) -> usize {
        self.marks.len().min(STRIP)
    }

    /// Columns of all of it.
    pub const fn whole(&self) -> usize {
        self.marks.len()
    }

    /// What of it stands in `room` columns: where that is not all, the part around the phase that the run is at.
    pub fn in_room(&self, room: usize) -> Vec<Span> {
        if room == 0 {
            return Vec::new();
        }
        let (count, inner) = (self.marks.len(), room.saturating_sub(2).max(1));
        let (from, to) = match room {
            _ if count <= room => (0, count),
            _ if self.now + 2 < room => (0, room - 1),
            _ if self.now + room > count + 1 => (count + 1 - room, count),
            _ => {
                let from = (self.now + 2).saturating_sub(inner).min(self.now);
                (from, (from + inner).min(count))
            }
        };
        let cut = |is_cut: bool| (is_cut && room > 2).then(|| text("…"));
        let shown = self.marks.iter().take(to).skip(from).map(|(glyph, tone)| toned(*tone, glyph));
        cut(from > 0).into_iter().chain(shown).chain(cut(to < count)).collect()
    }
}

/// The phase that the run is at, with its glyph, as long as it is none of its list: it is asked for, or being built.
pub fn unlisted(run: &RunView) -> Option<(u32, (&'static str, Tone))> {
    let now = run.phase.filter(|now| run.phases.iter().all(|phase| phase.n != *now))?;
    let shown = if run.first_wait || run.phase_asked { Standing::Waits } else { run.standing };
    Some((now, standing(shown)))
}

/// The strip of a run's phases.
pub fn strip(run: &RunView) -> Strip {
    let mut marks: Vec<(u32, (&'static str, Tone))> = Vec::new();
    for phase in &run.phases {
        match marks.iter_mut().find(|(n, _)| *n == phase.n) {
            Some((_, mark)) => *mark = attempt(run, phase),
            None => marks.push((phase.n, attempt(run, phase))),
        }
    }
    marks.extend(unlisted(run));
    let reached = run.phases.iter().map(|phase| phase.n).chain(run.phase).max().unwrap_or(0);
    let now = marks.iter().position(|(n, _)| Some(*n) == run.phase).unwrap_or(marks.len().saturating_sub(1));
    let expected = run.phases_expected.filter(|_| !is_over(run));
    let ahead = expected.map_or(0, |all| all.saturating_sub(reached)).min(60);
    marks.extend((1..=ahead).map(|n| (reached + n, ("·", Tone::Text))));
    Strip { marks: marks.into_iter().map(|(_, mark)| mark).collect(), now }
}

/// `ask ─ build ─ REVIEW`.
pub fn steps(run: &RunView, dash: &str) -> Vec<Span> {
    let Some(now) = run.stage else { return Vec::new() };
    let mut spans = Vec::new();
    for (stage, word) in [(Stage::Ask, "ask"), (Stage::Build, "build"), (Stage::Review, "review")] {
        if !spans.is_empty() {
            spans.push(text(dash));
        }
        spans.push(if stage == now { toned(Tone::Strong, word.to_uppercase()) } else { text(word) });
    }
    spans
}

/// `relay 3 of 10`.
pub fn relay_count(run: &RunView) -> String {
    format!("relay {} of {}", relays_so_far(run), run.max_relays)
}

/// Relays of the attempt. One that is on its way, or is looked at first, has its number already.
pub fn relays_so_far(run: &RunView) -> u32 {
    let open = run.relay_list.last().filter(|relay| relay.state.is_open()).map_or(0, |relay| relay.n);
    run.relays.max(open)
}

/// The five ticks in `columns`, and what is missing spelled out below.
pub fn ticks(ticks: &Ticks, columns: usize) -> Vec<Row> {
    let mut spans = Vec::new();
    for (name, tick) in ticks.named() {
        if !spans.is_empty() {
            spans.push(text("  "));
        }
        spans.push(match tick {
            Tick::Holds => toned(Tone::Going, format!("✓\u{a0}{}", name.replace(' ', "\u{a0}"))),
            Tick::Missing(_) => toned(Tone::NeedsYou, format!("✗\u{a0}{}", name.replace(' ', "\u{a0}"))),
        });
    }
    let mut rows = wrap(&spans, columns, &[]);
    for row in &mut rows {
        for span in &mut row.body {
            *span = toned(span.tone(), span.text().replace('\u{a0}', " "));
        }
    }
    if let Some(why) = ticks.missing() {
        rows.extend(wrap(&[text(why)], columns.saturating_sub(2), &[]).into_iter().map(|row| row.indent(2)));
    }
    rows
}

/// Glyph, tone and word of a session's state.
pub fn session_state(state: &SessionState) -> (&'static str, Tone, String) {
    match state {
        SessionState::Working { activity } if activity.is_empty() => ("●", Tone::Going, "works".to_owned()),
        SessionState::Working { activity } => ("●", Tone::Going, activity.clone()),
        SessionState::Idle => ("○", Tone::Text, "idle".to_owned()),
        SessionState::NeedsYou(Need::AwaitingInput) => ("○", Tone::Text, "waits for a prompt".to_owned()),
        SessionState::NeedsYou(Need::NeedsApproval) => ("!", Tone::NeedsYou, "waits for your approval".to_owned()),
        SessionState::NeedsYou(Need::Error) => ("✗", Tone::Failed, "its turn failed".to_owned()),
        SessionState::NeedsYou(Need::Limit) => ("◷", Tone::Held, "at its limit".to_owned()),
        SessionState::Gone => ("■", Tone::Text, "gone".to_owned()),
        SessionState::NotLooked => ("·", Tone::Text, "not looked at".to_owned()),
    }
}

/// `claude`, or `claude·1`.
pub fn label(run: &RunView, role: Role) -> &str {
    match role {
        Role::Implementer => &run.implementer.label,
        Role::Reviewer => &run.reviewer.label,
    }
}

/// Line two and three of a run's header: who does what since when, what exactly, what ends it.
pub fn wait_rows(run: &RunView, columns: usize, rows: usize, times: &Times) -> Vec<Row> {
    let since = run.wait.since.map(|since| times.ago(since)).unwrap_or_default();
    let who = if run.wait.who.is_empty() { &run.sentence } else { &run.wait.who };
    // The count stands on the line of the steps.
    let mut out = wrap(&[text(without_count(who))], columns.saturating_sub(width(&since) + 1), &[]);
    out.truncate(2);
    if let Some(first) = out.first_mut() {
        first.tail = vec![text(since)];
    }
    let ends = ends_words(run, times);
    let what = run.wait.what.clone();
    let both = format!("{what} · {ends}");
    if what.is_empty() || ends.is_empty() {
        let words = if what.is_empty() { ends } else { what };
        out.extend(wrap(&[text(words)], columns.saturating_sub(2), &[]).into_iter().take(2).map(|row| row.indent(2)));
    } else if width(&both) + 2 <= columns {
        out.push(Row::plain(both).indent(2));
    } else {
        out.extend(wrap(&[text(what)], columns.saturating_sub(2), &[]).into_iter().take(2).map(|row| row.indent(2)));
        if rows >= 24 {
            out.push(Row::plain(ends).indent(2));
        }
    }
    out
}

/// A sentence up to its count of relays (`waits for codex to be free`).
pub fn without_count(sentence: &str) -> &str {
    sentence.split_once(" · relay ").map_or(sentence, |(words, _)| words)
}

/// `ends when codex ends its turn`, with a countdown where the end is known.
pub fn ends_words(run: &RunView, times: &Times) -> String {
    match run.wait.deadline {
        Some(at) if at.duration_since(times.now()).as_secs() > 0 && !run.wait.ends.is_empty() => {
            match run.wait.ends.strip_suffix(" in a moment") {
                Some(ends) => format!("{ends} in {}", times.until(at)),
                None => format!("{} (in {})", run.wait.ends, times.until(at)),
            }
        }
        _ => run.wait.ends.clone(),
    }
}

/// Where a search stands, and what a conversation that does not follow its end keeps waiting: `3/17 · 2 new · G newest`.
pub fn talk_state(app: &App) -> Vec<Span> {
    let counter = app.talk.search.counter();
    // Before there is anything to look through nothing is known of it.
    let unread = app.talk.thread().is_none();
    let mut parts: Vec<String> =
        counter.map(|counter| if unread { "still being read".to_owned() } else { counter }).into_iter().collect();
    if !app.talk.follows() {
        if app.talk.unread() > 0 {
            parts.push(format!("{} new", app.talk.unread()));
        }
        if let Some(key) = app.keymap.key(app.screen_place(), Action::Last) {
            parts.push(format!("{key} newest"));
        }
    }
    if parts.is_empty() { Vec::new() } else { vec![text(parts.join(" · "))] }
}

/// The title of a list, and what it is filtered by: `runs /docs`.
pub fn list_title(title: &str, filter: &str, columns: usize) -> Vec<Span> {
    let mut spans = vec![toned(Tone::Strong, title)];
    if !filter.is_empty() {
        spans.push(toned(Tone::Field, format!(" /{}", cut(filter, columns / 3))));
    }
    spans
}
