//! What a person can type after the screen was left, as lines that fit the terminal and that a shell reads as one command.
//! Prints nothing.

use super::row::{Row, Tone};
use super::sanitise::clean_line;
use super::width::width;
use super::wrap::wrap_text;

/// What a person can type next, each with the words before it: `back to it:`, then the command on lines of its own. The
/// words are wrapped; a command that does not fit goes on behind a `\` as a shell reads it, parted at a blank or a `/`.
#[must_use]
pub fn next_steps(steps: &[(&str, &str)], columns: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for (words, command) in steps {
        lines.extend(wrap_text(words, Tone::Text, columns).iter().map(Row::words));
        lines.extend(shell_lines(&clean_line(command), columns));
    }
    lines
}

fn shell_lines(command: &str, columns: usize) -> Vec<String> {
    const DEEPER: &str = "  ";
    // A `\` inside of quotes would be part of the word; and hardly a terminal is so narrow.
    if width(command) <= columns || command.contains('\'') || columns < 12 {
        return vec![command.to_owned()];
    }
    let mut lines = vec![String::new()];
    for word in command.split(' ') {
        let Some(line) = lines.last_mut() else { continue };
        if line.is_empty() {
            line.push_str(word);
        } else if width(line) + 1 + width(word) + 2 <= columns {
            line.push(' ');
            line.push_str(word);
        } else {
            line.push_str(" \\");
            lines.push(format!("{DEEPER}{word}"));
        }
        // The rest of a word that is too long begins at the first column: in front of it a blank would be one.
        while let Some(line) = lines.last_mut().filter(|line| width(line) + 2 > columns) {
            let mut ends = line.rmatch_indices('/').map(|(at, _)| at + 1);
            let fits = ends.find(|at| line.get(..*at).is_some_and(|front| width(front) < columns));
            let Some(at) = fits.filter(|at| *at < line.len()) else { break };
            let rest = line.split_off(at);
            line.push('\\');
            lines.push(rest);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::next_steps;

    /// What a person is to type can be copied from any pane: a shell reads the lines as the one command.
    #[test]
    fn a_command_that_does_not_fit_is_parted_as_a_shell_reads_it() {
        let steps =
            [("What the demo made stays. To go on with it:", "trellis uninstall --yes --home /tmp/trellis-demo-x")];
        assert_eq!(
            next_steps(&steps, 38),
            [
                "What the demo made stays. To go on",
                "with it:",
                "trellis uninstall --yes --home \\",
                "  /tmp/trellis-demo-x",
            ]
        );
        let long = "trellis --home /var/folders/ab/cdefghijklmnop/T/trellis-demo-oA9SCO";
        let lines = next_steps(&[("", long)], 38)[1..].join("\n");
        assert_eq!(lines, "trellis --home \\\n  /var/folders/ab/cdefghijklmnop/T/\\\ntrellis-demo-oA9SCO");
        assert_eq!(lines.replace("/\\\n", "/").replace("\\\n  ", ""), long);
        assert_eq!(next_steps(&[("", long)], usize::MAX)[1..], [long]);
        assert_eq!(next_steps(&[("", "trellis --home '/tmp/a b c d e f g h i j k l m n'")], 38).len(), 2);
    }
}
