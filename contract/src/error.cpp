#include "bawn/contract/error.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace bawn::contract {

struct Error::Node {
  ErrorCode code = ErrorCode::Internal;
  std::string message{};
  int errnum = 0;
  std::string call{};
  std::vector<Error> causes{};
  std::optional<Error> hidden{};
  std::any payload{};
};

std::string_view to_string(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::InvalidArgument:
      return "invalid_argument";
    case ErrorCode::NotFound:
      return "not_found";
    case ErrorCode::AlreadyExists:
      return "already_exists";
    case ErrorCode::PermissionDenied:
      return "permission_denied";
    case ErrorCode::Unsupported:
      return "unsupported";
    case ErrorCode::Busy:
      return "busy";
    case ErrorCode::Cancelled:
      return "cancelled";
    case ErrorCode::DeadlineExceeded:
      return "deadline_exceeded";
    case ErrorCode::ResourceExhausted:
      return "resource_exhausted";
    case ErrorCode::Closed:
      return "closed";
    case ErrorCode::ToolFailed:
      return "tool_failed";
    case ErrorCode::ToolPanicked:
      return "tool_panicked";
    case ErrorCode::Internal:
      return "internal";
  }
  return "internal";
}

namespace {

ErrorCode code_of_errno(int errnum) {
  switch (errnum) {
    case ENOENT:
      return ErrorCode::NotFound;
    case EEXIST:
      return ErrorCode::AlreadyExists;
    case EACCES:
    case EPERM:
    case EROFS:
      return ErrorCode::PermissionDenied;
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case EAGAIN:
    case ENOSPC:
    case EDQUOT:
      return ErrorCode::ResourceExhausted;
    case ENOSYS:
    case EOPNOTSUPP:
      return ErrorCode::Unsupported;
    case EBUSY:
    case ETXTBSY:
      return ErrorCode::Busy;
    default:
      return ErrorCode::Internal;
  }
}

// strerror() shares a buffer between threads; strerrordesc_np (glibc 2.32) returns constants.
std::string describe_errno(int errnum) {
  const char* text = ::strerrordesc_np(errnum);
  return text != nullptr ? text : fmt::format("error {}", errnum);
}

}  // namespace

Error::Error(ErrorCode code, std::string message)
    : Error(std::make_shared<const Node>(Node{.code = code, .message = std::move(message)})) {}

Error::Error(std::shared_ptr<const Node> node) : node_(std::move(node)) {}

Error Error::from_errno(int errnum, std::string_view call, std::string_view what) {
  return Error(std::make_shared<const Node>(
      Node{.code = code_of_errno(errnum),
           .message = fmt::format("{}: {}", what, describe_errno(errnum)),
           .errnum = errnum,
           .call = std::string(call)}));
}

ErrorCode Error::code() const noexcept {
  return node_->code;
}
const std::string& Error::message() const noexcept {
  return node_->message;
}
int Error::errnum() const noexcept {
  return node_->errnum;
}
const std::string& Error::call() const noexcept {
  return node_->call;
}
const std::vector<Error>& Error::causes() const noexcept {
  return node_->causes;
}
const std::any& Error::payload() const noexcept {
  return node_->payload;
}
const std::optional<Error>& Error::hidden_cause() const noexcept {
  return node_->hidden;
}

bool Error::is(ErrorCode code) const noexcept {
  if (node_->code == code) {
    return true;
  }
  for (const Error& cause : node_->causes) {
    if (cause.is(code)) {
      return true;
    }
  }
  return false;
}

Error Error::wrap(std::string_view prefix) const {
  return Error(
      std::make_shared<const Node>(Node{.code = node_->code,
                                        .message = fmt::format("{}: {}", prefix, node_->message),
                                        .errnum = node_->errnum,
                                        .call = node_->call,
                                        .causes = {*this}}));
}

Error Error::with_cause(Error cause) const {
  Node copy = *node_;
  copy.causes.push_back(std::move(cause));
  return Error(std::make_shared<const Node>(std::move(copy)));
}

Error Error::with_hidden_cause(Error cause) const {
  Node copy = *node_;
  copy.hidden = std::move(cause);
  return Error(std::make_shared<const Node>(std::move(copy)));
}

Error Error::with_payload(std::any payload) const {
  Node copy = *node_;
  copy.payload = std::move(payload);
  return Error(std::make_shared<const Node>(std::move(copy)));
}

}  // namespace bawn::contract
