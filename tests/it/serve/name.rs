//! The socket's name: for the person alone, replaced when it is dead, left alone when it is not, gone at the end, and
//! found however long it is.

use std::fs;
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::os::unix::net::{UnixListener, UnixStream};

use trellis::paths::Home;
use trellis::store::lock::Lock;
use trellis::store::socket::{Name, Socket, SocketError};

use super::{served_in, still};

fn connect(home: &Home) -> std::io::Result<UnixStream> {
    UnixStream::connect(Name::of(home)?.path())
}

fn temporary() -> (tempfile::TempDir, Home) {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path().join("home"));
    (folder, home)
}

#[test]
fn the_socket_is_for_the_person_alone_and_goes_with_its_driver() {
    let (_folder, home) = temporary();
    served_in(
        &home,
        still(),
        |_, _| {},
        async |served| {
            let facts = fs::symlink_metadata(served.home.socket()).unwrap();
            assert!(facts.file_type().is_socket());
            assert_eq!(facts.permissions().mode() & 0o777, 0o600);
            assert!(!served.home.root().join(".socket").exists());
        },
    );
    assert!(!home.socket().exists());
    assert!(connect(&home).is_err());
}

#[test]
fn a_dead_socket_is_replaced_and_a_strange_one_is_left_alone() {
    let (_folder, home) = temporary();
    let lock = Lock::take(&home).unwrap();
    drop(UnixListener::bind(home.socket()).unwrap());
    assert!(home.socket().exists(), "what a killed driver leaves");
    let (socket, listener) = Socket::listen(&home, &lock).unwrap();
    drop(connect(&home).unwrap());
    // One that another socket has taken the name of is not removed by the first.
    fs::remove_file(home.socket()).unwrap();
    let _other = UnixListener::bind(home.socket()).unwrap();
    drop((socket, listener));
    assert!(home.socket().exists());

    fs::remove_file(home.socket()).unwrap();
    fs::write(home.socket(), "a person's file").unwrap();
    match Socket::listen(&home, &lock) {
        Err(error @ SocketError::Other { .. }) => assert!(error.to_string().contains("is no socket: move it away")),
        other => panic!("{other:?}"),
    }
    assert_eq!(fs::read_to_string(home.socket()).unwrap(), "a person's file");
}

#[test]
fn a_socket_on_which_somebody_answers_is_not_taken() {
    let (_folder, home) = temporary();
    served_in(
        &home,
        still(),
        |_, _| {},
        async |served| {
            let again = served.home.clone();
            // The lock of another home: the file system does not know whose it is.
            let other = tempfile::tempdir().unwrap();
            let lock = Lock::take(&Home::at(other.path())).unwrap();
            let tried = tokio::task::spawn_blocking(move || Socket::listen(&again, &lock).map(drop)).await.unwrap();
            assert!(matches!(tried, Err(SocketError::Answers { .. })), "{tried:?}");
            assert_eq!(served.ask("GET", "/api/v1/health", "").await.status, 200);
        },
    );
}

/// A name that no socket could bear: it is reached through its folder, by the driver and by whoever asks it.
#[test]
fn a_home_with_a_long_name_has_a_socket_all_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path().join("a-folder-with-a-long-name-".repeat(6)));
    let lock = Lock::take(&home).unwrap();
    assert!(home.socket().as_os_str().len() > 108);
    match Socket::listen(&home, &lock) {
        Ok((socket, listener)) => {
            let _line = connect(&home).unwrap();
            listener.accept().unwrap();
            assert_eq!(fs::metadata(home.socket()).unwrap().permissions().mode() & 0o777, 0o600);
            drop(socket);
            assert!(!home.socket().exists());
        }
        // Where no system gives an open folder a name.
        Err(error @ SocketError::TooLong { .. }) => assert!(error.to_string().contains("name a shorter home")),
        Err(error) => panic!("{error}"),
    }
}
