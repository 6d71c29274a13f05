#include "bawn/mcp/token_store.hpp"

#include "bawn/contract/json.hpp"
#include "unique_fd.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>

namespace bawn::mcp {
namespace {

using contract::Error;
using contract::ErrorCode;
using contract::fail;
using contract::Json;
using contract::Result;

Error failed(const char* call, const std::string& path) {
  return Error::from_errno(errno, call, "the token file " + path);
}

/// Waits its turn among all processes that use the store.
Result<UniqueFd> lock_for(const std::string& path) {
  const std::string name = path + ".lock";
  UniqueFd lock(::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!lock) {
    return std::unexpected(failed("open", name));
  }
  while (::flock(lock.get(), LOCK_EX) != 0) {
    if (errno != EINTR) {
      return std::unexpected(failed("flock", name));
    }
  }
  return lock;
}

/// An empty object when there is no file yet.
Result<Json> read_file(const std::string& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file) {
    return errno == ENOENT ? Result<Json>(Json::object()) : std::unexpected(failed("open", path));
  }
  struct stat status{};
  if (::fstat(file.get(), &status) != 0) {
    return std::unexpected(failed("fstat", path));
  }
  if (!S_ISREG(status.st_mode) || status.st_uid != ::geteuid() || (status.st_mode & 077) != 0) {
    return fail(ErrorCode::PermissionDenied,
                fmt::format("the token file {} must be a file of yours that nobody else may read "
                            "(chmod 600)",
                            path));
  }
  std::string text;
  std::array<char, 4096> part{};
  ssize_t got = 0;
  while ((got = ::read(file.get(), part.data(), part.size())) > 0) {
    text.append(part.data(), static_cast<std::size_t>(got));
  }
  if (got < 0) {
    return std::unexpected(failed("read", path));
  }
  auto json = contract::parse_json(text);
  if (!json || !json->is_object()) {
    return fail(ErrorCode::InvalidArgument, path + " is no file of tokens");
  }
  return *std::move(json);
}

Result<> write_all(int fd, std::string_view text, const std::string& path) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno != EINTR) {
      return std::unexpected(failed("write", path));
    }
    text.remove_prefix(written > 0 ? static_cast<std::size_t>(written) : 0);
  }
  return {};
}

/// A new file takes the old one's place, whole or not at all. Under the lock.
Result<> replace_file(const std::string& path, const Json& json) {
  const std::string next = path + ".new";
  ::unlink(next.c_str());  // of a process that died
  const UniqueFd file(
      ::open(next.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file) {
    return std::unexpected(failed("open", next));
  }
  auto written = write_all(file.get(), contract::dump_json(json) + "\n", next);
  if (written && ::fsync(file.get()) != 0) {
    written = std::unexpected(failed("fsync", next));
  }
  if (written && ::rename(next.c_str(), path.c_str()) != 0) {
    written = std::unexpected(failed("rename", path));
  }
  if (!written) {
    ::unlink(next.c_str());
  }
  return written;
}

std::string name_of(const TokenKey& key) {
  return contract::dump_json(Json{key.endpoint, key.subject});
}

std::string text_in(const Json& json, const char* name) {
  const Json value = json.value(name, Json());
  return value.is_string() ? value.get<std::string>() : "";
}

Json to_json(const StoredToken& token) {
  return {{"access_token", token.access_token},
          {"refresh_token", token.refresh_token},
          {"expires_at", token.expires_at},
          {"issuer", token.issuer},
          {"token_url", token.token_url},
          {"auth_method", token.auth_method},
          {"client_id", token.client_id},
          {"client_secret", token.client_secret},
          {"scope", token.scope},
          {"resource", token.resource}};
}

StoredToken from_json(const Json& json) {
  const Json expires = json.value("expires_at", Json());
  return {.access_token = text_in(json, "access_token"),
          .refresh_token = text_in(json, "refresh_token"),
          .expires_at = expires.is_number_integer() ? expires.get<std::int64_t>() : 0,
          .issuer = text_in(json, "issuer"),
          .token_url = text_in(json, "token_url"),
          .resource = text_in(json, "resource"),
          .auth_method = text_in(json, "auth_method"),
          .client_id = text_in(json, "client_id"),
          .client_secret = text_in(json, "client_secret"),
          .scope = text_in(json, "scope")};
}

}  // namespace

Result<std::optional<StoredToken>> MemoryTokenStore::load(const TokenKey& key) {
  const std::scoped_lock lock(mutex_);
  const auto found = tokens_.find(key);
  return found == tokens_.end() ? std::nullopt : std::optional(found->second);
}

Result<> MemoryTokenStore::save(const TokenKey& key, const StoredToken& token) {
  const std::scoped_lock lock(mutex_);
  tokens_[key] = token;
  return {};
}

Result<std::optional<StoredToken>> FileTokenStore::load(const TokenKey& key) {
  const Json all = BAWN_TRY(read_file(path_));
  const Json one = all.value(name_of(key), Json());
  return one.is_object() ? std::optional(from_json(one)) : std::nullopt;
}

Result<> FileTokenStore::save(const TokenKey& key, const StoredToken& token) {
  const UniqueFd lock = BAWN_TRY(lock_for(path_));
  Json all = BAWN_TRY(read_file(path_));
  all[name_of(key)] = to_json(token);
  return replace_file(path_, all);
}

}  // namespace bawn::mcp
