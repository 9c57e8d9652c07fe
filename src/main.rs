//! The program's entry: hands over to the library and ends with its exit code.

fn main() -> std::process::ExitCode {
    trellis::cli::main(std::env::args_os())
}
