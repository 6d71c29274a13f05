#include "bawn/contract/keyed.hpp"

#include "bawn/contract/canonical.hpp"
#include "bawn/contract/panic.hpp"
#include "bawn/contract/properties.hpp"
#include "bawn/contract/quote.hpp"

#include <fmt/format.h>

namespace bawn::contract {
namespace {

struct CurrentKeyedStore {
  std::shared_ptr<KeyedStore> store;
};

// Two texts of one JSON value are the same arguments; what is no JSON is only itself.
std::string fingerprint_of(const std::string& args) {
  const auto json = parse_json(args.empty() ? "{}" : args);
  const auto canonical = json ? canonical_json(*json) : Result<std::string>(args);
  return sha256_hex(canonical.value_or(args));
}

/// A tool whose properties differ from the wrapped one's in their replay.
class KeyedTool final : public Tool {
 public:
  explicit KeyedTool(ToolPtr inner)
      : Tool(inner->definition(), properties_of(inner)), inner_(std::move(inner)) {}

  Outcome execute(const Context& context, const Call& call) const override {
    const auto store = keyed_store_of(context);
    if (!store || call.idempotency_key.empty()) {
      return inner_->execute(context, call);
    }
    const CallKey key{.tool = definition().name, .key = call.idempotency_key};
    const std::string fingerprint = fingerprint_of(call.args);
    auto claim = store->claim(key, fingerprint);
    if (!claim) {
      return claim.error().wrap(fmt::format("tool {}: keyed store", quote(key.tool)));
    }
    if (claim->state == KeyClaim::State::Fresh) {
      Outcome outcome = execute_contained(*inner_, context, call);
      (void)store->complete(key, outcome);  // on failure the key stays taken; see keyed()
      return outcome;
    }
    if (claim->fingerprint != fingerprint) {
      return Error(
          ErrorCode::InvalidArgument,
          fmt::format("tool {}: this idempotency key belongs to a call with other arguments",
                      quote(key.tool)));
    }
    if (claim->state == KeyClaim::State::Running || !claim->outcome) {
      return Error(
          ErrorCode::Busy,
          fmt::format("tool {}: the first call with this idempotency key has not completed",
                      quote(key.tool)));
    }
    return *std::move(claim->outcome);
  }
  const Tool* unwrap() const noexcept override { return inner_.get(); }

 private:
  static Properties properties_of(const ToolPtr& inner) {
    Properties properties = inner->properties();
    properties.replay = [before = properties.replay](const Context& context,
                                                     std::string_view args) {
      const auto store = keyed_store_of(context);
      if (store && store->durable()) {
        return Replay::Keyed;
      }
      return before ? before(context, args) : Replay::Unknown;
    };
    return properties;
  }

  ToolPtr inner_;
};

}  // namespace

Result<KeyClaim> MemoryKeyedStore::claim(const CallKey& key, const std::string& fingerprint) {
  const std::scoped_lock lock(mutex_);
  const auto [known, is_new] = claims_.try_emplace(
      key, KeyClaim{.state = KeyClaim::State::Running, .fingerprint = fingerprint});
  if (is_new) {
    return KeyClaim{.state = KeyClaim::State::Fresh, .fingerprint = fingerprint};
  }
  return known->second;
}

Result<> MemoryKeyedStore::complete(const CallKey& key, const Outcome& outcome) {
  const std::scoped_lock lock(mutex_);
  const auto known = claims_.find(key);
  if (known == claims_.end() || known->second.state != KeyClaim::State::Running) {
    return fail(ErrorCode::NotFound, "this idempotency key is not claimed");
  }
  known->second.state = KeyClaim::State::Done;
  known->second.outcome = outcome;
  completed_.push_back(key);
  if (completed_.size() > most_) {
    claims_.erase(completed_.front());
    completed_.pop_front();
  }
  return {};
}

Context with_keyed_store(const Context& context, std::shared_ptr<KeyedStore> store) {
  return context.with(CurrentKeyedStore{std::move(store)});
}

std::shared_ptr<KeyedStore> keyed_store_of(const Context& context) {
  const auto* const current = context.find<CurrentKeyedStore>();
  return current != nullptr ? current->store : nullptr;
}

Result<ToolPtr> keyed(ToolPtr inner) {
  if (!inner) {
    return fail(ErrorCode::InvalidArgument, "keyed: no tool");
  }
  return std::make_shared<const KeyedTool>(std::move(inner));
}

}  // namespace bawn::contract
