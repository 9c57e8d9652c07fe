//! What both machines share: the fields of a loop and the step under construction.
