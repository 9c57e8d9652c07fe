//! Transcripts found and followed in real folders, with the system's own notifier.

mod desk;
mod parts;

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use jiff::SignedDuration;
use pretty_assertions::assert_eq;
use proptest::prelude::*;

use trellis::driver::ports::{FoundSession, Transcripts};
use trellis::machine::TranscriptFact;
use trellis::model::ids::Agent;

use self::desk::{Desk, ID, answer, append, at_once, key, prompt, put, replace, rollout, talk};

#[test]
fn an_append_is_heard_and_read_and_a_torn_line_waits() {
    let mut desk = Desk::new();
    let path = desk.claude("-home-dev-project", ID);
    let whole = talk(ID, 100);
    let (first, rest) = whole.split_at(whole.len() - 700);
    put(&path, first);
    desk.until_changed(Agent::Claude, ID);
    let before = desk.present(Agent::Claude, ID);
    assert_eq!(before, at_once(Agent::Claude, first.as_bytes()));
    assert!(before.length < first.len() as u64, "the last line is torn");
    assert_eq!(before.damaged, 0);

    let mut byte_by_byte = OpenOptions::new().append(true).open(&path).unwrap();
    for byte in rest.as_bytes() {
        byte_by_byte.write_all(&[*byte]).unwrap();
        desk.present(Agent::Claude, ID);
    }
    let after = desk.present(Agent::Claude, ID);
    assert_eq!(after, at_once(Agent::Claude, whole.as_bytes()));
}

/// The reader waits for wake-ups only: one that is lost would leave it waiting.
#[test]
fn nothing_is_missed_of_a_writer_that_does_not_wait() {
    let mut desk = Desk::new();
    let path = desk.claude("-p", ID);
    let whole = talk(ID, 400);
    put(&path, "");
    desk.present(Agent::Claude, ID);
    let (target, text) = (path.clone(), whole.clone());
    let writer = std::thread::spawn(move || {
        for (n, piece) in text.as_bytes().chunks(173).enumerate() {
            append(&target, piece);
            if n % 7 == 0 {
                std::thread::yield_now();
            }
        }
    });
    let mut seen = 0;
    while seen < whole.len() as u64 {
        desk.until_changed(Agent::Claude, ID);
        let read = desk.present(Agent::Claude, ID);
        assert!(read.length >= seen && read.damaged == 0);
        seen = read.length;
    }
    writer.join().unwrap();
    assert_eq!(desk.present(Agent::Claude, ID), at_once(Agent::Claude, whole.as_bytes()));
}

/// 10,000 appends over 500 files, by a writer that does not wait: every line of each is there in the end.
#[test]
fn no_line_is_lost_of_ten_thousand_appends_over_five_hundred_files() {
    const FILES: usize = 500;
    const APPENDS: usize = 20;
    let mut desk = Desk::new();
    let ids: Vec<String> = (0..FILES).map(|n| format!("burst-{n:03}")).collect();
    let paths: Vec<PathBuf> =
        ids.iter().enumerate().map(|(n, id)| desk.claude(&format!("-p-{}", n % 10), id)).collect();
    for (id, path) in ids.iter().zip(&paths) {
        put(path, prompt(id, "/home/dev/project", 0, "begin"));
        desk.present(Agent::Claude, id);
    }
    let texts: Vec<Vec<String>> = ids
        .iter()
        .map(|id| (1..=APPENDS).map(|n| prompt(id, "/home/dev/project", n, &format!("line {n}"))).collect())
        .collect();
    let whole: Vec<String> = ids
        .iter()
        .zip(&texts)
        .map(|(id, texts)| prompt(id, "/home/dev/project", 0, "begin") + &texts.concat())
        .collect();
    let writer = std::thread::spawn(move || {
        for n in 0..APPENDS {
            for (path, texts) in paths.iter().zip(&texts) {
                append(path, &texts[n]);
            }
        }
    });
    let mut missing: std::collections::BTreeSet<usize> = (0..FILES).collect();
    while !missing.is_empty() {
        let heard = desk.until("a change", |watch| Some(watch.changed()).filter(|heard| !heard.is_empty()));
        for n in heard.iter().filter_map(|key| ids.iter().position(|id| key.session_id.as_str() == id)) {
            if desk.present(Agent::Claude, &ids[n]).length == whole[n].len() as u64 {
                missing.remove(&n);
            }
        }
    }
    writer.join().unwrap();
    for (id, whole) in ids.iter().zip(&whole) {
        assert_eq!(desk.present(Agent::Claude, id), at_once(Agent::Claude, whole.as_bytes()));
    }
}

