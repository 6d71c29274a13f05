#include "bawn/contract/tool_info.hpp"

#include "bawn/contract/definition.hpp"

namespace bawn::contract {

ToolInfo describe_tool(const Tool& tool) {
  const Definition& definition = tool.definition();
  return {.name = definition.name,
          .description = definition.description,
          .input_schema = std::string(parameters_of(definition)),
          .output_schema = output_schema_of(tool),
          .annotations = annotations_of(tool),
          .cli = cli_of(tool)};
}

}  // namespace bawn::contract
