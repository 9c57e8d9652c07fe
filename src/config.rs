//! `config.toml`: the settings of the program (those of runs and pairs are in `model::config`).
