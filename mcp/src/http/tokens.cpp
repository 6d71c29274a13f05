#include "bawn/mcp/http.hpp"
#include "unique_fd.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace bawn::mcp {
namespace {

using contract::Error;
using contract::ErrorCode;
using contract::fail;
using contract::Result;

Result<std::string> read_private_file(const std::string& path) {
  constexpr std::size_t kMost = 1U << 20U;
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file) {
    return std::unexpected(Error::from_errno(errno, "open", "token file " + path));
  }
  struct stat status{};
  if (::fstat(file.get(), &status) != 0) {
    return std::unexpected(Error::from_errno(errno, "fstat", "token file " + path));
  }
  if (!S_ISREG(status.st_mode)) {
    return fail(ErrorCode::InvalidArgument, fmt::format("token file {} is not a file", path));
  }
  const bool foreign = status.st_uid != ::geteuid() && status.st_uid != 0;
  const mode_t allowed = status.st_uid == 0 ? S_IRWXU | S_IRGRP : S_IRWXU;
  if (foreign || (status.st_mode & ACCESSPERMS & ~allowed) != 0) {
    return fail(
        ErrorCode::PermissionDenied,
        fmt::format(
            "token file {} must belong to you or root and have mode 0600 (0440 when it is root's)",
            path));
  }
  std::string text;
  std::array<char, 4096> part{};
  while (text.size() <= kMost) {
    const ssize_t got = ::read(file.get(), part.data(), part.size());
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      return std::unexpected(Error::from_errno(errno, "read", "token file " + path));
    }
    if (got == 0) {
      return text;
    }
    text.append(part.data(), static_cast<std::size_t>(got));
  }
  return fail(ErrorCode::InvalidArgument, fmt::format("token file {} is over 1 MiB", path));
}

}  // namespace

Result<std::vector<BearerToken>> read_bearer_tokens(const std::string& path) {
  constexpr std::size_t kShortest = 16;
  constexpr const char* kBlank = " \t\r";
  const std::string text = BAWN_TRY(read_private_file(path));
  std::vector<BearerToken> tokens;
  std::size_t number = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string line = text.substr(at, end - at);
    at = end + 1;
    ++number;
    line.erase(std::min(line.find('#'), line.size()));
    line.erase(0, std::min(line.find_first_not_of(kBlank), line.size()));
    if (line.empty()) {
      continue;
    }
    const std::size_t gap = std::min(line.find_first_of(kBlank), line.size());
    BearerToken token{.token = line.substr(0, gap), .account = line.substr(gap)};
    token.account.erase(0, std::min(token.account.find_first_not_of(kBlank), token.account.size()));
    token.account.erase(token.account.find_last_not_of(kBlank) + 1);
    if (token.account.empty()) {
      token.account = fmt::format("token-{}", number);
    }
    if (token.token.size() < kShortest ||
        !std::ranges::all_of(token.token, [](char c) { return c > ' ' && c < '\x7f'; })) {
      return fail(ErrorCode::InvalidArgument,
                  fmt::format("token file {}, line {}: a token must have at least {} printable "
                              "ASCII characters",
                              path, number, kShortest));
    }
    tokens.push_back(std::move(token));
  }
  if (tokens.empty()) {
    return fail(ErrorCode::InvalidArgument, fmt::format("token file {} has no token", path));
  }
  return tokens;
}

}  // namespace bawn::mcp
