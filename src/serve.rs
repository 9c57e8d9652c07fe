//! The driver's socket: HTTP/1.1 for scripts, commands and viewers. Requests become orders over the driver's handle,
//! records and projections become JSON. No rule of a loop lives here, and nothing here reads or writes a file.
//!
//! [`routes`] says what there is, [`server`] takes connections in, [`records`] and [`sessions`] carry requests out,
//! [`feed`] and [`stream`] tell events. `serve/openapi.json` describes all of it to others.

pub mod answer;
pub mod archive;
pub mod feed;
pub mod records;
pub mod request;
pub mod routes;
pub mod server;
pub mod sessions;
pub mod stream;

/// The description of everything that is served, OpenAPI 3.1.
pub const DOCUMENT: &str = include_str!("serve/openapi.json");
