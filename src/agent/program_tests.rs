//! Tests of `agent::program`.

use super::*;

#[test]
fn input_goes_in_and_output_comes_out() {
    let ended = Program::new("cat", ["-"]).input(b"over there").run().unwrap();
    assert_eq!(ended.content(), Ok(String::from("over there")));
}

#[test]
fn more_than_a_pipe_holds_goes_through() {
    let much = vec![b'x'; 400_000];
    let ended = Program::new("cat", ["-"]).input(&much).run().unwrap();
    assert_eq!(ended.output.len(), much.len());
}

#[test]
fn a_program_that_takes_too_long_is_ended() {
    let late = Program::new("tail", ["-f", "/dev/null"]).limit(Duration::from_millis(50));
    assert!(late.run().is_err());
}

#[test]
fn a_missing_program_is_named() {
    let told = Program::new("no-such-program-here", ["x"]).run().unwrap_err();
    assert!(told.contains("no-such-program-here"), "{told}");
}
