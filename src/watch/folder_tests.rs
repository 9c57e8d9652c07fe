//! Settings that editors save in their own ways.
#![allow(
    clippy::disallowed_methods,
    reason = "tests write files and look at the clock; a stub has the shape it stands for"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tokio::sync::mpsc::Receiver;

use super::FolderWatch;
use crate::supervise::Supervisor;

fn until(watch: &mut FolderWatch, woken: &mut Receiver<()>, file: &Path) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let deadline = Instant::now() + Duration::from_secs(20);
    while !watch.changed().iter().any(|changed| changed == file) {
        let left = deadline.saturating_duration_since(Instant::now());
        let heard = runtime.block_on(async { tokio::time::timeout(left, woken.recv()).await });
        assert!(matches!(heard, Ok(Some(()))), "{} changed and nobody heard", file.display());
    }
}

fn start(folder: &Path) -> (FolderWatch, Receiver<()>, PathBuf, PathBuf) {
    let real = super::settle(folder);
    let (watch, woken) = FolderWatch::start(folder, &["config.toml", "keymap.toml"], &Supervisor::new());
    (watch, woken, real.join("config.toml"), real.join("keymap.toml"))
}

#[test]
fn w3_every_save_by_renaming_is_seen() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("config.toml"), "").unwrap();
    let (mut watch, mut woken, config, keymap) = start(dir.path());
    assert_eq!(watch.changed(), Vec::<PathBuf>::new());
    for n in 0..3 {
        for file in [&config, &keymap] {
            // One editor writes beside the file and renames it over, another moves the old one away first.
            let beside = file.with_extension("tmp");
            fs::write(&beside, format!("n = {n}")).unwrap();
            if n == 1 && file.exists() {
                fs::rename(file, file.with_extension("toml~")).unwrap();
            }
            fs::rename(&beside, file).unwrap();
            until(&mut watch, &mut woken, file);
        }
    }
    fs::write(&config, "in = \"place\"").unwrap();
    until(&mut watch, &mut woken, &config);
    fs::remove_file(&config).unwrap();
    until(&mut watch, &mut woken, &config);
    assert_eq!(watch.notices(), Vec::<String>::new());
}

#[test]
fn a_folder_that_comes_later_is_seen() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("deep/home");
    let (mut watch, mut woken, config, _) = start(&folder);
    fs::create_dir_all(&folder).unwrap();
    fs::write(&config, "a = 1").unwrap();
    until(&mut watch, &mut woken, &config);
    fs::write(&config, "a = 22").unwrap();
    until(&mut watch, &mut woken, &config);
}
