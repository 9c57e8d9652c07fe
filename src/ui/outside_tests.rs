//! A text in the person's own program.

use super::*;

fn argv(script: &str) -> Vec<String> {
    ["sh", "-c", script, "sh"].map(str::to_owned).to_vec()
}

#[test]
fn a_text_goes_out_in_a_file_for_the_person_alone_and_nothing_of_it_stays() {
    let seen = tempfile::NamedTempFile::new().unwrap();
    let script = format!(
        "exec > '{}'; ls -l \"$1\" | cut -c1-10; ls -ld \"$(dirname \"$1\")\" | cut -c1-10; echo \"$1\"; touch \"$1~\"; printf ' more' >> \"$1\"",
        seen.path().display()
    );
    assert_eq!(through_program(&argv(&script), "some text", || {}).unwrap(), "some text more");
    let told = std::fs::read_to_string(seen.path()).unwrap();
    let [file, folder, path] = told.lines().collect::<Vec<_>>()[..] else { panic!("{told}") };
    assert_eq!((file, folder), ("-rw-------", "drwx------"));
    assert!(!std::path::Path::new(path).parent().unwrap().exists(), "{path}");
}

#[test]
fn a_program_that_fails_or_is_not_there_leaves_the_text_as_it_was() {
    let why = format!("{:#}", through_program(&argv("printf lost > \"$1\"; exit 3"), "kept", || {}).unwrap_err());
    assert!(why.contains("the text is as it was"), "{why}");
    let missing = ["/no/such/editor".to_owned()];
    assert!(format!("{:#}", through_program(&missing, "kept", || {}).unwrap_err()).contains("/no/such/editor"));
}
