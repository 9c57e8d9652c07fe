//! The store on the real file system: permissions, links, pipes, the lock, rotation, the small files.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use pretty_assertions::assert_eq;
use trellis::config::Config;
use trellis::driver::ports::Records;
use trellis::logging::LogFile;
use trellis::model::ids::RecordKey;
use trellis::model::outbox::EntryState;
use trellis::paths::Home;
use trellis::store::home_files::{Remembered, read_config, write_message, write_new};
use trellis::store::lock::{Claim, Holder, Kind, Lock, LockError, holder};
use trellis::store::reader::Reader;
use trellis::store::{ROTATE_AT, Store};

use crate::store::making::{entry, pair, run};

fn temporary() -> (tempfile::TempDir, Home) {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path().join("home"));
    (folder, home)
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn what_is_made_is_for_the_person_alone() {
    let (_folder, home) = temporary();
    let mut store = Store::new(home.clone());
    let mut pair = pair("p1");
    pair.outbox.push(entry("p1", 1, "a text", EntryState::Prepared));
    store.save_pair(&pair).unwrap();
    let _lock = Lock::take(&home).unwrap();
    for dir in [home.root().to_owned(), home.pairs(), home.pairs().join("p1")] {
        assert_eq!(mode(&dir), 0o700, "{}", dir.display());
    }
    let text = home.pairs().join("p1").join(&*pair.outbox[0].text.file);
    for file in [home.pairs().join("p1.json"), text, home.lock()] {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
    assert_eq!(Store::new(home).load().pairs, [pair]);
}

#[test]
fn links_pipes_and_folders_in_place_of_records_are_shown_and_never_followed() {
    let (folder, home) = temporary();
    let mut store = Store::new(home.clone());
    store.save_pair(&pair("good")).unwrap();
    let secret = folder.path().join("secret.json");
    fs::write(&secret, "{}").unwrap();
    symlink(&secret, home.pairs().join("link.json")).unwrap();
    fs::create_dir(home.pairs().join("folder.json")).unwrap();
    let pipe = home.pairs().join("pipe.json");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    let loaded = Store::new(home.clone()).load();
    assert_eq!(loaded.pairs.len(), 1);
    assert_eq!(loaded.read_only.len(), 3, "{:?}", loaded.read_only);
    assert!(store.save_pair(&pair("link")).is_err());
    assert_eq!(fs::read_to_string(&secret).unwrap(), "{}");
}

#[test]
fn a_change_by_hand_is_noticed_even_when_length_stays() {
    let (_folder, home) = temporary();
    let mut store = Store::new(home.clone());
    store.save_run(&run("r1")).unwrap();
    store.save_run(&run("r1")).unwrap();
    let path = home.record(&RecordKey::Run("r1".into())).unwrap();
    let edited = fs::read_to_string(&path).unwrap().replace("\"shop\"", "\"SHOP\"");
    fs::write(&path, &edited).unwrap();
    assert!(store.save_run(&run("r1")).is_err());
    assert_eq!(fs::read_to_string(&path).unwrap(), edited);
    assert_eq!(store.adopt_run(&"r1".into()).unwrap().name, "SHOP");
}

#[test]
fn s3_one_driver_a_home_and_its_pid_is_named() {
    let (_folder, home) = temporary();
    assert_eq!(holder(&home).unwrap(), Holder::Nobody);
    let lock = Lock::take(&home).unwrap();
    let pid = std::process::id();
    let claim = Claim { pid, kind: Kind::Foreground, start_mark: String::new() };
    assert_eq!(holder(&home).unwrap(), Holder::Process(Some(claim.clone())));
    match Lock::take(&home) {
        Err(error @ LockError::Held { by: Some(_), .. }) => {
            assert!(error.to_string().contains(&format!("held by pid {pid}")), "{error}");
        }
        other => panic!("{other:?}"),
    }
    drop(lock);
    assert_eq!(holder(&home).unwrap(), Holder::Nobody);
    let claim = Claim { kind: Kind::Background, start_mark: "12 3".to_owned(), ..claim };
    let lock = Lock::take_as(&home, &claim).unwrap();
    assert_eq!(holder(&home).unwrap(), Holder::Process(Some(claim)));
    drop(lock);
    // What a dead process wrote into it means nothing.
    fs::write(home.lock(), "4242\n").unwrap();
    assert_eq!(holder(&home).unwrap(), Holder::Nobody);
    drop(Lock::take(&home).unwrap());
}

#[test]
fn a_reader_on_a_home_that_is_not_there_makes_none() {
    let (_folder, home) = temporary();
    let mut reader = Reader::new(home.clone());
    assert!(!reader.changed_since());
    assert_eq!(reader.load().runs.len(), 0);
    assert!(!home.root().exists());
    let mut store = Store::new(home);
    store.save_run(&run("r1")).unwrap();
    assert!(reader.changed_since());
    assert_eq!(reader.load().runs.len(), 1);
}

#[test]
fn the_log_is_rotated_and_keeps_one_old_file() {
    let (_folder, home) = temporary();
    fs::create_dir(home.root()).unwrap();
    let log = LogFile::new(home.log());
    let line = vec![b'x'; 1 << 20];
    for _ in 0..20 {
        log.append(&line).unwrap();
    }
    let old = home.logs().join("trellis.log.1");
    assert!(fs::metadata(home.log()).unwrap().len() <= ROTATE_AT);
    assert_eq!(fs::metadata(old).unwrap().len(), ROTATE_AT);
    assert_eq!(fs::read_dir(home.logs()).unwrap().count(), 2);
}

#[test]
fn the_small_files_are_read_and_written() {
    let (_folder, home) = temporary();
    assert_eq!(read_config(&home), (Config::default(), vec![]));
    write_new(&home.config(), "mouse = true\ntheme = \"no\"\n").unwrap();
    assert!(write_new(&home.config(), "").is_err());
    let (config, problems) = read_config(&home);
    assert!(config.mouse);
    assert_eq!(problems.len(), 1);
    assert!(problems[0].to_string().contains("config.toml: theme: "), "{}", problems[0]);

    assert_eq!(Remembered::load(&home), Remembered::default());
    let mut remembered = Remembered::default();
    let form = serde_json::json!({"words": "a \"b\"\n=c", "phases": null, "prompts": {"feedback": null}});
    for (name, value) in [("new_run", form), ("mouse", true.into()), ("dismissed", serde_json::json!(["driving"]))] {
        remembered.set(name, value).unwrap();
    }
    remembered.save(&home).unwrap();
    let kept = Remembered::load(&home);
    assert_eq!(kept, remembered);
    assert_eq!(kept.get("new_run"), Some(serde_json::json!({"words": "a \"b\"\n=c", "prompts": {}})));
    assert_eq!((kept.get("mouse"), kept.get("nothing")), (Some(true.into()), None));
    fs::write(home.state(), "= no toml").unwrap();
    assert_eq!(Remembered::load(&home), Remembered::default());

    let folder = home.pairs().join("p1");
    let path = write_message(&folder, "a long message").unwrap();
    assert_eq!(write_message(&folder, "a long message").unwrap(), path);
    assert_eq!(fs::read_to_string(path).unwrap(), "a long message");
}

/// A killed driver's child may hold its files for an instant: a start right behind the kill waits for that.
#[test]
fn a_lock_that_only_a_dead_driver_is_named_for_is_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path());
    let mut gone = std::process::Command::new("true").spawn().unwrap();
    let dead = gone.id();
    gone.wait().unwrap();
    // What is left of the dead driver: its lock in another's hands, its pid in the file.
    let held = fs::File::create(home.lock()).unwrap();
    held.try_lock().unwrap();
    fs::write(home.lock(), format!("{dead}\n")).unwrap();
    let (tell, told) = std::sync::mpsc::channel();
    let starter = std::thread::spawn(move || {
        tell.send(()).unwrap();
        Lock::take(&home).map(drop)
    });
    told.recv().unwrap();
    std::thread::park_timeout(std::time::Duration::from_millis(150));
    drop(held);
    starter.join().unwrap().unwrap();
}
