# The program with its pages and completions, from the clone this file lies in.
{ lib, rustPlatform, installShellFiles, git, tmux }:

rustPlatform.buildRustPackage {
  pname = "trellis";
  version = (lib.importTOML ../../Cargo.toml).package.version;
  src = lib.cleanSource ../..;
  cargoLock.lockFile = ../../Cargo.lock;

  nativeBuildInputs = [ installShellFiles ];
  nativeCheckInputs = [ git tmux ];
  # The tests start terminals and read /proc; they are run by `.ci/run`.
  doCheck = false;

  postInstall = ''
    for shell in bash zsh fish; do
      $out/bin/trellis completions $shell > trellis.$shell
      installShellCompletion --name trellis.$shell --$shell trellis.$shell
    done
    for page in $($out/bin/trellis man --list); do
      $out/bin/trellis man $page > $page.1
      installManPage $page.1
    done
  '';

  meta = {
    description = "Let one coding agent build and another review";
    license = with lib.licenses; [ mit asl20 ];
    mainProgram = "trellis";
    platforms = lib.platforms.unix;
  };
}
