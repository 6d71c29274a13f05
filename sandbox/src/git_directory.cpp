#include "git_directory.hpp"

#include "bawn/os/unique_fd.hpp"
#include "paths.hpp"
#include "survey.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <string_view>

namespace bawn::sandbox {
namespace {

constexpr std::size_t kMaxBytes = std::size_t{256} << 10U;

/// A regular file's text; empty for everything else, and for what is longer.
std::string read_plain(const std::string& path) {
  const os::UniqueFd file(
      ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  struct stat status{};
  if (!file.is_open() || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
    return {};
  }
  std::string text(kMaxBytes + 1, '\0');
  std::size_t size = 0;
  while (size < text.size()) {
    const ssize_t got = ::read(file.get(), text.data() + size, text.size() - size);
    if (got <= 0) {
      break;
    }
    size += static_cast<std::size_t>(got);
  }
  text.resize(size > kMaxBytes ? 0 : size);
  return text;
}

/// The only line of a file that holds a path.
std::string path_in(const std::string& file, std::string_view word = {}) {
  std::string text = read_plain(file);
  if (!text.starts_with(word)) {
    return {};
  }
  text.erase(0, word.size());
  while (text.ends_with('\n') || text.ends_with('\r')) {
    text.pop_back();
  }
  return text.find('\0') == std::string::npos ? text : std::string();
}

std::string resolved_from(const std::string& directory, const std::string& path) {
  if (path.empty()) {
    return {};
  }
  return canonical(path.starts_with('/') ? path : fmt::format("{}/{}", directory, path));
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  return first == std::string_view::npos
             ? std::string_view()
             : text.substr(first, text.find_last_not_of(" \t\r") + 1 - first);
}

bool equals_ignoring_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) ==
           std::tolower(static_cast<unsigned char>(y));
  });
}

/// core.worktree as git itself writes it. What is written otherwise is not understood, and then the
/// directory does not lead back.
std::string core_worktree(const std::string& config) {
  const std::string text = read_plain(config);
  std::string found;
  bool in_core = false;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = trimmed(std::string_view(text).substr(at, end - at));
    at = end + 1;
    if (line.starts_with('[')) {
      in_core = equals_ignoring_case(line, "[core]");
    }
    const std::size_t equals = line.find('=');
    if (in_core && equals != std::string_view::npos &&
        equals_ignoring_case(trimmed(line.substr(0, equals)), "worktree")) {
      std::string_view value = trimmed(line.substr(equals + 1));
      if (value.size() >= 2 && value.starts_with('"') && value.ends_with('"')) {
        value = value.substr(1, value.size() - 2);
      }
      found = value.find_first_of("\"\\#;") == std::string_view::npos ? value : std::string_view();
    }
  }
  return found;
}

bool has_directory(const std::string& directory, const char* name) {
  return kind_of(fmt::format("{}/{}", directory, name)) == FileKind::Directory;
}

bool has_file(const std::string& directory, const char* name) {
  return kind_of(fmt::format("{}/{}", directory, name)) == FileKind::Regular;
}

}  // namespace

bool is_worktree_directory(const std::string& directory) {
  return has_file(directory, "HEAD") && has_file(directory, "commondir");
}

bool is_git_directory(const std::string& directory) {
  const FileKind head = kind_of(directory + "/HEAD");
  if (head != FileKind::Regular && head != FileKind::Link) {
    return false;
  }
  return has_file(directory, "commondir") ||
         (has_directory(directory, "objects") && has_directory(directory, "refs"));
}

std::optional<GitLink> follow_git_file(const std::string& root) {
  GitLink link;
  link.directory = resolved_from(root, path_in(root + "/.git", "gitdir: "));
  if (link.directory.empty() || !is_git_directory(link.directory)) {
    return std::nullopt;
  }
  if (!is_worktree_directory(link.directory)) {
    link.common = link.directory;
    link.leads_back =
        resolved_from(link.directory, core_worktree(link.directory + "/config")) == root;
    return link;
  }
  link.common = resolved_from(link.directory, path_in(link.directory + "/commondir"));
  // git makes them in this one place. Anything else would let the one file open the other's.
  const bool in_place = parent_of(parent_of(link.directory)) == link.common &&
                        parent_of(link.directory) == link.common + "/worktrees" &&
                        is_git_directory(link.common) && !is_worktree_directory(link.common);
  const std::string back = resolved_from(link.directory, path_in(link.directory + "/gitdir"));
  link.leads_back = in_place && back == root + "/.git";
  return link;
}

std::vector<std::string> common_directories(const std::vector<std::string>& roots) {
  std::vector<std::string> found;
  for (const std::string& root : roots) {
    std::string parent = parent_of(root);
    if (root == parent + "/objects" && contains(roots, parent + "/refs")) {
      found.push_back(std::move(parent));
    }
  }
  return found;
}

std::vector<std::string> names_in_git(const std::vector<std::string>& protected_names) {
  std::vector<std::string> names;
  for (const std::string& name : protected_names) {
    if (name.starts_with(".git/")) {
      names.push_back(name.substr(5));
    }
  }
  return names;
}

std::optional<HeldGitName> git_name_above(const std::string& path,
                                          const std::vector<std::string>& names) {
  for (std::string at = parent_of(path); at != "/"; at = parent_of(at)) {
    if (!is_git_directory(at)) {
      continue;
    }
    for (const std::string& name : names) {
      if (is_within(path, fmt::format("{}/{}", at, name))) {
        return HeldGitName{at, name};
      }
    }
  }
  return std::nullopt;
}

}  // namespace bawn::sandbox