#[test]
fn reading_is_no_news() {
    let mut desk = Desk::new();
    let (one, other) = (desk.claude("-p", "one"), desk.claude("-p", "other"));
    put(&one, talk("one", 2));
    put(&other, talk("other", 2));
    desk.until("both sessions", |watch| (watch.sessions().len() == 2).then_some(()));
    desk.present(Agent::Claude, "one");
    // Hints come in order: when this one is there, none from before is left.
    put(&desk.claude("-p", "fence"), talk("fence", 1));
    desk.until_changed(Agent::Claude, "fence");
    let fence = desk.claude("-p", "fence");
    for _ in 0..3 {
        append(&fence, "\n");
        desk.until_changed(Agent::Claude, "fence");
    }
    desk.drain();
    for _ in 0..50 {
        desk.present(Agent::Claude, "one");
        File::open(&one).unwrap();
    }
    append(&other, "\n");
    let heard = desk
        .until("the other", |watch| Some(watch.changed()).filter(|heard| heard.contains(&key(Agent::Claude, "other"))));
    assert!(!heard.contains(&key(Agent::Claude, "one")), "{heard:?}");
}

/// The file is rewritten while half a record is held: shorter, equally long and longer, in place and by renaming,
/// with the same first line and with another one.
#[test]
fn t9_a_replaced_file_is_read_from_its_start() {
    let same_start = prompt(ID, "/home/dev/project", 0, "go on");
    let half = &prompt(ID, "/home/dev/project", 1, "half of this")[..150];
    let old = format!("{same_start}{}{half}", answer(ID, 0, "done"));
    for by_rename in [false, true] {
        for start in [same_start.clone(), prompt(ID, "/elsewhere", 7, "other")] {
            for grow in [-120_i64, 0, 500, 200_000] {
                let mut desk = Desk::new();
                let path = desk.claude("-home-dev-project", ID);
                put(&path, &old);
                assert_eq!(desk.present(Agent::Claude, ID), at_once(Agent::Claude, old.as_bytes()));

                let bare = format!("{start}{}", answer(ID, 9, ""));
                let length = i64::try_from(old.len()).unwrap() + grow;
                let fill = usize::try_from(length).unwrap().saturating_sub(bare.len());
                let new = format!("{start}{}", answer(ID, 9, &"y".repeat(fill)));
                if grow >= 0 {
                    assert_eq!(i64::try_from(new.len()).unwrap(), length);
                }
                if by_rename {
                    replace(&path, &new);
                } else {
                    fs::write(&path, &new).unwrap();
                }
                let read = desk.present(Agent::Claude, ID);
                assert_eq!(read, at_once(Agent::Claude, new.as_bytes()), "rename {by_rename}, {grow} bytes more");
                assert_eq!(read.damaged, 0);
            }
        }
    }
}

#[test]
fn a_truncated_file_is_read_again_and_the_identity_tells_a_new_file() {
    let mut desk = Desk::new();
    let path = desk.claude("-p", ID);
    put(&path, talk(ID, 3));
    let identity = |desk: &mut Desk| match desk.read(Agent::Claude, ID).0 {
        TranscriptFact::Present(mark) => mark.file_identity,
        other => panic!("{other:?}"),
    };
    let first = identity(&mut desk);
    File::create(&path).unwrap();
    assert_eq!(desk.present(Agent::Claude, ID).length, 0);
    append(&path, talk(ID, 1));
    assert_eq!(desk.present(Agent::Claude, ID), at_once(Agent::Claude, talk(ID, 1).as_bytes()));
    assert_eq!(identity(&mut desk), first, "truncated in place, it is still the same file");
    replace(&path, talk(ID, 1));
    assert_ne!(identity(&mut desk), first);
}

