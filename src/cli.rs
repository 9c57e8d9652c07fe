//! The command line: arguments, output shapes and exit codes. Each command is a thin use of the parts below it.
