//! Tests of `small_file`.

use rustix::fs::{CWD, Mode, mkfifoat};

use super::*;

#[test]
fn what_is_no_ordinary_file_is_refused_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    mkfifoat(CWD, &pipe, Mode::RUSR | Mode::WUSR).unwrap();
    assert!(bytes(&pipe).unwrap_err().to_string().contains("not a file"));
    let endless = folder.path().join("endless");
    std::os::unix::fs::symlink("/dev/zero", &endless).unwrap();
    assert!(bytes(&endless).unwrap_err().to_string().contains("not a file"));
    assert!(bytes(folder.path()).is_err());
    assert_eq!(bytes(&folder.path().join("none")).unwrap_err().kind(), io::ErrorKind::NotFound);
}

#[test]
fn no_more_than_the_most_is_read() {
    let file = tempfile::NamedTempFile::new().unwrap();
    file.as_file().set_len(MOST).unwrap();
    assert_eq!(bytes(file.path()).unwrap().len() as u64, MOST);
    file.as_file().set_len(MOST + 1).unwrap();
    assert!(bytes(file.path()).unwrap_err().to_string().contains("larger"));
}
