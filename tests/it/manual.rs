//! The manual says what the program does: its key tables are those of the keymap, its pictures are there, and every banner
//! is explained.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use trellis::ui::keymap::{Keymap, Table};

fn manual() -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/manual.md")).unwrap()
}

const TABLES: [Table; 13] = [
    Table::Everywhere,
    Table::OfARun,
    Table::Runs,
    Table::Run,
    Table::Sessions,
    Table::Session,
    Table::Log,
    Table::LookFirst,
    Table::Editor,
    Table::Form,
    Table::Palette,
    Table::Summary,
    Table::Help,
];

/// The section of the keys as the keymap gives it; a new one is left where it can be copied from.
#[test]
fn the_manuals_key_tables_are_those_of_the_keymap() {
    let keymap = Keymap::standard().unwrap();
    let mut wanted = "## Keys\n\nMade from the keymap; `keymap.toml` changes them.\n".to_owned();
    for table in TABLES {
        let _ = write!(wanted, "\n### {}\n\n| key | does |\n|---|---|\n", table.title());
        for binding in keymap.table(table) {
            let keys: Vec<String> = binding.keys.iter().map(|key| format!("`{key}`")).collect();
            let _ = writeln!(wanted, "| {} | {} |", keys.join(" "), binding.says);
        }
    }
    let manual = manual();
    let from = manual.find("## Keys").unwrap();
    let to = from + manual[from..].find("\n## Looks").unwrap();
    if manual[from..to] != wanted {
        let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("keys.md");
        fs::write(&file, &wanted).unwrap();
        panic!("put {} in the place of the section Keys of docs/manual.md", file.display());
    }
}

#[test]
fn the_manuals_pictures_are_there() {
    let manual = manual();
    let links: Vec<&str> = manual.split("](").skip(1).filter_map(|rest| rest.split(')').next()).collect();
    assert!(links.len() >= 5, "{links:?}");
    for link in links.into_iter().filter(|link| !link.starts_with("http")) {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs").join(link);
        let text = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        assert!(text.starts_with("<svg") && text.ends_with("</svg>\n"), "{link}");
    }
}
