#include "bawn/contract/call_context.hpp"

#include <memory>
#include <utility>

namespace bawn::contract {
namespace {

// Own types: a value on a context is found by its type, and std::string is anybody's.
struct SessionId {
  std::string id;
};

}  // namespace

Context with_call(const Context& context, Call call) {
  return context.with(std::move(call));
}

const Call* call_from(const Context& context) noexcept {
  return context.find<Call>();
}

Context with_session(const Context& context, std::string id) {
  return context.with(SessionId{std::move(id)});
}

const std::string* session_from(const Context& context) noexcept {
  const auto* const session = context.find<SessionId>();
  return session != nullptr ? &session->id : nullptr;
}

Context with_caller(const Context& context, Caller caller) {
  return context.with(std::move(caller));
}

const Caller* caller_from(const Context& context) noexcept {
  return context.find<Caller>();
}

}  // namespace bawn::contract
