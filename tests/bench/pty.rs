//! A program on a pseudo-terminal: started, typed to, and its bytes taken with the time at which they came.
//! What the bytes mean is not known here.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

/// Columns and rows of every terminal here.
pub const SIZE: (u16, u16) = (200, 60);

/// A running program and the terminal it has.
pub struct Pty {
    terminal: File,
    child: Child,
    /// Everything that came.
    pub bytes: Vec<u8>,
    /// When it was started.
    pub begun: Instant,
}

/// Where a program is, if it is installed.
pub fn installed(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

impl Pty {
    /// Starts a program with nothing of this process's environment but what is given.
    pub fn start(program: &Path, words: &[&OsStr], variables: &[(&str, &OsStr)]) -> Self {
        let master: OwnedFd = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let size = Winsize { ws_row: SIZE.1, ws_col: SIZE.0, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&master, size).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let slave = File::from(rustix::fs::open(name.as_c_str(), flags, rustix::fs::Mode::empty()).unwrap());
        // A session of its own whose terminal this is, for programs that open /dev/tty.
        let mut command = Command::new(installed("setsid").expect("setsid, of util-linux"));
        command.arg("--ctty").arg(program).args(words).env_clear();
        command.env("TERM", "xterm-256color").env("LANG", "C.UTF-8").env("PATH", "/usr/bin:/bin");
        command.envs(variables.iter().copied());
        let give = || Stdio::from(slave.try_clone().unwrap());
        command.stdin(give()).stdout(give()).stderr(give());
        let begun = Instant::now();
        let child = command.spawn().unwrap();
        Self { terminal: File::from(master), child, bytes: Vec::new(), begun }
    }

    /// The process: `setsid` has become the program by the time it writes.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn press(&mut self, keys: &str) {
        self.terminal.write_all(keys.as_bytes()).unwrap();
    }

    /// Takes what comes until `enough` says so of everything that came since the call; when that was. `None`: it ended,
    /// or the time was over.
    pub fn until(&mut self, within: Duration, mut enough: impl FnMut(&[u8]) -> bool) -> Option<Instant> {
        let (end, from) = (Instant::now() + within, self.bytes.len());
        let mut chunk = vec![0; 65_536];
        loop {
            let left = end.checked_duration_since(Instant::now())?;
            let timeout = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: i64::from(left.subsec_nanos()) };
            let mut polled = [PollFd::new(&self.terminal, PollFlags::IN)];
            if poll(&mut polled, Some(&timeout)).ok()? == 0 {
                return None;
            }
            let count = self.terminal.read(&mut chunk).ok().filter(|count| *count > 0)?;
            let now = Instant::now();
            self.bytes.extend_from_slice(&chunk[..count]);
            if enough(&self.bytes[from..]) {
                return Some(now);
            }
        }
    }

    /// Takes what comes within a time; how many bytes that were.
    pub fn rest(&mut self, time: Duration) -> usize {
        let before = self.bytes.len();
        self.until(time, |_| false);
        self.bytes.len() - before
    }

    /// Waits until nothing came for so long.
    pub fn settle(&mut self, silence: Duration) {
        while self.rest(silence) > 0 {}
    }
}

impl Drop for Pty {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Printed cells in what a program wrote: bytes outside of escape sequences that show something.
pub fn cells(bytes: &[u8]) -> usize {
    let (mut count, mut at) = (0, 0);
    while let Some(byte) = bytes.get(at) {
        at += 1;
        match byte {
            0x1b => {
                let is_csi = bytes.get(at) == Some(&b'[');
                at += 1;
                while is_csi && bytes.get(at).is_some_and(|byte| !(0x40..=0x7e).contains(byte)) {
                    at += 1;
                }
                at += usize::from(is_csi);
            }
            0x21..=0x7e | 0xc0.. => count += 1,
            _ => {}
        }
    }
    count
}

/// Whether a text stands in it, be it cut by escape sequences or not.
pub fn holds(bytes: &[u8], text: &str) -> bool {
    memchr::memmem::find(bytes, text.as_bytes()).is_some()
}
