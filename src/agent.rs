//! The agents as things to reach: is it alive, may we type, send, prove that nothing is on its way. One folder a transport.
pub mod scripted;