/// The notifier misses what is written into a folder right after it was made.
#[test]
fn a_file_written_into_a_new_folder_at_once_is_found() {
    let mut desk = Desk::new();
    for n in 0..20 {
        let id = format!("new-{n}");
        let path = desk.codex(&format!("2026/{:02}/{:02}", n / 5 + 1, n), &id);
        put(&path, rollout(&id, "/home/dev/project", "user", 10));
        desk.until_changed(Agent::Codex, &id);
        desk.present(Agent::Codex, &id);
        append(&path, "\n");
        desk.until_changed(Agent::Codex, &id);

        let path = desk.claude(&format!("-w-{n}"), &id);
        put(&path, talk(&id, 1));
        desk.until_changed(Agent::Claude, &id);
        append(&path, talk(&id, 1));
        desk.until_changed(Agent::Claude, &id);
    }
    assert_eq!(desk.listed().len(), 40);
}

#[test]
fn roots_that_come_later_are_waited_for() {
    let mut desk = Desk::at(tempfile::tempdir().unwrap());
    assert_eq!(desk.read(Agent::Claude, ID).0, TranscriptFact::NotYet, "a fresh machine: nothing was ever written");
    assert_eq!(desk.listed(), vec![]);
    put(&desk.claude("-p", ID), talk(ID, 1));
    desk.until_changed(Agent::Claude, ID);
    desk.present(Agent::Claude, ID);
    put(&desk.codex("2026/11/30", "c-1"), rollout("c-1", "/w", "user", 10));
    desk.until_changed(Agent::Codex, "c-1");
}

/// At the start it holds nothing but warm-up and side-chain rows.
#[test]
fn w5_a_file_without_a_message_is_followed() {
    let mut desk = Desk::new();
    let path = desk.claude("-home-dev-project", ID);
    let warm_up = format!(
        "{{\"type\":\"mode\",\"mode\":\"normal\",\"sessionId\":\"{ID}\"}}\n{}",
        prompt(ID, "/home/dev/project", 0, "Warmup").replace("\"isSidechain\":false", "\"isSidechain\":true"),
    );
    put(&path, &warm_up);
    desk.until("the session", |watch| (watch.sessions().len() == 1).then_some(()));
    desk.present(Agent::Claude, ID);
    desk.drain();
    append(&path, prompt(ID, "/home/dev/project", 1, "the real one"));
    desk.until_changed(Agent::Claude, ID);
    let read = desk.present(Agent::Claude, ID);
    assert_eq!(read.turns.len(), 1);
    assert_eq!(read.turns[0].prompt.text.as_ref(), "the real one");
    assert_eq!(desk.listed()[0].title.as_deref(), Some("the real one"));
}

/// No process holds the file open between its appends.
#[test]
fn w7_a_file_that_is_closed_after_each_append_stays_known() {
    let mut desk = Desk::new();
    let path = desk.claude("-p", ID);
    put(&path, talk(ID, 1));
    desk.until_changed(Agent::Claude, ID);
    desk.present(Agent::Claude, ID);
    for n in 1..6 {
        append(&path, prompt(ID, "/home/dev/project", n, "go on") + &answer(ID, n, "done"));
        desk.until_changed(Agent::Claude, ID);
        assert_eq!(desk.present(Agent::Claude, ID).turns.len(), n + 1);
        assert_eq!(desk.listed().len(), 1);
    }
}

/// The folder's name loses the work tree; the records keep it.
#[test]
fn t19_sessions_are_found_by_id_and_by_the_work_tree_in_their_records() {
    let long = format!("/tmp/{}", "a".repeat(225));
    let trees = ["/tmp/my_proj v1.2", "/tmp/Проект", "/tmp/--x", long.as_str()];
    let mut desk = Desk::new();
    for (n, tree) in trees.iter().enumerate() {
        let mut folder: String = tree.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        if folder.len() > 200 {
            folder.truncate(200);
            folder.push_str("-k3x9");
        }
        let id = format!("odd-{n}");
        put(&desk.claude(&folder, &id), prompt(&id, tree, n, "hello") + &answer(&id, n, "hi"));
    }
    desk.until("four sessions", |watch| (watch.sessions().len() == trees.len()).then_some(()));
    for (n, tree) in trees.iter().enumerate() {
        let id = format!("odd-{n}");
        desk.present(Agent::Claude, &id);
        let listed = desk.listed();
        let found = listed.iter().find(|found| found.session.session_id.as_str() == id).unwrap();
        assert_eq!(found.session.worktree, *tree);
    }
}

