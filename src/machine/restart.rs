//! What a start puts in order before anything is looked at (`loops.md` §6). The rest of §6 is part of every look.

use crate::model::ids::PairId;
use crate::model::pair::PairRecord;
use crate::model::run::RunRecord;

/// Active pairs of runs that no active run names: each is to be ordered [`super::PairOrder::Stop`] before anything is sent.
#[must_use]
pub fn orphans(runs: &[&RunRecord], pairs: &[&PairRecord]) -> Vec<PairId> {
    pairs
        .iter()
        .filter(|pair| pair.is_active() && pair.owner == super::pair::CHECKLIST)
        .filter(|pair| !runs.iter().any(|run| run.is_active() && run.current_pair_id.as_ref() == Some(&pair.id)))
        .map(|pair| pair.id.clone())
        .collect()
}
