# Builds trellis from the head of its repository.
class Trellis < Formula
  desc "Let one coding agent build and another review"
  homepage "REPOSITORY"
  license any_of: ["MIT", "Apache-2.0"]
  head "REPOSITORY", branch: "main"

  depends_on "rust" => :build
  depends_on "git"
  depends_on "tmux"

  def install
    system "cargo", "install", *std_cargo_args
    generate_completions_from_executable(bin/"trellis", "completions")
    Utils.safe_popen_read(bin/"trellis", "man", "--list").each_line(chomp: true) do |page|
      (man1/"#{page}.1").write Utils.safe_popen_read(bin/"trellis", "man", page)
    end
  end

  test do
    system bin/"trellis", "demo", "--headless", "--speed", "50", "--home", testpath/"demo"
  end
end
