//! Tool calls in a few words: which ones edit files, what they are about, how many lines they changed.

/// Tools named for editing files, of both agents.
const EDITORS: [&str; 5] = ["Write", "Edit", "MultiEdit", "NotebookEdit", "apply_patch"];

/// Longest summary, in characters.
const SUMMARY: usize = 120;

/// Whether the tool is named for editing files.
pub(super) fn is_editor(name: &str) -> bool {
    EDITORS.contains(&name)
}

/// Whether a shell command is Codex's way to call `apply_patch`.
pub(super) fn runs_apply_patch(command: &str) -> bool {
    command.lines().any(|line| {
        let line = line.trim_start();
        line.strip_prefix("apply_patch").is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '<', '\t']))
            || line.contains("&& apply_patch <<")
    })
}

/// The first line with something on it, at most 120 characters.
pub(super) fn first_words(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    line.chars().filter(|c| !c.is_control()).take(SUMMARY).collect()
}

/// Lines added and removed by the lines of a patch.
pub(super) fn count_lines<'a>(lines: impl Iterator<Item = &'a str>) -> (u32, u32) {
    lines.fold((0, 0), |(added, removed), line| {
        (added + u32::from(line.starts_with('+')), removed + u32::from(line.starts_with('-')))
    })
}

/// The files that a patch in Codex's own format names.
pub(super) fn patched_files(patch: &str) -> String {
    let files: Vec<&str> = patch
        .lines()
        .filter_map(|line| {
            ["*** Add File: ", "*** Update File: ", "*** Delete File: "]
                .iter()
                .find_map(|header| line.strip_prefix(header))
        })
        .map(str::trim)
        .collect();
    first_words(&files.join(", "))
}
