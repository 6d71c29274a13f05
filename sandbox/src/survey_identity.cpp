#include "small_file.hpp"
#include "survey.hpp"

#include <fmt/format.h>

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <optional>

namespace bawn::sandbox {
namespace {

struct Account {
  std::string name;
  std::uint32_t gid = 0;
  std::string home;
};

std::optional<std::uint32_t> number(std::string_view text) {
  std::uint32_t value = 0;
  const auto end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value);
  return parsed.ec == std::errc{} && parsed.ptr == end ? std::optional(value) : std::nullopt;
}

/// "name:x:uid:gid:comment:home:shell" (passwd(5)).
std::optional<Account> parse_account(std::string_view line, std::uint32_t wanted) {
  std::array<std::string_view, 6> fields;
  for (std::string_view& field : fields) {
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) {
      return std::nullopt;
    }
    field = line.substr(0, colon);
    line.remove_prefix(colon + 1);
  }
  const auto gid = number(fields[3]);
  if (number(fields[2]) != wanted || !gid) {
    return std::nullopt;
  }
  return Account{std::string(fields[0]), *gid, std::string(fields[5])};
}

std::optional<Account> find_account(std::uint32_t uid) {
  const std::string text = read_small_file("/etc/passwd");
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    if (auto account = parse_account(rest.substr(0, end), uid)) {
      return account;
    }
    rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
  }
  return std::nullopt;
}

/// Adds an account's home unless it is missing, the root, or there already.
void add_account_home(Place& place, const std::optional<Account>& account) {
  const std::string home = account ? canonical(account->home) : std::string();
  if (!home.empty() && home != "/" &&
      std::ranges::find(place.account_homes, home) == place.account_homes.end()) {
    place.account_homes.push_back(home);
  }
}

}  // namespace

Result<> find_identity(Place& place, const Policy& policy) {
  place.caller_uid = ::geteuid();
  place.caller_gid = ::getegid();
  place.uid = place.caller_uid;
  place.gid = place.caller_gid;
  const bool as_owner = place.caller_uid == 0 && policy.run_as == RunAs::WorkspaceOwner;
  if (as_owner) {
    struct stat status{};
    if (::stat(place.workspace.c_str(), &status) != 0) {
      return std::unexpected(
          Error::from_errno(errno, "stat", fmt::format("workspace {}", place.workspace)));
    }
    place.uid = status.st_uid;
    place.gid = status.st_gid;
  }
  const std::optional<Account> account = find_account(place.uid);
  place.user = account ? account->name : fmt::format("{}", place.uid);
  if (account && as_owner && place.uid != place.caller_uid) {
    place.gid = account->gid;
  }
  place.account_homes.clear();
  add_account_home(place, account);
  if (place.uid != place.caller_uid) {
    add_account_home(place, find_account(place.caller_uid));
  }
  // The caller's HOME is the caller's word about itself and about nobody else.
  const char* home = place.uid == place.caller_uid ? std::getenv("HOME") : nullptr;
  if (home == nullptr || *home != '/') {
    home = account ? account->home.c_str() : "/";
  }
  place.home = canonical(home);
  if (place.home.empty() || place.home == "/") {
    place.home = "/tmp";  // no home of its own: the private one
  }
  return {};
}

}  // namespace bawn::sandbox
