/// \file
/// What a POSIX sh leaves behind and the next one begins with: read from what it printed about
/// itself.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace bawn::shell {

/// Words are kept as the shell quoted them: only that shell has to read them again.
struct ShState {
  std::string directory;
  bool directory_missing = false;
  std::map<std::string, std::string> variables;  ///< name -> word
  std::set<std::string> exported;
  std::set<std::string> read_only;
  std::map<std::string, std::string> aliases;  ///< name -> word
  std::set<std::string> options;               ///< long names of those that are on
  std::string mask;                            ///< as umask prints it
  std::string functions;                       ///< their text; empty where sh cannot print it
  bool began = false;                          ///< the call's text did

  /// The options that are taken back after a call, by their long names.
  [[nodiscard]] std::vector<std::string> poisonous() const;
};

/// Sections begin with a line "#NAME" outside of quotes and the last line is sh_state_end(): what
/// sh_script() makes a shell print.
///
/// None when the text is cut short. Variables that the shell itself sets, and the script's own, are
/// left out.
[[nodiscard]] std::optional<ShState> parse_sh_state(std::string_view text);

/// The last line of a state.
[[nodiscard]] std::string_view sh_state_end() noexcept;

/// The value of one word without expansions: quotes and backslashes removed.
[[nodiscard]] std::string unquoted(std::string_view word);

}  // namespace bawn::shell
