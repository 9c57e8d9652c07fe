//! The scripts that come with the program: the demo, its scenes, and the idle pair beside them.
//! Names and texts only; they are read by `script`.

use super::script::{Script, Spare};

/// A script that comes with the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scene {
    /// What `--scene` calls it.
    pub name: &'static str,
    /// Its text.
    pub text: &'static str,
}

/// The demo itself.
pub const DEMO: Scene = Scene { name: "checklist", text: include_str!("../../../assets/demo/checklist.toml") };

/// The situations that need a person, and a long night.
pub const SCENES: [Scene; 8] = [
    Scene { name: "near-miss", text: include_str!("../../../assets/demo/near-miss.toml") },
    Scene { name: "no-agreement", text: include_str!("../../../assets/demo/no-agreement.toml") },
    Scene { name: "limit", text: include_str!("../../../assets/demo/limit.toml") },
    Scene { name: "typed", text: include_str!("../../../assets/demo/typed.toml") },
    Scene { name: "look-first", text: include_str!("../../../assets/demo/look-first.toml") },
    Scene { name: "gone", text: include_str!("../../../assets/demo/gone.toml") },
    Scene { name: "no-answer", text: include_str!("../../../assets/demo/no-answer.toml") },
    Scene { name: "night", text: include_str!("../../../assets/demo/night.toml") },
];

/// The idle pair of every demo home.
const SPARE: &str = include_str!("../../../assets/demo/spare.toml");

impl Scene {
    /// The scene of that name; the demo has one too.
    ///
    /// # Errors
    /// A sentence that names those there are.
    pub fn named(name: &str) -> Result<Self, String> {
        std::iter::once(DEMO).chain(SCENES).find(|scene| scene.name == name).ok_or_else(|| {
            let names: Vec<&str> = SCENES.iter().map(|scene| scene.name).collect();
            format!("there is no scene {name}; choose one of {}", names.join(", "))
        })
    }

    /// Its script.
    ///
    /// # Errors
    /// A sentence; a test reads them all.
    pub fn script(&self) -> Result<Script, String> {
        Script::parse(self.name, self.text)
    }
}

/// The idle pair.
///
/// # Errors
/// A sentence; a test reads it.
pub fn spare() -> Result<Spare, String> {
    Spare::parse("spare", SPARE)
}
