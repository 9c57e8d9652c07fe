//! Process facts on Linux, from procfs. Only what `os` promises is here.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use super::{Process, Variables};

/// Start times in procfs are told in this unit on every architecture that still exists.
const TICKS_PER_SECOND: i64 = 100;

/// How often, and how far apart, a process without any words is looked at again: some blank theirs for good.
const EXEC_LOOKS: u32 = 20;
const EXEC_PAUSE: Duration = Duration::from_millis(1);

pub(super) fn process(pid: u32) -> Option<Process> {
    // Bytes: a program's name is whatever it calls itself.
    let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
    parse_stat(pid, &String::from_utf8_lossy(&stat))
}

pub(super) fn processes() -> Vec<Process> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok()).filter_map(process).collect()
}

pub(super) fn environment(pid: u32) -> Option<Variables> {
    let bytes = settled(pid, "environ")?;
    let mut variables = BTreeMap::new();
    for entry in bytes.split(|byte| *byte == 0) {
        if let Some((name, value)) = String::from_utf8_lossy(entry).split_once('=') {
            variables.insert(name.to_owned(), value.to_owned());
        }
    }
    Some(variables)
}

pub(super) fn argv(pid: u32) -> Option<Vec<String>> {
    let bytes = settled(pid, "cmdline")?;
    let bytes = bytes.strip_suffix(&[0]).unwrap_or(&bytes);
    Some(bytes.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned()).collect())
}

/// What a process was started with. While it becomes another program (`exec`) the file is empty or cut for an instant, and
/// whoever takes that for an answer overlooks a living process: it is read until two looks agree.
fn settled(pid: u32, name: &str) -> Option<Vec<u8>> {
    let path = format!("/proc/{pid}/{name}");
    let mut bytes = fs::read(&path).ok()?;
    for _ in 0..EXEC_LOOKS {
        let again = fs::read(&path).ok()?;
        // The kernel's own threads have no program.
        if again == bytes && (!bytes.is_empty() || executable(pid).is_none()) {
            break;
        }
        bytes = again;
        thread::sleep(EXEC_PAUSE);
    }
    Some(bytes)
}

pub(super) fn executable(pid: u32) -> Option<PathBuf> {
    fs::read_link(format!("/proc/{pid}/exe")).ok()
}

/// From its status and not from its folder's owner: a process that hides its memory leaves that to the superuser.
pub(super) fn user(pid: u32) -> Option<u32> {
    parse_user(&String::from_utf8_lossy(&fs::read(format!("/proc/{pid}/status")).ok()?))
}

/// `Uid:` real, effective, saved, of the file system.
fn parse_user(status: &str) -> Option<u32> {
    status.lines().find_map(|line| line.strip_prefix("Uid:"))?.split_whitespace().nth(1)?.parse().ok()
}

pub(super) fn folder(pid: u32) -> Option<PathBuf> {
    fs::read_link(format!("/proc/{pid}/cwd")).ok()
}

pub(super) fn written_files(pid: u32) -> Option<Vec<PathBuf>> {
    let entries = match fs::read_dir(format!("/proc/{pid}/fd")) {
        Ok(entries) => entries,
        // One that has ended holds nothing.
        Err(error) if error.kind() == ErrorKind::NotFound => return Some(Vec::new()),
        Err(_) => return None,
    };
    // A descriptor may be closed between listing and reading: that one is left out.
    let files = entries.filter_map(|entry| {
        let entry = entry.ok()?;
        let path = fs::read_link(entry.path()).ok()?;
        let facts = fs::read_to_string(format!("/proc/{pid}/fdinfo/{}", entry.file_name().to_str()?)).ok()?;
        is_written(&facts).then_some(path)
    });
    Some(files.filter(|path| path.is_absolute()).collect())
}

/// `flags:` in octal; the last two bits are 0 for a descriptor that only reads.
fn is_written(facts: &str) -> bool {
    let flags = facts.lines().find_map(|line| line.strip_prefix("flags:"));
    flags.and_then(|flags| u64::from_str_radix(flags.trim(), 8).ok()).is_some_and(|flags| flags & 3 != 0)
}