#[test]
fn t15_files_of_sub_agents_are_no_sessions() {
    let mut desk = Desk::new();
    put(&desk.claude("-p", ID), talk(ID, 1));
    put(&desk.claude("-p", "agent-7"), talk("agent-7", 1));
    put(&desk.home.path().join("projects/-p").join(ID).join("subagents/agent-8.jsonl"), talk(ID, 1));
    put(&desk.codex("2026/11/30", "main"), rollout("main", "/w", "user", 10));
    put(&desk.codex("2026/11/30", "child"), rollout("child", "/w", "subagent", 10));
    let listed = desk.until("both", |watch| Some(watch.sessions()).filter(|listed| listed.len() >= 2));
    let ids: Vec<&str> = listed.iter().map(|found| found.session.session_id.as_str()).collect();
    assert_eq!(ids.len(), 2, "{ids:?}");
    assert!(ids.contains(&ID) && ids.contains(&"main"), "{ids:?}");
}

#[test]
fn t21_a_large_first_line_is_read_through() {
    let mut desk = Desk::new();
    for (n, bulk) in [20_000, 300_000, 3_000_000].into_iter().enumerate() {
        let id = format!("big-{n}");
        put(&desk.codex("2026/11/30", &id), rollout(&id, "/home/dev/project", "user", bulk));
    }
    put(&desk.codex("2026/11/30", "child"), rollout("child", "/w", "subagent", 3_000_000));
    let listed = desk.until("all three", |watch| Some(watch.sessions()).filter(|listed| listed.len() >= 3));
    assert_eq!(listed.len(), 3);
    for found in &listed {
        assert_eq!(found.session.worktree, "/home/dev/project");
    }
    assert_eq!(desk.present(Agent::Codex, "big-2").cwd.as_deref(), Some("/home/dev/project"));
}

#[test]
fn t27_a_garbled_first_line_hides_no_session() {
    let mut desk = Desk::new();
    let text = rollout("garbled", "/w", "user", 10);
    put(&desk.codex("2026/11/30", "garbled"), text.replacen("{\"timestamp\"", "{\"time\u{0}sta", 1));
    let listed = desk.until("it", |watch| Some(watch.sessions()).filter(|listed| !listed.is_empty()));
    assert_eq!(listed[0].session.session_id.as_str(), "garbled");
    assert_eq!(desk.present(Agent::Codex, "garbled").damaged, 1);
}

fn ending(found: &FoundSession) -> &str {
    Path::new(&*found.path).extension().unwrap().to_str().unwrap()
}

fn compress(path: &Path) -> PathBuf {
    let packed = PathBuf::from(format!("{}.zst", path.display()));
    let plain = File::open(path).unwrap();
    let level = ruzstd::encoding::CompressionLevel::Fastest;
    fs::write(&packed, ruzstd::encoding::compress_to_vec(plain, level)).unwrap();
    packed
}

#[test]
fn t23_a_compressed_rollout_opens_and_is_listed_once() {
    let mut desk = Desk::new();
    let text = rollout("c-1", "/w", "user", 300_000) + &rollout("c-1", "/w", "user", 5).repeat(50);
    let plain = desk.codex("2026/11/30", "c-1");
    put(&plain, &text);
    let whole = at_once(Agent::Codex, text.as_bytes());
    assert_eq!(desk.present(Agent::Codex, "c-1"), whole);

    let packed = compress(&plain);
    let listed = desk.until("it", |watch| Some(watch.sessions()).filter(|listed| !listed.is_empty()));
    assert_eq!(listed.len(), 1);
    assert_eq!(ending(&listed[0]), "jsonl", "the plain one counts while it is there");

    fs::remove_file(&plain).unwrap();
    assert_eq!(desk.present(Agent::Codex, "c-1"), whole, "it goes on without a gap");
    desk.until("the packed one alone", |watch| {
        let listed = watch.sessions();
        assert_eq!(listed.len(), 1);
        assert_eq!(listed[0].session.worktree, "/w");
        (ending(&listed[0]) == "zst").then_some(())
    });

    // Resumed: it is plain again, and goes on.
    put(&plain, format!("{text}\n"));
    assert_eq!(desk.present(Agent::Codex, "c-1").length, text.len() as u64 + 1);
    fs::remove_file(&packed).unwrap();
    assert_eq!(desk.present(Agent::Codex, "c-1").length, text.len() as u64 + 1);
}

