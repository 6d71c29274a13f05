/// \file
/// The registered tools: checked once, listed in a fixed order, found by name.
#pragma once

#include "bawn/contract/context.hpp"
#include "bawn/contract/error.hpp"
#include "bawn/contract/json_schema.hpp"
#include "bawn/contract/tool.hpp"
#include "bawn/mcp/server.hpp"
#include "json_rpc.hpp"
#include "protocol.hpp"
#include "report_text.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bawn::mcp {

/// A property that a client mirrors in a header (`x-mcp-header`).
struct MirroredProperty {
  std::string property;
  std::string header;  ///< lower case, with `mcp-param-`
};

/// A registered tool. Its schemas stay text: parsing those of all tools would be a good part of the
/// time to the first answer.
struct CatalogEntry {
  contract::ToolPtr tool;
  std::string input_schema;
  std::optional<std::string> output_schema;
  Json meta = Json::object();
  std::vector<MirroredProperty> mirrored{};

  /// Checks a call's arguments against the input schema, unless the tool does that itself.
  ///
  /// Errors: "invalid arguments: …".
  [[nodiscard]] contract::Result<> check_input(std::string_view arguments) const;
  /// Checks a structured result against the output schema.
  [[nodiscard]] contract::Result<> check_output(const std::optional<Json>& structured) const;

 private:
  /// A schema that is compiled when it is needed for the first time.
  class LazySchema {
   public:
    [[nodiscard]] contract::Result<> validate(const std::string& schema, const Json& value);

   private:
    std::once_flag once_;
    std::optional<contract::Result<contract::JsonSchema>> schema_;
  };
  std::shared_ptr<LazySchema> input_ = std::make_shared<LazySchema>();
  std::shared_ptr<LazySchema> output_ = std::make_shared<LazySchema>();
};

using EntryPtr = std::shared_ptr<const CatalogEntry>;

/// Threads: thread-safe (const).
class Catalog {
 public:
  /// Checks names and schemas; see Server::create.
  [[nodiscard]] static contract::Result<Catalog> create(std::vector<contract::ToolPtr> tools,
                                                        std::map<std::string, Json> tool_meta,
                                                        bool any_name = false);

  /// Null when there is no tool of that name.
  [[nodiscard]] EntryPtr find(std::string_view name) const;
  /// The `tools` array's text for the caller on `context`, in the order of registration. A tool
  /// whose availability rule fails is left out. May call the tools' functions; may throw what they
  /// throw.
  [[nodiscard]] std::string list(const contract::Context& context, const WireFeatures& features,
                                 const ReportText& reports) const;
  /// False when some tool is not for every caller.
  [[nodiscard]] bool same_for_all() const noexcept { return same_for_all_; }

 private:
  [[nodiscard]] static contract::Result<CatalogEntry> make_entry(contract::ToolPtr tool,
                                                                 bool any_name);

  std::vector<EntryPtr> entries_;
  std::map<std::string, std::size_t, std::less<>> index_;
  bool same_for_all_ = true;
};

}  // namespace bawn::mcp
