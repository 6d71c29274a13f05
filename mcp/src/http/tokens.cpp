#include "bawn/mcp/http.hpp"
#include "unique_fd.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <utility>

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

/// A line of the file.
struct Line {
  std::size_t number;
  std::string token;
  std::string name;  ///< empty where none is given
};

Result<std::vector<Line>> read_lines(const std::string& path) {
  constexpr std::size_t kShortest = 16;
  constexpr const char* kBlank = " \t\r";
  const std::string text = BAWN_TRY(read_private_file(path));
  std::vector<Line> lines;
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
    Line read{.number = number, .token = line.substr(0, gap), .name = line.substr(gap)};
    read.name.erase(0, std::min(read.name.find_first_not_of(kBlank), read.name.size()));
    read.name.erase(read.name.find_last_not_of(kBlank) + 1);
    if (read.token.size() < kShortest ||
        !std::ranges::all_of(read.token, [](char c) { return c > ' ' && c < '\x7f'; })) {
      return fail(ErrorCode::InvalidArgument,
                  fmt::format("token file {}, line {}: a token must have at least {} printable "
                              "ASCII characters",
                              path, number, kShortest));
    }
    lines.push_back(std::move(read));
  }
  if (lines.empty()) {
    return fail(ErrorCode::InvalidArgument, fmt::format("token file {} has no token", path));
  }
  return lines;
}

std::int64_t nanoseconds(const timespec& time) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  return time.tv_sec * kSecond + time.tv_nsec;
}

}  // namespace

Result<std::vector<BearerToken>> read_bearer_tokens(const std::string& path) {
  return BAWN_TRY(BearerTokenFile::open(path)).tokens();
}

Result<BearerTokenFile> BearerTokenFile::open(const std::string& path) {
  BearerTokenFile file(path);
  BAWN_TRY(file.read());
  return file;
}

Result<std::optional<std::vector<BearerToken>>> BearerTokenFile::changed() {
  const Version now = look();
  if (settled_ && now == version_) {
    return std::optional<std::vector<BearerToken>>();
  }
  const bool told = complained_ && now == version_;
  std::vector<BearerToken> before = tokens_;
  auto done = read();
  complained_ = !done;
  if (!done && !told) {
    return std::unexpected(std::move(done).error());
  }
  return tokens_ == before ? std::optional<std::vector<BearerToken>>() : std::optional(tokens_);
}

Result<> BearerTokenFile::read() {
  // A write within the clock's step after this look would leave the same times: until they are a
  // second old the file is read again.
  constexpr std::int64_t kStep = 1'000'000'000;
  timespec clock{};
  ::clock_gettime(CLOCK_REALTIME, &clock);
  version_ = look();
  settled_ = nanoseconds(clock) - version_.ctime > kStep;
  std::vector<Line> lines = BAWN_TRY(read_lines(path_));
  std::set<std::string, std::less<>> given;
  for (const Line& line : lines) {
    given.insert(line.name);
  }
  std::vector<BearerToken> tokens;
  for (Line& line : lines) {
    if (line.name.empty()) {
      line.name = account_of_unnamed(line.token, line.number, given);
    }
    tokens.push_back({.token = std::move(line.token), .account = std::move(line.name)});
  }
  tokens_ = std::move(tokens);
  return {};
}

std::string BearerTokenFile::account_of_unnamed(const std::string& token, std::size_t line,
                                                const std::set<std::string, std::less<>>& given) {
  if (const auto known = unnamed_.find(token);
      known != unnamed_.end() && !given.contains(known->second)) {
    return known->second;
  }
  const auto taken = [&](const std::string& account) {
    return given.contains(account) ||
           std::ranges::any_of(unnamed_, [&](const auto& one) { return one.second == account; });
  };
  std::string account = fmt::format("token-{}", line);
  for (int again = 2; taken(account); ++again) {
    account = fmt::format("token-{}-{}", line, again);
  }
  unnamed_[token] = account;
  return account;
}

BearerTokenFile::Version BearerTokenFile::look() const {
  struct stat status{};
  if (::stat(path_.c_str(), &status) != 0) {
    return {};
  }
  return {.device = status.st_dev,
          .inode = status.st_ino,
          .size = status.st_size,
          .mtime = nanoseconds(status.st_mtim),
          .ctime = nanoseconds(status.st_ctim)};
}

}  // namespace bawn::mcp
