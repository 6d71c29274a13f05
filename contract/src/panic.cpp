#include "bawn/contract/panic.hpp"

#include "bawn/contract/quote.hpp"

#include <fmt/format.h>

#include <cxxabi.h>

#include <cstdlib>
#include <exception>
#include <memory>
#include <typeinfo>
#include <utility>

namespace bawn::contract {
namespace {

std::string current_type() {
  const std::type_info* const type = abi::__cxa_current_exception_type();
  if (type == nullptr) {
    return "unknown";
  }
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(
      abi::__cxa_demangle(type->name(), nullptr, nullptr, &status), &std::free);
  return status == 0 && name ? name.get() : type->name();
}

// A null pointer can be thrown, too.
std::string text_or_type(const char* text) {
  return text != nullptr ? std::string(text) : current_type();
}

}  // namespace

Error make_panic_error(Panic panic) {
  const Error error(ErrorCode::ToolPanicked, fmt::format("tool {} panicked: {}", quote(panic.tool),
                                                         plain_or_quoted(panic.value)));
  return error.with_payload(std::move(panic));
}

std::optional<Panic> catch_panic(const std::function<void()>& body) {
  try {
    body();
    return std::nullopt;
  } catch (const abi::__forced_unwind&) {
    throw;  // glibc ends the process if this one is swallowed
  } catch (const std::exception& thrown) {
    return Panic{.tool = {}, .value = text_or_type(thrown.what()), .type = current_type()};
  } catch (const std::string& thrown) {
    return Panic{.tool = {}, .value = thrown, .type = current_type()};
  } catch (const char* thrown) {
    return Panic{.tool = {}, .value = text_or_type(thrown), .type = current_type()};
  } catch (...) {
    return Panic{.tool = {}, .value = current_type(), .type = current_type()};
  }
}

Outcome execute_contained(const Tool& tool, const Context& context, const Call& call) {
  Outcome outcome;
  auto panic = catch_panic([&] { outcome = tool.execute(context, call); });
  if (panic) {
    panic->tool = tool.definition().name;
    return make_panic_error(*std::move(panic));
  }
  return outcome;
}

}  // namespace bawn::contract
