/// \file
/// A shell that runs on in a container as long as a session does, by one exec of the engine: it
/// lists and ends the session's processes and keeps its small files. When its input ends, because
/// the session or this process did, it ends all that carries the session's mark.
#pragma once

#include "bawn/shell/place_files.hpp"
#include "exec_route.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

namespace bawn::container {

/// Threads: thread-safe. A shell that is lost (commands can end it, as the same user) is replaced
/// with the next request.
class ExecControl final : public shell::PlaceFiles {
 public:
  /// `mark` is the beginning of every BAWN_EXEC of the session.
  ///
  /// Errors: Unsupported (no shell there: the engine's words follow); Closed; the context's.
  /// Blocking: as long as an engine takes for an exec, 30 s at most.
  static Result<std::shared_ptr<ExecControl>> start(const contract::Context& context,
                                                    ExecRoute route, std::string mark);
  ~ExecControl() override { close(); }

  [[nodiscard]] std::uint32_t uid() const noexcept { return uid_; }
  [[nodiscard]] std::uint32_t gid() const noexcept { return gid_; }
  /// Of the session, with r/ and w/; empty where nothing can be written.
  [[nodiscard]] const std::string& directory() const noexcept { return directory_; }
  [[nodiscard]] int pid() const;

  /// What the shell prints for one line.
  ///
  /// Errors: Closed (it was lost twice), DeadlineExceeded, the context's; ResourceExhausted (more
  /// than 16 MiB).
  [[nodiscard]] Result<std::string> ask(const contract::Context& context, const std::string& line);
  [[nodiscard]] bool alive() const;
  /// Ends all that carries the mark, and the shell. Idempotent. Blocking: for what
  /// another thread asked meanwhile, and then 20 s at most.
  void close() noexcept;

  [[nodiscard]] Result<> write(const std::string& path, std::string_view bytes) override;
  [[nodiscard]] Result<std::string> read(const std::string& path, std::size_t limit) override;
  void remove(const std::string& path) noexcept override;
  [[nodiscard]] Result<shell::Parsed> parse(const contract::Context& context,
                                            const std::string& shell,
                                            const std::string& path) override;

 private:
  ExecControl(ExecRoute route, std::string mark);
  [[nodiscard]] Result<> begin(const contract::Context& context);
  [[nodiscard]] Result<std::string> exchange(const contract::Context& context,
                                             std::string_view line);
  void drop() noexcept;

  const ExecRoute route_;
  const std::string mark_;
  const std::string name_;  ///< of the directory
  std::string directory_;
  std::uint32_t uid_ = 0;
  std::uint32_t gid_ = 0;
  mutable std::mutex mutex_;
  ExecClient client_;
  std::string nonce_;
  std::string self_;  ///< "PID:START" of the shell
  std::string complaints_;
  bool closed_ = false;
};

}  // namespace bawn::container
