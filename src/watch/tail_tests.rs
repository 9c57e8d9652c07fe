//! What a tail makes of files that change in other ways than by appends.
#![allow(
    clippy::disallowed_methods,
    reason = "tests write files and look at the clock; a stub has the shape it stands for"
)]

use std::fs;
use std::io::{self, Read, Write};

use super::{Frames, Tail, buffer};
use crate::model::ids::Agent;

#[test]
fn only_plain_files_are_opened() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("x.jsonl");
    fs::create_dir(&folder).unwrap();
    assert_eq!(Tail::open(Agent::Claude, &folder, false).err().unwrap().kind(), io::ErrorKind::InvalidInput);
    let pipe = dir.path().join("pipe.jsonl");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    assert_eq!(Tail::open(Agent::Claude, &pipe, false).err().unwrap().kind(), io::ErrorKind::InvalidInput);
}

/// Same inode, same length, same first line, same time even: only the bytes before the offset differ.
#[test]
fn a_rewrite_behind_an_equal_start_is_seen() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.jsonl");
    let line = |n: u32| format!("{{\"type\":\"user\",\"uuid\":\"u-{n}\",\"pad\":\"{}\"}}\n", "p".repeat(2_000));
    fs::write(&path, line(1) + &line(2)).unwrap();
    let mut buffer = buffer();
    let mut tail = Tail::open(Agent::Claude, &path, false).unwrap();
    tail.catch_up(&mut buffer).unwrap();
    assert!(!tail.is_behind());
    let changed = (line(1) + &line(2)).replace("p\"}\n", "q\"}\n");
    fs::write(&path, &changed).unwrap();
    assert!(tail.is_behind());
    fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(line(3).as_bytes()).unwrap();
    tail.catch_up(&mut buffer).unwrap();
    let mark = tail.mark();
    assert_eq!(mark.last_record_id.unwrap().as_str(), "u-3");
    assert_eq!(mark.length, (changed.len() + line(3).len()) as u64);
    assert_eq!(tail.conversation().positions.offsets().count(), 3);
}

#[test]
fn a_compressed_file_of_several_frames_is_read_to_its_end() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.zst");
    let pack = |text: &[u8]| ruzstd::encoding::compress_to_vec(text, ruzstd::encoding::CompressionLevel::Fastest);
    let long = vec![b'a'; 300_000];
    fs::write(&path, [pack(b"first "), pack(&long), pack(b" last")].concat()).unwrap();
    let mut text = Vec::new();
    Frames::new(fs::File::open(&path).unwrap()).read_to_end(&mut text).unwrap();
    assert_eq!(text, [&b"first "[..], &long, &b" last"[..]].concat());

    fs::write(&path, &pack(&long)[..8]).unwrap();
    assert!(Frames::new(fs::File::open(&path).unwrap()).read_to_end(&mut text).is_err());
    fs::write(&path, b"no zstd at all").unwrap();
    assert!(Frames::new(fs::File::open(&path).unwrap()).read_to_end(&mut text).is_err());
}
