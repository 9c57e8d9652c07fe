//! `trellis man`: the manual pages, one a command, made from the command line's own definition. Installs nothing.

use clap::{Command, CommandFactory as _};

use super::{Cli, Failure, out};

/// Prints one page.
///
/// # Errors
/// There is none of that name, or the output refuses.
pub fn man(page: &str) -> Result<(), Failure> {
    let Some((_, command)) = pages().into_iter().find(|(name, _)| name == page) else {
        let page = out::plain(page);
        return Err(Failure::refused(format!("there is no page {page}; trellis man --list names them")));
    };
    let mut text = Vec::new();
    clap_mangen::Man::new(command).source(format!("trellis {}", super::VERSION)).render(&mut text)?;
    out::text(&String::from_utf8_lossy(&text))
}

/// Names the pages.
///
/// # Errors
/// The output refuses.
pub fn list(json: bool) -> Result<(), Failure> {
    if json {
        return out::json(&pages().into_iter().map(|(name, _)| name).collect::<Vec<_>>());
    }
    pages().iter().try_for_each(|(name, _)| out::line(name))
}

/// Every page by its name, a command before its own commands.
fn pages() -> Vec<(String, Command)> {
    let mut whole = Cli::command();
    whole.build();
    let mut pages = vec![("trellis".to_owned(), whole)];
    let mut at = 0;
    while let Some((name, command)) = pages.get(at) {
        let below = command.get_subcommands().filter(|one| !one.is_hide_set());
        let below: Vec<_> = below.map(|one| (format!("{name}-{}", one.get_name()), one.clone())).collect();
        at += 1;
        pages.splice(at..at, below);
    }
    pages
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_command_has_a_page_and_a_page_names_pages_that_are_there() {
        let pages = pages();
        let names: Vec<&str> = pages.iter().map(|(name, _)| name.as_str()).collect();
        assert!(names.starts_with(&["trellis", "trellis-demo", "trellis-run", "trellis-run-start"]), "{names:?}");
        assert!(!names.contains(&"trellis-hook"));
        for (name, command) in &pages {
            let mut text = Vec::new();
            clap_mangen::Man::new(command.clone()).render(&mut text).unwrap();
            let text = String::from_utf8(text).unwrap().replace("\\-", "-");
            assert!(text.contains(&format!(".TH {name} 1")), "{name}: {text}");
            assert!(!text.contains("--detached"), "{name}");
            for named in text.lines().filter_map(|line| line.strip_suffix("(1)")) {
                assert!(names.contains(&named), "{name} names {named}");
            }
        }
    }
}