#[test]
fn a_deleted_transcript_is_told_from_one_that_never_was() {
    let mut desk = Desk::new();
    let path = desk.claude("-p", ID);
    assert_eq!(desk.read(Agent::Claude, ID), (TranscriptFact::NotYet, None));
    put(&path, talk(ID, 1));
    desk.until_changed(Agent::Claude, ID);
    desk.present(Agent::Claude, ID);
    fs::remove_file(&path).unwrap();
    assert!(matches!(desk.read(Agent::Claude, ID).0, TranscriptFact::Unreadable(_)), "it may be back in a moment");
    desk.now += SignedDuration::from_secs(5);
    assert_eq!(desk.read(Agent::Claude, ID), (TranscriptFact::Deleted, None));
    assert_eq!(desk.read(Agent::Claude, ID), (TranscriptFact::Deleted, None));
    put(&path, talk(ID, 1));
    desk.until_changed(Agent::Claude, ID);
    desk.present(Agent::Claude, ID);

    // Known from a record, not from this start.
    let gone = key(Agent::Codex, "long-gone");
    assert_eq!(desk.read(Agent::Codex, "long-gone").0, TranscriptFact::NotYet);
    desk.watch.had_transcript(&gone);
    assert!(matches!(desk.read(Agent::Codex, "long-gone").0, TranscriptFact::Unreadable(_)));
    desk.now += SignedDuration::from_secs(5);
    assert_eq!(desk.read(Agent::Codex, "long-gone").0, TranscriptFact::Deleted);
}

#[test]
fn without_its_root_nothing_is_proved() {
    let mut desk = Desk::new();
    let root = desk.home.path().join("projects");
    put(&desk.claude("-p", ID), talk(ID, 1));
    let before = desk.present(Agent::Claude, ID);
    fs::rename(&root, desk.home.path().join("away")).unwrap();
    let (fact, conversation) = desk.read(Agent::Claude, ID);
    assert!(matches!(&fact, TranscriptFact::Unreadable(why) if why.contains("projects")), "{fact:?}");
    assert_eq!(conversation, Some(Arc::clone(&before)), "what was read stays to be seen");

    fs::write(&root, "a file").unwrap();
    let (fact, _) = desk.read(Agent::Claude, ID);
    assert!(matches!(&fact, TranscriptFact::Unreadable(why) if why.contains("projects")), "{fact:?}");

    fs::remove_file(&root).unwrap();
    fs::rename(desk.home.path().join("away"), &root).unwrap();
    assert_eq!(desk.present(Agent::Claude, ID), before);
}

#[test]
fn a_folder_that_cannot_be_read_proves_no_deletion() {
    let mut desk = Desk::new();
    let path = desk.claude("-p", ID);
    put(&path, talk(ID, 1));
    desk.present(Agent::Claude, ID);
    fs::remove_file(&path).unwrap();
    // A link that leads to itself cannot be read, not even with all rights.
    std::os::unix::fs::symlink(&path, &path).unwrap();
    let (fact, _) = desk.read(Agent::Claude, ID);
    assert!(matches!(&fact, TranscriptFact::Unreadable(why) if why.contains(ID)), "{fact:?}");
    let (fact, _) = desk.read(Agent::Claude, "../../etc/passwd");
    assert!(matches!(fact, TranscriptFact::Unreadable(_)), "{fact:?}");
}

