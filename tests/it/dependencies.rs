//! What the program is linked from: licences, sources, and nothing that reaches a network. Asks cargo, without a network.
//! Advisories need a database from outside: `docs/security.md` has the command.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// Licences that a dependency may have.
const LICENCES: [&str; 10] = [
    "MIT",
    "Apache-2.0",
    "BSD-3-Clause",
    "ISC",
    "Zlib",
    "Unicode-3.0",
    "Unlicense",
    "CC0-1.0",
    "MPL-2.0",
    // The exception only gives more.
    "Apache-2.0 WITH LLVM-exception",
];

/// Crates that reach a network, or make what travels over one safe. None is linked. The crates behind the home's own socket
/// are none of them: `hyper` reads and writes HTTP on whatever line it is given and opens none, `tokio-tungstenite` the
/// same for WebSockets, and which sockets are made is counted in `security`.
const NETWORK: [&str; 26] = [
    "async-std",
    "attohttpc",
    "curl",
    "curl-sys",
    "h2",
    "h3",
    "hickory-resolver",
    "isahc",
    "lettre",
    "libssh2-sys",
    "native-tls",
    "openssl",
    "openssl-sys",
    "quinn",
    "reqwest",
    "rustls",
    "schannel",
    "security-framework",
    "sentry",
    "smol",
    "surf",
    "tokio-rustls",
    "tonic",
    "trust-dns-resolver",
    "ureq",
    "warp",
];

/// Features by which a crate that is linked would.
const FEATURES: [(&str, &str); 9] = [
    ("rustix", "net"),
    ("hyper", "http2"),
    ("hyper-util", "client"),
    ("hyper-util", "client-legacy"),
    ("hyper-util", "server-auto"),
    ("tokio-tungstenite", "connect"),
    ("tokio-tungstenite", "stream"),
    ("tungstenite", "url"),
    ("tungstenite", "__rustls-tls"),
];

/// The graph for this machine, or why there is none.
fn metadata() -> Result<Value, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let version = Command::new("rustc").arg("-vV").output().map_err(|error| format!("rustc: {error}"))?;
    let version = String::from_utf8_lossy(&version.stdout).into_owned();
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).ok_or("rustc names no host")?;
    let output = Command::new(cargo)
        .args(["metadata", "--offline", "--locked", "--format-version", "1", "--filter-platform", host])
        .current_dir(root)
        .output()
        .map_err(|error| format!("cargo: {error}"))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).trim().to_owned());
    }
    serde_json::from_slice(&output.stdout).map_err(|error| error.to_string())
}

/// The packages of the program itself, without what only its tests use: name, and the package.
fn linked(metadata: &Value) -> BTreeMap<String, &Value> {
    let packages: BTreeMap<&str, &Value> =
        list(&metadata["packages"]).map(|package| (text(&package["id"]), package)).collect();
    let nodes: BTreeMap<&str, &Value> =
        list(&metadata["resolve"]["nodes"]).map(|node| (text(&node["id"]), node)).collect();
    let mut open = vec![text(&metadata["resolve"]["root"])];
    let mut seen = BTreeSet::new();
    while let Some(id) = open.pop() {
        if !seen.insert(id) {
            continue;
        }
        for edge in list(&nodes[id]["deps"]) {
            if list(&edge["dep_kinds"]).any(|kind| kind["kind"] != "dev") {
                open.push(text(&edge["pkg"]));
            }
        }
    }
    seen.into_iter().map(|id| (text(&packages[id]["name"]).to_owned(), packages[id])).collect()
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Whether an SPDX expression can be met by what is allowed: one side of an OR, both of an AND.
fn is_allowed(expression: &str) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ").replace(" WITH ", " WITH_");
    let words: Vec<String> = spaced.split_whitespace().map(|word| word.replace("WITH_", "WITH ")).collect();
    let mut words = join_exceptions(&words).into_iter().peekable();
    any(&mut words) == Some(true) && words.next().is_none()
}

/// `Apache-2.0`, `WITH LLVM-exception` as one word.
fn join_exceptions(words: &[String]) -> Vec<String> {
    let mut joined: Vec<String> = Vec::new();
    for word in words {
        match joined.last_mut().filter(|_| word.starts_with("WITH ")) {
            Some(last) => *last = format!("{last} {word}"),
            None => joined.push(word.clone()),
        }
    }
    joined
}

type Words = std::iter::Peekable<std::vec::IntoIter<String>>;

/// Each of the three: whether it is met; `None` where it is no expression.
fn any(words: &mut Words) -> Option<bool> {
    let mut met = all(words)?;
    while words.next_if(|word| word == "OR").is_some() {
        // Both sides are read, whatever the first says.
        met |= all(words)?;
    }
    Some(met)
}

fn all(words: &mut Words) -> Option<bool> {
    let mut met = one(words)?;
    while words.next_if(|word| word == "AND").is_some() {
        met &= one(words)?;
    }
    Some(met)
}

