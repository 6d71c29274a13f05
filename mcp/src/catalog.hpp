/// \file
/// The registered tools: checked once, listed in a fixed order, found by name.
#pragma once

#include "bawn/contract/context.hpp"
#include "bawn/contract/error.hpp"
#include "bawn/contract/tool.hpp"
#include "bawn/mcp/server.hpp"
#include "json_rpc.hpp"
#include "protocol.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bawn::mcp {

/// Threads: thread-safe (const).
class Catalog {
 public:
  /// Checks names and schemas; see Server::create.
  [[nodiscard]] static contract::Result<Catalog> create(std::vector<contract::ToolPtr> tools,
                                                        std::map<std::string, Json> tool_meta);

  /// Null when there is no tool of that name.
  [[nodiscard]] const contract::Tool* find(std::string_view name) const;
  /// The `tools` array for the caller on `context`, in the order of registration. A tool whose
  /// availability rule fails is left out. May call the tools' functions; may throw what they throw.
  [[nodiscard]] Json list(const contract::Context& context, const WireFeatures& features) const;
  /// False when some tool is not for every caller.
  [[nodiscard]] bool same_for_all() const noexcept { return same_for_all_; }

 private:
  struct Entry {
    contract::ToolPtr tool;
    Json input_schema;
    std::optional<Json> output_schema;
    Json meta;
  };
  [[nodiscard]] static contract::Result<Entry> make_entry(contract::ToolPtr tool);
  [[nodiscard]] static Json describe(const Entry& entry, const contract::Context& context,
                                     const WireFeatures& features);

  std::vector<Entry> entries_;
  std::map<std::string, std::size_t, std::less<>> index_;
  bool same_for_all_ = true;
};

}  // namespace bawn::mcp
