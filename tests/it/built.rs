//! What the build script says of a program: its commit and that commit's day, from a package, a clone or the environment,
//! and never the time of the build. The script is compiled and run by itself.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The script in a folder of its own.
struct Script(tempfile::TempDir);

impl Script {
    fn new() -> Self {
        let script = Self(tempfile::tempdir().unwrap());
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/build.rs");
        let mut rustc = Command::new("rustc");
        rustc.args(["--edition", "2024", "-A", "warnings", "-o"]).arg(script.path("script")).arg(source);
        let built = rustc.output().unwrap();
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        fs::create_dir(script.path("package")).unwrap();
        script
    }

    fn path(&self, below: &str) -> PathBuf {
        self.0.path().join(below)
    }

    fn said(&self, folder: &str, variables: &[(&str, &str)]) -> String {
        let mut command = Command::new(self.path("script"));
        command.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").env("PROFILE", "release");
        // Nothing above the folder is a clone, whatever this machine has there.
        command.env("GIT_CEILING_DIRECTORIES", self.0.path()).envs(variables.iter().copied());
        let output = command.current_dir(self.path(folder)).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    fn version(&self, folder: &str, variables: &[(&str, &str)]) -> String {
        let said = self.said(folder, variables);
        let line = said.lines().find_map(|line| line.strip_prefix("cargo::rustc-env=TRELLIS_BUILT="));
        line.unwrap_or_else(|| panic!("{said}")).to_owned()
    }

    fn git(&self, words: &[&str]) {
        let mut git = Command::new("git");
        git.arg("-C").arg(self.path("package")).args(["-c", "user.name=n", "-c", "user.email=e"]).args(words);
        git.env("GIT_COMMITTER_DATE", "2024-02-29T23:30:00 -0500").env("GIT_CONFIG_GLOBAL", "/dev/null");
        let done = git.output().unwrap();
        assert!(done.status.success(), "git {words:?}: {}", String::from_utf8_lossy(&done.stderr));
    }
}

const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

#[test]
fn a_program_names_its_commit_and_that_commits_day_and_never_the_time_of_its_build() {
    let script = Script::new();
    let plain = |variables: &[(&str, &str)]| script.version("package", variables);
    assert_eq!(plain(&[]), "", "a bare folder says nothing");
    assert_eq!(plain(&[("TRELLIS_COMMIT", COMMIT)]), " (0123456789ab)");
    for (seconds, day) in [("0", "1970-01-01"), ("951782400", "2000-02-29"), ("4102444799", "2099-12-31")] {
        assert_eq!(plain(&[("SOURCE_DATE_EPOCH", seconds)]), format!(" ({day})"));
        let both = [("TRELLIS_COMMIT", COMMIT), ("SOURCE_DATE_EPOCH", seconds)];
        assert_eq!(plain(&both), format!(" (0123456789ab {day})"));
    }
    // A package that cargo made says it itself.
    let note = script.path("package/.cargo_vcs_info.json");
    fs::write(&note, format!("{{\"git\": {{\"sha1\": \"{COMMIT}\"}}, \"path_in_vcs\": \"\"}}")).unwrap();
    assert_eq!(plain(&[]), " (0123456789ab)");
    fs::remove_file(note).unwrap();
    // A clone.
    fs::create_dir_all(script.path("package/src/inner")).unwrap();
    fs::write(script.path("package/src/main.rs"), "fn main() {}").unwrap();
    fs::write(script.path("package/src/inner/main.rs"), "fn main() {}").unwrap();
    for words in [&["init", "-q"][..], &["add", "."], &["commit", "-q", "-m", "first"]] {
        script.git(words);
    }
    let said = plain(&[]);
    assert!(said.ends_with(" 2024-03-01)") && said.len() == " (0123456789ab 2024-03-01)".len(), "{said}");
    assert_eq!(plain(&[]), said, "twice the same");
    assert!(plain(&[("SOURCE_DATE_EPOCH", "0")]).ends_with(" 1970-01-01)"));
    assert_eq!(script.version("package/src/inner", &[]), "", "a folder inside of a clone is none of its commits");
    assert_eq!(plain(&[("PROFILE", "debug")]), "", "a debug build would be built anew with every commit");
    fs::write(script.path("package/notes"), "not a part of the program").unwrap();
    assert_eq!(plain(&[]), said);
    fs::write(script.path("package/src/main.rs"), "fn main() { }").unwrap();
    assert_eq!(plain(&[]), said.replace(" 2024", "+ 2024"));
}

/// A path that is not there would make cargo build anew at every call.
#[test]
fn cargo_is_told_to_look_at_paths_that_are_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let script = Script::new();
    let mut command = Command::new(script.path("script"));
    let output = command.current_dir(root).env("PROFILE", "release").output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    let paths: Vec<&str> = said.lines().filter_map(|line| line.strip_prefix("cargo::rerun-if-changed=")).collect();
    assert!(!paths.is_empty(), "{said}");
    let missing: Vec<&&str> = paths.iter().filter(|path| !root.join(path).exists()).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
