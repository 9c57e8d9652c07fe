//! What is read of many and of long transcripts, and when: counted in parts, which repeats exactly.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use jiff::Timestamp;
use pretty_assertions::assert_eq;
use trellis::driver::ports::{Summaries, Transcripts};
use trellis::machine::TranscriptFact;
use trellis::model::ids::{Agent, SessionId, SessionRef};
use trellis::supervise::Supervisor;
use trellis::watch::{self, Roots, Watch};

use super::desk::{ID, answer, append, at_once, prompt, put, talk};

/// What is kept, and how often that was.
#[derive(Clone, Default)]
struct Kept(Arc<Mutex<(String, usize)>>);

impl Summaries for Kept {
    fn load(&mut self) -> Vec<u8> {
        self.0.lock().unwrap().0.clone().into_bytes()
    }

    fn keep(&mut self, text: &str) {
        let mut kept = self.0.lock().unwrap();
        *kept = (text.to_owned(), kept.1 + 1);
    }
}

fn start(home: &Path) -> Watch {
    let roots =
        Roots { claude_projects: home.join("projects"), codex_sessions: home.join("sessions"), signs: Vec::new() };
    watch::start(&roots, &Supervisor::new()).0
}

fn id(n: usize) -> String {
    format!("00000000-0000-4000-8000-{n:012}")
}

fn hundred() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    for n in 0..100 {
        let text = prompt(&id(n), "/w", 0, &format!("title {n}")) + &answer(&id(n), 0, &format!("answer {n}"));
        put(&home.path().join("projects/-w").join(format!("{}.jsonl", id(n))), text);
    }
    home
}

#[test]
fn a_first_list_reads_as_many_files_as_a_screen_shows_and_the_rest_comes_by_itself() {
    let home = hundred();
    let mut watch = start(home.path());
    let (first, left) = watch.sessions_so_far();
    assert_eq!((first.len(), left), (100, 36), "all are listed");
    assert_eq!(first.iter().filter(|found| found.title.is_some()).count(), 64);
    let (second, left) = watch.sessions_so_far();
    assert_eq!((second.iter().filter(|found| found.title.is_some()).count(), left), (100, 0));
    assert!(second.iter().all(|found| found.last_words.as_ref().is_some_and(|words| words.starts_with("answer"))));
}

#[test]
fn a_second_start_reads_only_what_changed() {
    let home = hundred();
    let kept = Kept::default();
    let mut watch = start(home.path()).remembering(Box::new(kept.clone()));
    let all = watch.sessions();
    drop(watch);
    assert_eq!(kept.0.lock().unwrap().1, 1);
    let mut watch = start(home.path()).remembering(Box::new(kept.clone()));
    // One part is 64 files: were they read, some would be left.
    assert_eq!(watch.sessions_so_far(), (all, 0));
    drop(watch);
    assert_eq!(kept.0.lock().unwrap().1, 1, "nothing new was learnt");

    let path = home.path().join("projects/-w").join(format!("{}.jsonl", id(7)));
    append(&path, answer(&id(7), 1, "more"));
    let mut watch = start(home.path()).remembering(Box::new(kept.clone()));
    let (list, left) = watch.sessions_so_far();
    assert_eq!((list[0].last_words.as_deref(), left), (Some("more"), 0));
    drop(watch);
    assert_eq!(kept.0.lock().unwrap().1, 2);
}

#[test]
fn what_was_kept_and_cannot_be_read_is_nothing() {
    let home = hundred();
    let kept = Kept::default();
    "[[\"/x\", 1]".clone_into(&mut kept.0.lock().unwrap().0);
    let mut watch = start(home.path()).remembering(Box::new(kept));
    assert_eq!(watch.sessions_so_far().1, 36);
}

/// A transcript of 10 MiB: its path and its text.
fn long(home: &Path) -> (PathBuf, String) {
    fs::create_dir_all(home.join("sessions")).unwrap();
    let path = home.join("projects/-w").join(format!("{ID}.jsonl"));
    let turn = talk(ID, 300);
    let mut whole = String::new();
    while whole.len() < 10 << 20 {
        // Records are told apart by their ids.
        let n = whole.len();
        whole.push_str(&turn.replace("\"uuid\":\"", &format!("\"uuid\":\"{n}-")));
    }
    put(&path, &whole);
    (path, whole)
}

/// Of a long transcript no more than its end is read and held, however often it is looked at and however much comes behind
/// it, until somebody asks for the rest; and that is let go again.
#[test]
fn of_a_long_transcript_only_the_end_is_read_until_the_rest_is_wanted() {
    let home = tempfile::tempdir().unwrap();
    let (path, mut text) = long(home.path());
    let mut watch = start(home.path());
    let session = SessionRef { agent: Agent::Claude, worktree: String::new(), session_id: SessionId::new(ID) };
    let now = Timestamp::now();
    watch.changed();
    let end = |watch: &mut Watch, text: &str| {
        let told = watch.read_to_show(&session, false, now).conversation.unwrap();
        assert!(told.begins_inside() && told.title.is_none(), "its title stands at the beginning, which was not read");
        let begin = told.turns[0].prompt.record.offset;
        assert!(begin > 9 << 20, "only the end was read: from {begin}");
        assert_eq!(told.length, text.len() as u64);
        begin
    };
    let begin = end(&mut watch, &text);
    for n in 0..20 {
        let more = answer(ID, n, "more");
        append(&path, &more);
        text.push_str(&more);
        assert_eq!(end(&mut watch, &text), begin, "it goes on from there");
    }
    let whole = loop {
        let told = watch.read_to_show(&session, true, now).conversation.unwrap();
        if !told.begins_inside() {
            break told;
        }
    };
    assert_eq!(*whole, *at_once(Agent::Claude, text.as_bytes()));
    drop(whole);
    assert!(end(&mut watch, &text) > begin, "the end is read anew");
}

/// The end first; then the rest in parts of 4 MiB, between which other things are done; at last as if read at once.
#[test]
fn a_long_transcript_is_shown_by_its_end_and_read_in_parts() {
    let home = tempfile::tempdir().unwrap();
    let (path, mut whole) = long(home.path());
    let mut watch = start(home.path());
    let session = SessionRef { agent: Agent::Claude, worktree: String::new(), session_id: SessionId::new(ID) };
    let now = Timestamp::now();
    watch.sessions();
    let mut parts = 0;
    let last = loop {
        let read = watch.read_to_show(&session, true, now);
        let TranscriptFact::Present(mark) = read.fact else { panic!("{:?}", read.fact) };
        let told = read.conversation.unwrap();
        assert_eq!((mark.length, told.length), (whole.len() as u64, whole.len() as u64), "the end is always told");
        if told.turns.first().is_some_and(|turn| turn.prompt.record.offset == 0) {
            break told;
        }
        parts += 1;
        let begin = told.turns[0].prompt.record.offset;
        assert!(begin > whole.len() as u64 - 300_000, "only the end was read: from {begin}");
        assert_eq!(
            told.last_record.as_ref().map(|record| record.offset),
            Some(whole[..whole.len() - 1].rfind('\n').unwrap() as u64 + 1)
        );
        if parts == 1 {
            let more = answer(ID, 1, "meanwhile");
            append(&path, &more);
            whole.push_str(&more);
        }
    };
    assert_eq!(parts, whole.len() / (4 << 20));
    assert_eq!(*last, *at_once(Agent::Claude, whole.as_bytes()));
}