#[test]
fn sessions_are_sorted_by_their_newest_write() {
    let mut desk = Desk::new();
    let now = std::time::SystemTime::now();
    for (n, id) in ["old", "older", "new"].into_iter().enumerate() {
        let path = desk.claude("-p", id);
        put(&path, talk(id, 1));
        let back = [7_200, 100 * 86_400, 60][n];
        File::options().write(true).open(&path).unwrap().set_modified(now - Duration::from_secs(back)).unwrap();
    }
    desk.until("three", |watch| {
        let listed = watch.sessions();
        let ids: Vec<&str> = listed.iter().map(|found| found.session.session_id.as_str()).collect();
        (ids == ["new", "old", "older"]).then_some(())
    });
    let first = desk.listed();
    assert_eq!(first[0].title.as_deref(), Some("go on"));
    assert_eq!(first[0].branch.as_deref(), Some("main"));
    assert_eq!(first[0].session.worktree, "/home/dev/project");
    assert_eq!(desk.listed(), first);
}

const INNER: &str = "TRELLIS_TEST_FEW_WATCHES";

/// With a user namespace of our own the limit can be made small without touching the machine.
#[test]
fn w1_without_watches_the_system_is_polled() {
    if std::env::var_os(INNER).is_some() {
        polled_for_want_of_watches();
        return;
    }
    let script = format!("echo 2 > /proc/sys/user/max_inotify_watches || exit 99; {INNER}=1 exec \"$@\"");
    let me = std::env::current_exe().unwrap();
    let arguments = [OsStr::new("watch::w1_without_watches_the_system_is_polled"), OsStr::new("--exact")];
    let ran = Command::new("unshare").args(["-Ur", "sh", "-c", &script, "sh"]).arg(me).args(arguments).output();
    match ran {
        Ok(output) if output.status.success() => {}
        Ok(output) if output.status.code() == Some(101) => {
            panic!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        }
        Ok(output) => println!("not tried: {}", String::from_utf8_lossy(&output.stderr)),
        Err(error) => println!("not tried: unshare: {error}"),
    }
}

fn polled_for_want_of_watches() {
    let mut desk = Desk::new();
    for n in 0..5 {
        put(&desk.claude(&format!("-p-{n}"), &format!("s-{n}")), talk("s", 1));
    }
    desk.until("the limit", |watch| {
        watch.changed();
        watch.is_polling().then_some(())
    });
    let notices = desk.watch.notices();
    assert_eq!(notices.len(), 1, "{notices:?}");
    assert!(notices[0].contains("fs.inotify.max_user_watches"), "{notices:?}");
    desk.present(Agent::Claude, "s-3");
    desk.drain();
    append(&desk.claude("-p-3", "s-3"), talk("s", 1));
    desk.until_changed(Agent::Claude, "s-3");
    put(&desk.claude("-p-new", "late"), talk("late", 1));
    desk.until_changed(Agent::Claude, "late");
    assert_eq!(desk.watch.notices(), Vec::<String>::new(), "said once");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    /// However the appends are cut, and whenever it is read, the conversation is that of the whole file.
    #[test]
    fn any_cut_of_the_appends_gives_the_same_conversation(
        turns in 1_usize..6,
        cuts in prop::collection::vec((any::<prop::sample::Index>(), any::<bool>()), 0..12),
        tail in 0_usize..80,
    ) {
        let mut text = talk(ID, turns);
        text.push_str(&prompt(ID, "/w", 99, "torn \u{2028} é 日本")[..tail]);
        let bytes = text.as_bytes();
        let mut places: Vec<(usize, bool)> = cuts.iter().map(|(at, read)| (at.index(bytes.len()), *read)).collect();
        places.sort_unstable();
        let mut desk = Desk::new();
        let path = desk.claude("-p", ID);
        put(&path, "");
        let mut done = 0;
        for (at, read) in places {
            append(&path, &bytes[done..at]);
            done = at;
            if read {
                prop_assert_eq!(desk.present(Agent::Claude, ID), at_once(Agent::Claude, &bytes[..at]));
            }
        }
        append(&path, &bytes[done..]);
        prop_assert_eq!(desk.present(Agent::Claude, ID), at_once(Agent::Claude, bytes));
    }
}
