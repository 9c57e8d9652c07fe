//! The manual says what the program does: its key tables are those of the keymap, its pictures are there, and every banner
//! is explained; every link of every page leads somewhere. What `docs/coverage.md` says of keys is so: each one is pressed in the tests that it names.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use trellis::ui::keymap::{Keymap, Table};

fn manual() -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/manual.md")).unwrap()
}

const TABLES: [Table; 14] = [
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
    Table::Dialogs,
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

/// What a key is called where it is pressed.
fn pressed_name(key: &str) -> String {
    match key {
        "PgDn" => "NPage".to_owned(),
        "PgUp" => "PPage".to_owned(),
        "Esc" => "Escape".to_owned(),
        "Backspace" => "BSpace".to_owned(),
        "Shift-Tab" => "BTab".to_owned(),
        _ => key.strip_prefix("Ctrl-").map_or_else(|| key.to_owned(), |letter| format!("C-{letter}")),
    }
}

/// The text of each function of the tests in a real terminal, by name.
fn bodies() -> BTreeMap<String, String> {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/e2e")];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() { folders.push(path) } else { files.push(path) }
        }
    }
    let mut bodies = BTreeMap::new();
    for file in files.into_iter().filter(|path| path.extension().is_some_and(|kind| kind == "rs")) {
        let text = fs::read_to_string(file).unwrap();
        for function in text.split("\nfn ").skip(1) {
            let name = function.split('(').next().unwrap_or_default().to_owned();
            let end = function.find("\n}\n").unwrap_or(function.len());
            bodies.entry(name).or_insert_with(String::new).push_str(&function[..end]);
        }
    }
    bodies
}

#[test]
fn every_key_of_the_keymap_is_pressed_in_the_tests_that_its_row_names() {
    let coverage = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/coverage.md")).unwrap();
    let rows: Vec<Vec<&str>> = coverage
        .lines()
        .filter(|line| line.starts_with("| keys, "))
        .map(|line| line.trim_matches('|').split(" | ").map(str::trim).collect())
        .collect();
    let bodies = bodies();
    let keymap: toml::Table = toml::from_str(trellis::ui::keymap::DEFAULT).unwrap();
    let mut wrong = Vec::new();
    let mut count = 0;
    for (table, lines) in &keymap {
        for line in lines.as_array().unwrap() {
            let action = line["action"].as_str().unwrap();
            let keys: Vec<&str> = line["keys"].as_array().unwrap().iter().filter_map(|key| key.as_str()).collect();
            let what = format!("keys, {table}: {}", keys.join(" "));
            let Some(row) = rows.iter().find(|row| row[0] == what && row[1] == action) else {
                wrong.push(format!("no row: {what} | {action}"));
                continue;
            };
            let tests: Vec<&str> = row[2].split('`').skip(1).step_by(2).collect();
            for key in keys {
                count += 1;
                let literal = format!("\"{}\"", pressed_name(key));
                let pressed = tests.iter().filter_map(|test| bodies.get(*test)).any(|body| body.contains(&literal));
                if !pressed {
                    wrong.push(format!("{what} | {action}: {key} is not pressed in {}", row[2]));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count > 150, "only {count} keys");
}

/// How a heading is called in an address.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().to_lowercase();
    let kept = kept.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[test]
fn every_link_of_every_page_leads_to_a_file_and_a_heading_that_are_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut pages = vec![root.join("README.md"), root.join("CHANGELOG.md"), root.join(".packaging/README.md")];
    let docs = fs::read_dir(root.join("docs")).unwrap().map(|entry| entry.unwrap().path());
    pages.extend(docs.filter(|path| path.extension().is_some_and(|kind| kind == "md")));
    let mut broken = Vec::new();
    let mut count = 0;
    for page in pages {
        let text = fs::read_to_string(&page).unwrap_or_else(|error| panic!("{}: {error}", page.display()));
        let prose: String = text.split("```").step_by(2).collect();
        for link in prose.split("](").skip(1).filter_map(|rest| rest.split([')', ' ']).next()) {
            if link.contains("://") {
                continue;
            }
            count += 1;
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { page.clone() } else { page.parent().unwrap().join(file) };
            let Ok(there) = fs::read_to_string(&target) else {
                broken.push(format!("{}: {link}", page.display()));
                continue;
            };
            let has =
                there.lines().any(|line| line.starts_with('#') && anchor(line.trim_start_matches('#')) == heading);
            if !heading.is_empty() && !has {
                broken.push(format!("{}: {link} names no heading", page.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
    assert!(count > 40, "{count}");
}
