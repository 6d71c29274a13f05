/// \file
/// Where tokens of remote servers stay between runs.
#pragma once

#include "bawn/contract/error.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace bawn::mcp {

/// Whose token for which server.
struct TokenKey {
  std::string endpoint{};  ///< the server's URL
  std::string subject{};   ///< the user, in the host's words
  auto operator<=>(const TokenKey&) const = default;
};

/// A token with all that renewing it needs.
struct StoredToken {
  std::string access_token{};
  std::string refresh_token{};
  std::int64_t expires_at = 0;  ///< seconds since 1970; 0 = the server did not say
  std::string issuer{};         ///< the authorization server; the client below is known there only
  std::string token_url{};
  std::string resource{};     ///< what the server calls itself, exactly
  std::string auth_method{};  ///< "none", "client_secret_basic" or "client_secret_post"
  std::string client_id{};
  std::string client_secret{};
  std::string scope{};  ///< scopes that were asked for, by spaces
};

/// Threads: must be thread-safe. One that several processes use must lock by itself.
class TokenStore {
 public:
  TokenStore() = default;
  virtual ~TokenStore() = default;
  TokenStore(const TokenStore&) = delete;
  TokenStore& operator=(const TokenStore&) = delete;

  /// None when there is none.
  [[nodiscard]] virtual contract::Result<std::optional<StoredToken>> load(const TokenKey& key) = 0;
  [[nodiscard]] virtual contract::Result<> save(const TokenKey& key, const StoredToken& token) = 0;
};

/// Forgets everything with the process.
class MemoryTokenStore final : public TokenStore {
 public:
  [[nodiscard]] contract::Result<std::optional<StoredToken>> load(const TokenKey& key) override;
  [[nodiscard]] contract::Result<> save(const TokenKey& key, const StoredToken& token) override;

 private:
  std::mutex mutex_;
  std::map<TokenKey, StoredToken> tokens_;
};

/// A file of JSON that its owner alone may read, in a folder that exists. Each change is a new file
/// that takes the old one's place, written to the disk first; `PATH.lock` orders processes.
///
/// Errors of load() and save(): PermissionDenied for a file that others may read or that is
/// somebody else's; InvalidArgument for one that is no token file; a system call's error.
class FileTokenStore final : public TokenStore {
 public:
  explicit FileTokenStore(std::string path) : path_(std::move(path)) {}
  [[nodiscard]] contract::Result<std::optional<StoredToken>> load(const TokenKey& key) override;
  [[nodiscard]] contract::Result<> save(const TokenKey& key, const StoredToken& token) override;

 private:
  const std::string path_;
};

}  // namespace bawn::mcp
