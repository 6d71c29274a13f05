#include "git_repository.hpp"

#include "support/run_program.hpp"

#include <filesystem>
#include <iterator>
#include <sstream>
#include <utility>

namespace bawn::test {

namespace {

const std::map<std::string, std::string> kEnvironment = {{"GIT_CONFIG_GLOBAL", "/dev/null"},
                                                         {"GIT_CONFIG_SYSTEM", "/dev/null"},
                                                         {"GIT_AUTHOR_NAME", "a"},
                                                         {"GIT_AUTHOR_EMAIL", "a@b"},
                                                         {"GIT_COMMITTER_NAME", "a"},
                                                         {"GIT_COMMITTER_EMAIL", "a@b"},
                                                         {"LC_ALL", "C"}};

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

}  // namespace

GitRepository::GitRepository(std::string directory) : directory_(std::move(directory)) {
  const auto found = git({"rev-parse", "--path-format=absolute", "--git-path", "objects"});
  objects_ = found ? first_line(*found) : std::string();
  std::filesystem::create_directory(scratch_.path() / "objects");
}

std::optional<std::string> GitRepository::git(const std::vector<std::string>& arguments,
                                              const std::string& input) const {
  ProgramRun run;
  run.argv = {"/usr/bin/git", "-c", "safe.directory=*", "-C", directory_};
  run.argv.insert(run.argv.end(), arguments.begin(), arguments.end());
  run.input = input;
  run.env = kEnvironment;
  if (!objects_.empty()) {
    run.env["GIT_OBJECT_DIRECTORY"] = scratch_.path() / "objects";
    run.env["GIT_ALTERNATE_OBJECT_DIRECTORIES"] = objects_;
    run.env["GIT_INDEX_FILE"] = scratch_.path() / "index";
  }
  const ProgramResult result = run_program(run);
  return result.exit_code == 0 ? std::optional(result.out) : std::nullopt;
}

std::vector<std::string> GitRepository::commits() const {
  std::istringstream lines(git({"rev-list", "HEAD"}).value_or(""));
  return {std::istream_iterator<std::string>(lines), {}};
}

GitTree GitRepository::files(const std::string& tree, const std::vector<std::string>& paths) const {
  std::vector<std::string> arguments = {"ls-tree", "-r", "-z", tree, "--"};
  for (const std::string& path : paths) {
    arguments.push_back(path);
  }
  const std::string listing = git(arguments).value_or("");
  std::string wanted;
  std::vector<std::pair<std::string, unsigned>> names;
  std::istringstream entries(listing);
  for (std::string entry; std::getline(entries, entry, '\0');) {
    const std::string mode = entry.substr(0, 6);
    if (mode != "100644" && mode != "100755") {
      continue;
    }
    const std::size_t tab = entry.find('\t');
    wanted += entry.substr(tab - 40, 40) + "\n";
    names.emplace_back(entry.substr(tab + 1), mode == "100755" ? 0755U : 0644U);
  }
  const std::string contents = git({"cat-file", "--batch"}, wanted).value_or("");
  GitTree files;
  std::size_t at = 0;
  for (const auto& [name, mode] : names) {
    const std::size_t end = contents.find('\n', at);
    const std::size_t blank = contents.rfind(' ', end);
    const std::size_t size = std::stoul(contents.substr(blank + 1, end - blank - 1));
    files[name] = {.bytes = contents.substr(end + 1, size), .mode = mode};
    at = end + 1 + size + 1;
  }
  return files;
}

std::optional<std::string> GitRepository::apply(const std::string& tree,
                                                const std::string& patch) const {
  if (!git({"read-tree", tree}) || !git({"apply", "--cached", "--whitespace=nowarn", "-"}, patch)) {
    return std::nullopt;
  }
  const auto made = git({"write-tree"});
  return made ? std::optional(first_line(*made)) : std::nullopt;
}

RandomHistory::RandomHistory(unsigned seed, int commits) : random_(seed) {
  static_cast<void>(GitRepository(directory()).git({"init", "-q", "."}));
  for (int i = 0; i < 12; ++i) {
    files_[random_name()] = {.bytes = random_text(), .mode = 0644};
  }
  for (int i = 0; i < commits; ++i) {
    commit();
    for (int steps = pick(5) + 1; steps > 0; --steps) {
      step();
    }
  }
  commit();
}

int RandomHistory::pick(int most) {
  return std::uniform_int_distribution<>(0, most)(random_);
}

std::string RandomHistory::random_name() {
  static const std::vector<std::string> kNames = {"plain",     "with blank",  "quo\"te",
                                                  "tab\there", "caf\xC3\xA9", "back\\slash",
                                                  "dir/in",    "a/b/deep"};
  return kNames[static_cast<std::size_t>(pick(static_cast<int>(kNames.size()) - 1))] +
         std::to_string(next_name_++);
}

std::string RandomHistory::random_text() {
  const std::string end = pick(5) == 0 ? "\r\n" : "\n";
  std::string text;
  for (int lines = pick(60); lines > 0; --lines) {
    text +=
        "line " + std::to_string(pick(pick(1) == 0 ? 8 : 1000)) + (pick(9) == 0 ? "\t " : "") + end;
  }
  if (!text.empty() && pick(4) == 0) {
    text.resize(text.size() - end.size());
  }
  return text;
}

std::string RandomHistory::changed(std::string text) {
  for (int edits = pick(4) + 1; edits > 0; --edits) {
    const auto size = static_cast<int>(text.size());
    const std::size_t at =
        size == 0 ? 0 : text.rfind('\n', static_cast<std::size_t>(pick(size))) + 1;
    const std::size_t end = text.find('\n', at);
    switch (pick(2)) {
      case 0:
        text.insert(at, "inserted " + std::to_string(pick(10'000)) + "\n");
        break;
      case 1:
        text.erase(at, end == std::string::npos ? end : end + 1 - at);
        break;
      default:
        text.replace(at, (end == std::string::npos ? text.size() : end) - at,
                     "changed " + std::to_string(pick(10'000)));
        break;
    }
  }
  return text;
}

void RandomHistory::put(const std::string& name, GitFile file) {
  // A name is a file's or a directory's.
  for (std::size_t end = name.find('/'); end != std::string::npos; end = name.find('/', end + 1)) {
    files_.erase(name.substr(0, end));
  }
  std::erase_if(files_, [&](const auto& entry) { return entry.first.starts_with(name + "/"); });
  files_[name] = std::move(file);
}

void RandomHistory::step() {
  auto chosen = files_.begin();
  if (files_.empty()) {
    put(random_name(), {.bytes = random_text(), .mode = 0644});
    return;
  }
  std::advance(chosen, pick(static_cast<int>(files_.size()) - 1));
  switch (pick(11)) {
    case 0:
      put(random_name(), {.bytes = random_text(), .mode = pick(3) == 0 ? 0755U : 0644U});
      break;
    case 1:
      files_.erase(chosen);
      break;
    case 2: {
      const GitFile file{
          .bytes = pick(1) == 0 ? chosen->second.bytes : changed(chosen->second.bytes),
          .mode = chosen->second.mode};
      files_.erase(chosen);
      put(random_name(), file);
      break;
    }
    case 3:
      put(random_name(), GitFile(chosen->second));
      break;
    case 5:
    case 6: {  // a file becomes a directory, or a directory a file
      const GitFile file{.bytes = pick(1) == 0 ? chosen->second.bytes : random_text(),
                         .mode = chosen->second.mode};
      const std::string name = chosen->first;
      const std::size_t slash = name.rfind('/');
      files_.erase(chosen);
      put(slash == std::string::npos || pick(1) == 0 ? name + "/below" : name.substr(0, slash),
          file);
      break;
    }
    case 4:
      chosen->second.mode ^= 0111U;
      break;
    default:
      chosen->second.bytes = changed(chosen->second.bytes);
      break;
  }
}

void RandomHistory::commit() {
  for (const auto& entry : std::filesystem::directory_iterator(directory_.path())) {
    if (entry.path().filename() != ".git") {
      std::filesystem::remove_all(entry.path());
    }
  }
  for (const auto& [name, file] : files_) {
    std::filesystem::create_directories((directory_.path() / name).parent_path());
    directory_.write(name, file.bytes);
    std::filesystem::permissions(directory_.path() / name,
                                 static_cast<std::filesystem::perms>(file.mode));
  }
  ProgramRun run;
  run.env = kEnvironment;
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"add", "-A", "-f"},
                                                    {"commit", "-q", "--allow-empty", "-m", "x"}}) {
    run.argv = {"/usr/bin/git",        "-c", "safe.directory=*", "-c",
                "core.autocrlf=false", "-C", directory()};
    run.argv.insert(run.argv.end(), arguments.begin(), arguments.end());
    run_program(run);
  }
}

}  // namespace bawn::test
