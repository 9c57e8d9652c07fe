//! Diffs that stand bare in a text, put into a fence so that Markdown leaves them alone; and how a line of a diff looks.

use crate::ui::row::Tone;

/// The text with a fence around each bare unified diff. Lines inside of fences are left as they are.
/// `marks`: line numbers that move along with the lines they are of.
pub(super) fn fenced(source: &str, marks: &mut [usize]) -> Option<String> {
    if !source.contains("@@ -") {
        return None;
    }
    let lines: Vec<&str> = source.split('\n').collect();
    let mut out: Vec<&str> = Vec::with_capacity(lines.len() + 4);
    let mut added = false;
    let mut fence: Option<(char, usize)> = None;
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        fence = match (fence, mark_of(line)) {
            (None, Some((mark, length, _))) => Some((mark, length)),
            (Some((mark, length)), Some((other, long, true))) if mark == other && long >= length => None,
            (open, _) => open,
        };
        let length = if fence.is_none() { diff_at(lines.get(at..).unwrap_or_default()) } else { 0 };
        if length == 0 {
            out.push(line);
            at += 1;
            continue;
        }
        for mark in marks.iter_mut().filter(|mark| **mark >= at) {
            *mark += if *mark < at + length { 1 } else { 2 };
        }
        added = true;
        out.push("````diff");
        out.extend(lines.iter().skip(at).take(length));
        out.push("````");
        at += length;
    }
    added.then(|| out.join("\n"))
}

fn mark_of(line: &str) -> Option<(char, usize, bool)> {
    let line = line.trim_start_matches(' ');
    let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let length = line.chars().take_while(|c| *c == mark).count();
    let is_bare = line.get(length..).is_some_and(|rest| rest.trim().is_empty());
    (length >= 3).then_some((mark, length, is_bare))
}

/// How many lines from the first on are a diff: its head, if it has one, then hunks.
fn diff_at(lines: &[&str]) -> usize {
    let mut at = 0;
    let mut end = 0;
    loop {
        let head = lines.iter().skip(at).take_while(|line| is_head(line)).count();
        let Some((old, new)) = lines.get(at + head).and_then(|line| hunk(line)) else { return end };
        at += head + 1;
        let (mut old, mut new) = (old, new);
        while let Some(line) = lines.get(at) {
            match line.chars().next() {
                Some('+') if new > 0 => new -= 1,
                Some('-') if old > 0 => old -= 1,
                Some(' ') | None if old > 0 && new > 0 => (old, new) = (old - 1, new - 1),
                Some('\\') => {}
                _ => break,
            }
            at += 1;
        }
        end = at;
    }
}

fn is_head(line: &str) -> bool {
    const HEADS: [&str; 13] = [
        "diff --git ",
        "index ",
        "--- ",
        "+++ ",
        "new file mode ",
        "deleted file mode ",
        "old mode ",
        "new mode ",
        "similarity index ",
        "rename from ",
        "rename to ",
        "copy from ",
        "copy to ",
    ];
    HEADS.iter().any(|head| line.starts_with(head))
}

/// Lines of the old and of the new file that a hunk says it has.
fn hunk(line: &str) -> Option<(usize, usize)> {
    let (ranges, _) = line.strip_prefix("@@ -")?.split_once(" @@")?;
    let (old, new) = ranges.split_once(" +")?;
    let count = |range: &str| match range.split_once(',') {
        Some((_, count)) => count.parse().ok(),
        None => range.parse::<usize>().ok().map(|_| 1),
    };
    Some((count(old)?, count(new)?))
}

/// The tone of a line of a diff.
pub(super) fn tone(line: &str) -> Tone {
    match line.chars().next() {
        _ if line.starts_with("+++ ") || line.starts_with("--- ") || line.starts_with("diff --git ") => Tone::Strong,
        _ if line.starts_with("@@ ") => Tone::Relay,
        Some('+') => Tone::Added,
        Some('-') => Tone::Removed,
        _ => Tone::Code,
    }
}