fn one(words: &mut Words) -> Option<bool> {
    if words.next_if(|word| word == "(").is_some() {
        let met = any(words)?;
        return words.next_if(|word| word == ")").map(|_| met);
    }
    let word = words.next().filter(|word| !["OR", "AND", ")"].contains(&word.as_str()))?;
    Some(LICENCES.contains(&word.as_str()))
}

#[test]
fn a_licence_is_read_as_an_expression() {
    for allowed in
        ["MIT", "MIT/Apache-2.0", "GPL-3.0 OR ISC", "(MIT OR Apache-2.0) AND Unicode-3.0", "Apache-2.0 OR BSL-1.0"]
    {
        assert!(is_allowed(allowed), "{allowed}");
    }
    assert!(is_allowed("Apache-2.0 WITH LLVM-exception OR Apache-2.0 OR MIT"));
    for refused in ["", "GPL-3.0", "MIT AND GPL-3.0", "(MIT", "MIT OR", "LGPL-2.1 OR GPL-2.0", "MIT Apache-2.0"] {
        assert!(!is_allowed(refused), "{refused}");
    }
}

#[test]
fn every_dependency_has_an_allowed_licence_and_comes_from_the_one_registry() {
    let metadata = match metadata() {
        Ok(metadata) => metadata,
        Err(why) => return println!("skipped: cargo cannot name the dependencies here: {why}"),
    };
    let packages: Vec<&Value> = list(&metadata["packages"]).collect();
    assert!(packages.len() > 100, "{} packages", packages.len());
    let mut broken = Vec::new();
    let mut registries = BTreeSet::new();
    for package in packages {
        let (name, licence) = (text(&package["name"]), text(&package["license"]));
        if !is_allowed(licence) {
            broken.push(format!("{name}: licence `{licence}`"));
        }
        match package["source"].as_str() {
            None if name == env!("CARGO_PKG_NAME") => {}
            Some(source) if source.starts_with("registry+") => drop(registries.insert(source)),
            source => broken.push(format!("{name}: from {source:?}")),
        }
    }
    assert!(registries.len() <= 1, "{registries:?}");
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn no_network_crate_is_linked() {
    let metadata = match metadata() {
        Ok(metadata) => metadata,
        Err(why) => return println!("skipped: cargo cannot name the dependencies here: {why}"),
    };
    let linked = linked(&metadata);
    assert!(linked.len() > 50 && linked.contains_key("tokio"), "{} packages", linked.len());
    let network: Vec<&String> = linked.keys().filter(|name| NETWORK.contains(&name.as_str())).collect();
    assert!(network.is_empty(), "{network:?}");
    for (name, feature) in FEATURES {
        let Some(package) = linked.get(name) else { continue };
        let node = list(&metadata["resolve"]["nodes"]).find(|node| node["id"] == package["id"]).unwrap();
        assert!(list(&node["features"]).all(|is| is != feature), "{name} has its feature {feature}");
    }
}

/// What is not for this machine is not looked at by cargo here; the lock file names it all the same.
#[test]
fn the_lock_file_names_one_registry_and_nothing_of_a_network() {
    let lock = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.lock")).unwrap();
    let lock: toml::Table = lock.parse().unwrap();
    let packages = lock["package"].as_array().unwrap();
    let of = |package: &toml::Value, key: &str| package.get(key).and_then(|value| value.as_str().map(str::to_owned));
    let sources: BTreeSet<String> = packages.iter().filter_map(|package| of(package, "source")).collect();
    assert!(sources.len() == 1 && sources.iter().all(|source| source.starts_with("registry+")), "{sources:?}");
    let own: Vec<&toml::Value> = packages.iter().filter(|package| of(package, "source").is_none()).collect();
    assert_eq!(own.len(), 1, "only trellis itself has no source: {own:?}");
    assert!(packages.iter().all(|package| of(package, "source").is_none() || of(package, "checksum").is_some()));
    let names: Vec<String> = packages.iter().filter_map(|package| of(package, "name")).collect();
    let network: Vec<&String> = names.iter().filter(|name| NETWORK.contains(&name.as_str())).collect();
    assert!(network.is_empty(), "{network:?}");
}

/// The fuzz targets are a package of their own, with a lock file of its own: `tests/fuzz/run` refuses one that is behind.
#[test]
fn the_lock_file_of_the_fuzz_targets_knows_every_dependency() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |path: &str| std::fs::read_to_string(root.join(path)).unwrap().parse::<toml::Table>().unwrap();
    let (manifest, lock) = (read("Cargo.toml"), read("tests/fuzz/Cargo.lock"));
    let packages = lock["package"].as_array().unwrap();
    let ours = packages.iter().find(|package| package["name"].as_str() == Some("trellis")).unwrap();
    // A name that stands there in two versions has its version behind it.
    let name = |known: &toml::Value| known.as_str().unwrap().split(' ').next().unwrap().to_owned();
    let known: BTreeSet<String> = ours["dependencies"].as_array().unwrap().iter().map(name).collect();
    let wanted: BTreeSet<String> = manifest["dependencies"].as_table().unwrap().keys().cloned().collect();
    assert_eq!(wanted.difference(&known).collect::<Vec<_>>(), Vec::<&String>::new(), "`cargo update -w` in tests/fuzz");
}
