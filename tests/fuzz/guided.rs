//! The targets under libFuzzer, which looks at coverage: `tests/fuzz/run TARGET SECONDS`. Built apart from the program, by
//! the stable compiler; the target is named by `TRELLIS_FUZZ`.
#![no_main]
#![allow(clippy::disallowed_methods, reason = "libFuzzer leaves no arguments to its caller")]

mod targets;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

static TARGET: LazyLock<targets::Target> = LazyLock::new(|| {
    let name = std::env::var("TRELLIS_FUZZ").unwrap_or_default();
    targets::named(&name).unwrap_or_else(|| {
        let known: Vec<&str> = targets::ALL.iter().map(|target| target.name).collect();
        panic!("TRELLIS_FUZZ names no target: give one of {}", known.join(", "))
    })
});

/// Copies the target's seeds into the folder that `TRELLIS_FUZZ_SEEDS` names: libFuzzer takes folders only.
fn lay_seeds() {
    let Some(folder) = std::env::var_os("TRELLIS_FUZZ_SEEDS").map(PathBuf::from) else { return };
    let found = format!("tests/fuzz/found/{}", TARGET.name);
    for (place, seeds) in TARGET.seeds.iter().copied().chain([found.as_str()]).enumerate() {
        let seeds = Path::new(seeds);
        let listed = fs::read_dir(seeds).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
        for file in listed.chain([seeds.to_owned()]).filter(|path| path.is_file()) {
            let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            fs::copy(&file, folder.join(format!("{place}-{name}"))).expect("seeds can be copied");
        }
    }
}

libfuzzer_sys::fuzz_target!(init: lay_seeds(), |bytes: &[u8]| (TARGET.check)(bytes));