pub(super) fn watch_limits() -> Option<(u64, u64, u64)> {
    let limit = |name: &str| fs::read_to_string(format!("/proc/sys/fs/inotify/{name}")).ok()?.trim().parse().ok();
    Some((limit("max_user_watches")?, limit("max_user_instances")?, instances()))
}

/// Watch instances of all processes whose files may be looked at: those of this user.
fn instances() -> u64 {
    let of = |pid: u32| {
        let entries = fs::read_dir(format!("/proc/{pid}/fd")).ok()?;
        let watches = entries.filter(|entry| {
            let target = entry.as_ref().ok().and_then(|entry| fs::read_link(entry.path()).ok());
            target.is_some_and(|target| target.as_os_str() == "anon_inode:inotify")
        });
        u64::try_from(watches.count()).ok()
    };
    processes().into_iter().filter_map(|process| of(process.pid)).sum()
}

/// `pid (name) state ppid pgrp session tty tpgid … starttime …`; the name may hold spaces and parentheses.
fn parse_stat(pid: u32, stat: &str) -> Option<Process> {
    let (head, tail) = stat.rsplit_once(')')?;
    let (_, name) = head.split_once('(')?;
    let fields: Vec<&str> = tail.split_whitespace().collect();
    let field = |number: usize| fields.get(number.checked_sub(3)?).copied();
    let state = field(3)?;
    if matches!(state, "Z" | "X" | "x") {
        return None;
    }
    let group: i64 = field(5)?.parse().ok()?;
    let foreground: i64 = field(8)?.parse().ok()?;
    let ticks = field(22)?;
    Some(Process {
        pid,
        parent: field(4)?.parse().ok()?,
        name: name.to_owned(),
        terminal: terminal(field(7)?.parse().ok()?),
        foreground: foreground == group,
        stopped: matches!(state, "T" | "t"),
        started_at: started_at(ticks.parse().ok()?),
        start_mark: ticks.to_owned(),
    })
}

/// Names a pseudo terminal by its device number (major 136 to 143); others have no name here.
fn terminal(device: i64) -> Option<String> {
    let device = u64::try_from(device).ok()?;
    let major = (device >> 8) & 0xfff;
    let minor = (device & 0xff) | ((device >> 12) & 0xfff00);
    let first = major.checked_sub(136).filter(|above| *above < 8)?;
    Some(format!("/dev/pts/{}", first * 256 + minor))
}

fn started_at(ticks: i64) -> Option<Timestamp> {
    Timestamp::from_second(BOOT.lock().ok()?.second()? + ticks / TICKS_PER_SECOND).ok()
}

static BOOT: Mutex<Boot> = Mutex::new(Boot { second: None, read: None });

/// When the machine was started, by the wall clock.
#[derive(Debug)]
struct Boot {
    second: Option<i64>,
    read: Option<Timestamp>,
}

impl Boot {
    /// Looked up now and then, and believed when it is earlier: a clock that was set back moves the starts of all
    /// processes back with it, and a process that seems to have begun inside its own turn would be taken for another.
    fn second(&mut self) -> Option<i64> {
        const PAUSE: SignedDuration = SignedDuration::from_secs(5);
        let now = crate::clock::now();
        if self.read.is_none_or(|read| now.duration_since(read).abs() >= PAUSE) {
            self.read = Some(now);
            self.second = earlier(self.second, boot_second(Path::new("/proc/stat")));
        }
        self.second
    }
}

/// The kernel computes the boot time from the clock, and it may waver by a second.
fn earlier(known: Option<i64>, read: Option<i64>) -> Option<i64> {
    match (known, read) {
        (Some(known), Some(read)) if read < known - 1 => Some(read),
        (Some(known), _) => Some(known),
        (None, read) => read,
    }
}

fn boot_second(stat: &Path) -> Option<i64> {
    let text = fs::read_to_string(stat).ok()?;
    text.lines().find_map(|line| line.strip_prefix("btime ")?.trim().parse().ok())
}

#[cfg(test)]
#[path = "os_linux_tests.rs"]
mod tests;
