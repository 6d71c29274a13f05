/// \file
/// Readable things beside the tools, each under a URI: a call's kept output, a file, a report. A
/// front serves them; whoever has them implements the provider.
#pragma once

#include "bawn/contract/context.hpp"
#include "bawn/contract/error.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bawn::contract {

/// One line of a list of resources.
struct Resource {
  std::string uri{};
  std::string name{};
  std::string title{};                  ///< for people; may be empty
  std::string description{};            ///< may be empty
  std::string mime_type{};              ///< may be empty
  std::optional<std::uint64_t> size{};  ///< bytes, when known
};

/// A family of resources: RFC 6570, e.g. "bawn://call/{id}/stdout".
struct ResourceTemplate {
  std::string uri_template{};
  std::string name{};
  std::string title{};
  std::string description{};
  std::string mime_type{};
};

/// What a resource holds. `bytes` that are no text (`text` false) travel as base64.
struct ResourceContents {
  std::string uri{};
  std::string mime_type{};
  std::string bytes{};
  bool text = true;
};

/// Threads: all functions are called from many threads at once.
class ResourceProvider {
 public:
  virtual ~ResourceProvider() = default;

  /// What the caller on `context` may read now. Blocking: briefly.
  [[nodiscard]] virtual Result<std::vector<Resource>> list(const Context& context) const = 0;
  [[nodiscard]] virtual std::vector<ResourceTemplate> templates() const = 0;
  /// Reads one. `uri` is hostile text.
  ///
  /// Errors: NotFound for a URI that names nothing the caller may read.
  [[nodiscard]] virtual Result<std::vector<ResourceContents>> read(
      const Context& context, const std::string& uri) const = 0;
  /// Values for the variable `argument` of a template that begin with `value`; empty when unknown.
  [[nodiscard]] virtual std::vector<std::string> complete(const Context& /*context*/,
                                                          std::string_view /*uri_template*/,
                                                          std::string_view /*argument*/,
                                                          std::string_view /*value*/) const {
    return {};
  }
};

}  // namespace bawn::contract
