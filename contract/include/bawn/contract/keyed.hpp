/// \file
/// Tools that deduplicate their calls by the idempotency key (C-77): a second call with the key of
/// a completed one has no further effect and gets the stored outcome.
#pragma once

#include "bawn/contract/context.hpp"
#include "bawn/contract/error.hpp"
#include "bawn/contract/tool.hpp"

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace bawn::contract {

/// Whose call a key stands for. Equal keys of two tools are two calls.
struct CallKey {
  std::string tool{};
  std::string key{};

  auto operator<=>(const CallKey&) const = default;
};

/// What a store knew about a key when it was claimed.
struct KeyClaim {
  enum class State {
    Fresh,    ///< nothing: the key is now the claimer's, who must complete it
    Running,  ///< its first call has not completed, or its process died
    Done      ///< `outcome` is the first call's
  };
  State state = State::Fresh;
  std::string fingerprint{};         ///< of the first call's arguments
  std::optional<Outcome> outcome{};  ///< only with Done
};

/// Where keys and outcomes are kept. A store that outlives the process is the host's to write.
///
/// Threads: called from many threads at once.
class KeyedStore {
 public:
  virtual ~KeyedStore() = default;
  /// Takes the key if nobody has it, else tells what is known; atomic over all users of the store.
  [[nodiscard]] virtual Result<KeyClaim> claim(const CallKey& key,
                                               const std::string& fingerprint) = 0;
  /// Keeps the outcome of a claimed key, as durable as the store is, before it returns.
  [[nodiscard]] virtual Result<> complete(const CallKey& key, const Outcome& outcome) = 0;
  /// True when what was completed survives the end of this process. Only then is a tool's claim to
  /// be keyed true.
  [[nodiscard]] virtual bool durable() const noexcept = 0;
};

/// Keeps keys in memory: for one process's life, and for tests.
class MemoryKeyedStore final : public KeyedStore {
 public:
  /// \param most  completed outcomes kept; the oldest is forgotten first. Running calls do not
  /// count.
  explicit MemoryKeyedStore(std::size_t most = 1024) : most_(most) {}
  [[nodiscard]] Result<KeyClaim> claim(const CallKey& key, const std::string& fingerprint) override;
  [[nodiscard]] Result<> complete(const CallKey& key, const Outcome& outcome) override;
  [[nodiscard]] bool durable() const noexcept override { return false; }

 private:
  std::mutex mutex_;
  std::map<CallKey, KeyClaim> claims_;
  std::deque<CallKey> completed_;
  std::size_t most_;
};

/// Carries the store for all calls below; a null one removes what an outer context carries.
/// `ExecutorOptions::keyed_store` does this for a batch.
[[nodiscard]] Context with_keyed_store(const Context& context, std::shared_ptr<KeyedStore> store);
/// The store of the context, or null.
[[nodiscard]] std::shared_ptr<KeyedStore> keyed_store_of(const Context& context);

/// A tool whose calls are deduplicated by their key in the store on their context. Its `replay`
/// answers Keyed where that store is durable, and what `inner` says otherwise. A call without a
/// key or without a store runs as ever.
///
/// The tool's errors, `inner` not being run: Busy, while the first call of the key runs or when it
/// never completed; InvalidArgument, when the key belongs to a call with other arguments; what the
/// store's claim failed with. An outcome that the store then cannot keep is still returned, and the
/// key stays taken: a further call is refused, never run twice.
///
/// Errors: InvalidArgument when `inner` is empty.
[[nodiscard]] Result<ToolPtr> keyed(ToolPtr inner);

}  // namespace bawn::contract
