#include "bawn/contract/keyed.hpp"

#include "bawn/contract/canonical.hpp"
#include "bawn/contract/json_node.hpp"
#include "bawn/contract/panic.hpp"
#include "bawn/contract/properties.hpp"
#include "bawn/contract/quote.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace bawn::contract {
namespace {

struct CurrentKeyedStore {
  std::shared_ptr<KeyedStore> store;
};

// The arguments with sorted members and numbers as they were written: a double would make one of
// two large integers.
void append_form(const JsonNode& node, std::string& form) {
  switch (node.kind) {
    case JsonNode::Kind::Null:
      form += "null";
      return;
    case JsonNode::Kind::Boolean:
      form += node.boolean ? "true" : "false";
      return;
    case JsonNode::Kind::Number:
      form += node.text;
      return;
    case JsonNode::Kind::String:
      form += dump_json(node.text);
      return;
    case JsonNode::Kind::Array:
      form += '[';
      for (const JsonNode& item : node.items) {
        append_form(item, form);
        form += ',';
      }
      form += ']';
      return;
    case JsonNode::Kind::Object:
      break;
  }
  std::vector<const std::pair<std::string, JsonNode>*> sorted;
  for (const auto& member : node.members) {
    sorted.push_back(&member);
  }
  std::ranges::sort(sorted, {}, [](const auto* member) { return member->first; });
  form += '{';
  for (const auto* member : sorted) {
    form += dump_json(member->first) + ':';
    append_form(member->second, form);
    form += ',';
  }
  form += '}';
}

// Two texts of one value are the same arguments; what is no JSON is only itself.
std::string fingerprint_of(const std::string& args) {
  const auto node = parse_arguments(args);
  std::string form;
  if (node) {
    append_form(*node, form);
  }
  return sha256_hex(node ? form : args);
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
