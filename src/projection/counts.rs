//! How many runs need a person and how many go: the list's header, the pane's title, a status line. ASCII where it leaves us.

use super::{Projection, RunView, Standing};

/// Counts of the runs by what a person has to know of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Runs that need a person.
    pub needs_you: usize,
    /// Runs that go, or wait for a side nobody has prompted yet.
    pub going: usize,
    /// Runs that a person paused.
    pub paused: usize,
    /// Runs that wait for the end of a limit.
    pub limited: usize,
    /// Runs that another program goes on with, as far as this one can tell.
    pub shown: usize,
}

impl Counts {
    /// Those of a projection.
    #[must_use]
    pub fn of(projection: &Projection) -> Self {
        let is_shown = |run: &&RunView| run.read_only.is_some() && run.standing == Standing::Paused;
        let shown = projection.runs.iter().filter(is_shown).count();
        let of = |wanted: Standing| projection.runs.iter().filter(|run| run.standing == wanted).count();
        Self {
            needs_you: of(Standing::NeedsYou),
            going: of(Standing::Going) + of(Standing::Waits),
            paused: of(Standing::Paused).saturating_sub(shown),
            limited: of(Standing::Limit),
            shown,
        }
    }

    /// `trellis !1 >3 ?1`: what is nought is left out.
    #[must_use]
    pub fn short(self) -> String {
        let mut words = String::from("trellis");
        for (sign, count) in [('!', self.needs_you), ('>', self.going), ('?', self.shown)] {
            if count > 0 {
                words.push(' ');
                words.push(sign);
                words.push_str(&count.to_string());
            }
        }
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_short_form_leaves_out_what_is_nought() {
        let short = |needs_you, going, shown| Counts { needs_you, going, paused: 2, limited: 1, shown }.short();
        assert_eq!(short(1, 3, 0), "trellis !1 >3");
        assert_eq!(short(0, 2, 0), "trellis >2");
        assert_eq!(short(4, 0, 1), "trellis !4 ?1");
        assert_eq!(short(0, 0, 0), "trellis");
    }
}
