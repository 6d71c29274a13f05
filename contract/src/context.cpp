#include "bawn/contract/context.hpp"

#include <algorithm>
#include <atomic>

namespace bawn::contract {
namespace {

/// One right to cancel, shared by all contexts below it.
class CancelState {
 public:
  void cancel(CancelReason reason) {
    int unset = kUnset;
    reason_.compare_exchange_strong(unset, static_cast<int>(reason));
    source_.request_stop();
  }
  [[nodiscard]] bool cancelled() const { return source_.stop_requested(); }
  // The reason is stored before the stop is requested, so a cancelled state always has one.
  [[nodiscard]] CancelReason reason() const { return static_cast<CancelReason>(reason_.load()); }
  [[nodiscard]] std::stop_token token() const { return source_.get_token(); }

 private:
  static constexpr int kUnset = -1;
  std::atomic<int> reason_{kUnset};
  std::stop_source source_;
};

/// Hands a parent's cancellation on to a child.
struct Forward {
  std::shared_ptr<CancelState> parent;
  std::shared_ptr<CancelState> child;
  void operator()() const {
    // Copies: a callback of the child may drop the last context that owns this object.
    const auto from = parent;
    const auto to = child;
    to->cancel(from->reason());
  }
};

}  // namespace

struct Context::Node {
  std::shared_ptr<const Node> parent;  ///< where values are looked up next
  std::shared_ptr<CancelState> cancel;
  std::optional<Clock::time_point> deadline;
  std::type_index key = typeid(void);
  std::shared_ptr<const std::any> value;
  std::optional<std::stop_callback<Forward>> forward;
};

Context::Context() = default;
Context::Context(std::shared_ptr<const Node> node) : node_(std::move(node)) {}

bool Context::cancelled() const noexcept {
  return node_ && node_->cancel && node_->cancel->cancelled();
}

bool Context::ended_at(Clock::time_point now) const noexcept {
  return cancelled() || (node_ && node_->deadline && *node_->deadline <= now);
}

std::optional<CancelReason> Context::reason() const noexcept {
  return cancelled() ? std::optional(node_->cancel->reason()) : std::nullopt;
}

std::optional<Context::Clock::time_point> Context::deadline() const noexcept {
  return node_ ? node_->deadline : std::nullopt;
}

std::stop_token Context::stop_token() const noexcept {
  return node_ && node_->cancel ? node_->cancel->token() : std::stop_token();
}

Context Context::with_deadline(Clock::time_point deadline) const {
  auto node = std::make_shared<Node>();
  node->parent = node_;
  if (node_) {
    node->cancel = node_->cancel;
    node->deadline = node_->deadline;
  }
  node->deadline = std::min(node->deadline.value_or(deadline), deadline);
  return Context(std::move(node));
}

Context Context::detached() const {
  auto node = std::make_shared<Node>();
  node->parent = node_;
  return Context(std::move(node));
}

Context Context::with_any(std::type_index key, std::shared_ptr<const std::any> value) const {
  auto node = std::make_shared<Node>();
  node->parent = node_;
  if (node_) {
    node->cancel = node_->cancel;
    node->deadline = node_->deadline;
  }
  node->key = key;
  node->value = std::move(value);
  return Context(std::move(node));
}

const std::any* Context::find_any(std::type_index key) const noexcept {
  for (const Node* node = node_.get(); node != nullptr; node = node->parent.get()) {
    if (node->value && node->key == key) {
      return node->value.get();
    }
  }
  return nullptr;
}

CancelSource::CancelSource(const Context& parent) {
  auto node = std::make_shared<Context::Node>();
  node->parent = parent.node_;
  node->deadline = parent.deadline();
  node->cancel = std::make_shared<CancelState>();
  if (parent.node_ && parent.node_->cancel) {
    node->forward.emplace(parent.stop_token(), Forward{parent.node_->cancel, node->cancel});
  }
  context_ = Context(std::move(node));
}

const Context& CancelSource::context() const noexcept {
  return context_;
}

void CancelSource::cancel(CancelReason reason) const {
  context_.node_->cancel->cancel(reason);
}

}  // namespace bawn::contract
