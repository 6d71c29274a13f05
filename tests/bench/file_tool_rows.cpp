// The file tools over MCP beside the programs that people use for the same. What a program costs
// begins with its start, what a tool costs with a message and ends with one: the text of a file
// goes over the pipe twice, as text and as structure.
#include "floors.h"
#include "groups.hpp"
#include "support/peer_process.hpp"

#include <fmt/format.h>

#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <utility>

namespace bawn::bench {
namespace {

using contract::ErrorCode;
using contract::fail;
using contract::Json;
using contract::Result;
using test::McpPeer;

constexpr std::size_t kMega = std::size_t{1} << 20U;

/// Lines of text, `size` bytes in all, with a needle in the middle.
std::string text_of(std::size_t size) {
  const std::string half = [&] {
    std::string text;
    for (std::size_t line = 0; text.size() < size / 2; ++line) {
      text += fmt::format("line {} of a text that is long enough to look like one\n", line);
    }
    return text;
  }();
  std::string text = half + "the needle is here\n" + half;
  text.resize(size - 1);
  return text + "\n";
}

/// One program's run to its end, its output read.
Case program(std::string name, std::string command) {
  return {.name = std::move(name), .once = [command = std::move(command)] {
            return timed([&]() -> Result<> {
              std::size_t total = 0;
              if (floor_drain(command.c_str(), -1, 0, &total) != 0) {
                return fail(ErrorCode::Internal, command + " failed");
              }
              return {};
            });
          }};
}

using Peer = std::shared_ptr<Result<McpPeer>>;

Case tool(std::string name, const Peer& peer, std::string tool_name,
          std::function<std::string()> arguments, std::string floor) {
  return {.name = std::move(name),
          .once = [peer, tool_name = std::move(tool_name),
                   arguments = std::move(arguments)]() -> Result<Nanoseconds> {
            if (!*peer) {
              return std::unexpected(peer->error());
            }
            const std::string words = arguments();
            return timed([&]() -> Result<> {
              const std::string_view answer = BAWN_TRY((**peer).call_tool(tool_name, words));
              if (answer.find("\"isError\":true") != std::string_view::npos) {
                return fail(ErrorCode::Internal, std::string(answer.substr(0, 300)));
              }
              return {};
            });
          },
          .floor = std::move(floor),
          .target = 1.3,
          .allowance = std::chrono::milliseconds(2)};
}

std::function<std::string()> always(Json arguments) {
  return [text = contract::dump_json(arguments)] { return text; };
}

/// The text with every `nth` line another one.
std::string changed_lines(const std::string& text, std::size_t nth) {
  std::string changed = text;
  std::size_t line = 0;
  for (std::size_t at = 0; at < changed.size(); at = changed.find('\n', at) + 1) {
    changed[at] = line++ % nth == 0 ? 'L' : changed[at];
  }
  return changed;
}

/// write_file with one content and the other in turn: the same once more would write nothing.
std::function<std::string()> alternately(const std::string& path, const std::string& one,
                                         const std::string& other) {
  const auto words = [&](const std::string& content) {
    return contract::dump_json(Json{{"path", path}, {"content", content}});
  };
  return [first = words(one), second = words(other), turn = false]() mutable {
    turn = !turn;
    return turn ? first : second;
  };
}

std::function<std::string()> always_new(const std::string& path, const std::string& content) {
  return [=, number = 0]() mutable {
    return contract::dump_json(
        Json{{"path", fmt::format("{}{}", path, ++number)}, {"content", content}});
  };
}

void make_tree(const std::string& root, int files) {
  for (int i = 0; i < files; ++i) {
    const std::string directory = fmt::format("{}/d{}/e{}", root, i / 1000, i / 50 % 20);
    std::filesystem::create_directories(directory);
    std::ofstream(fmt::format("{}/file{}.txt", directory, i))
        << "some text\nand more of it\n"
        << (i % 5000 == 7 ? "the needle is here\n" : "");
  }
}

/// The directory's owner for all that was made in it, so that the session may change it.
void give_to_owner(const std::string& root) {
  struct stat status{};
  if (geteuid() != 0 || stat(root.c_str(), &status) != 0) {
    return;
  }
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    static_cast<void>(lchown(entry.path().c_str(), status.st_uid, status.st_gid));
  }
}

}  // namespace

std::vector<Row> file_tool_rows(const Setup& setup) {
  const std::string root = setup.workspace + "/tools";
  std::filesystem::create_directories(root + "/tree");
  for (const auto& [name, size] :
       {std::pair{"one", kMega}, {"ten", 10 * kMega}, {"hundred", 100 * kMega}}) {
    std::ofstream(fmt::format("{}/{}", root, name)) << text_of(size);
  }
  make_tree(root + "/tree", setup.rounds > 0 ? 2'000 : 50'000);
  give_to_owner(setup.workspace);
  const auto peer = std::make_shared<Result<McpPeer>>(
      McpPeer::connect(setup.server(), setup.server_environment()));
  const std::string content = text_of(kMega);
  auto flip = std::make_shared<bool>(false);
  const auto edit = [flip, path = root + "/ten"] {
    *flip = !*flip;
    return contract::dump_json(Json{{"path", path},
                                    {"old_string", *flip ? "the needle is here" : "a new one"},
                                    {"new_string", *flip ? "a new one" : "the needle is here"}});
  };
  std::vector<Case> cases = {
      program("cat, 1 MB", fmt::format("exec cat {}/one", root)),
      tool("read_file, 1 MB (its first 2000 lines)", peer, "read_file",
           always({{"path", root + "/one"}}), "cat, 1 MB"),
      tool("read_file, 1 MB (all of it)", peer, "read_file",
           always({{"path", root + "/one"}, {"limit", 1'000'000}, {"max_bytes", 4 * kMega}}),
           "cat, 1 MB"),
      program("cat, 100 MB", fmt::format("exec cat {}/hundred", root)),
      tool("read_file, 100 MB (its first 2000 lines)", peer, "read_file",
           always({{"path", root + "/hundred"}}), "cat, 100 MB"),
      program("dd conv=fsync, 1 MB",
              fmt::format("exec dd if={0}/one of={0}/copy bs=1M conv=fsync 2>&1", root)),
      tool("write_file, 1 MB (every 100th line changed)", peer, "write_file",
           alternately(root + "/near", content, changed_lines(content, 100)),
           "dd conv=fsync, 1 MB"),
      tool("write_file, 1 MB (every line changed)", peer, "write_file",
           alternately(root + "/far", content, changed_lines(content, 1)), "dd conv=fsync, 1 MB"),
      tool("write_file, 1 MB (a new file)", peer, "write_file", always_new(root + "/new-", content),
           "dd conv=fsync, 1 MB"),
      program("sed and sync, 10 MB",
              fmt::format("sed s/needle/needle/ {0}/ten > {0}/new && sync {0}/new && mv {0}/new "
                          "{0}/other",
                          root)),
      tool("edit_file, 10 MB", peer, "edit_file", edit, "sed and sync, 10 MB"),
      program("rg needle, the tree", fmt::format("exec rg -n needle {}/tree", root)),
      tool("search_files, the tree", peer, "search_files",
           always({{"pattern", "needle"}, {"path", root + "/tree"}}), "rg needle, the tree"),
      program("rg --files, the tree", fmt::format("exec rg --files {}/tree", root)),
      tool("list_files, the tree", peer, "list_files", always({{"path", root + "/tree"}}),
           "rg --files, the tree"),
  };
  return measure("file tools", cases, setup.rounds_of(25));
}

}  // namespace bawn::bench
