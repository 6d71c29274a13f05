/// \file
/// One session for the file tools, without a server around it.
#pragma once

#include "bawn/contract/call_context.hpp"
#include "bawn/files/tools.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace bawn::test {

class OnePlace final : public files::Places {
 public:
  explicit OnePlace(files::Place place) : place_(std::move(place)) {}
  contract::Result<files::Place> place(const contract::Context& /*context*/,
                                       const std::optional<std::string>& /*name*/) override {
    return place_;
  }
  contract::Confinement confinement(const contract::Context& /*context*/,
                                    const std::optional<std::string>& /*name*/) const override {
    return {};
  }
  std::string workspace(const contract::Context& /*context*/,
                        const std::optional<std::string>& /*name*/) const override {
    return place_.workspace;
  }

 private:
  files::Place place_;
};

/// The tools of one place by their names.
class PlaceTools {
 public:
  PlaceTools(files::Place place, const std::string& state_dir) {
    auto tools = files::make_file_tools(std::make_shared<OnePlace>(std::move(place)),
                                        {.state_dir = state_dir});
    EXPECT_TRUE(tools) << tools.error().message();
    tools_ = tools ? *std::move(tools) : std::vector<contract::ToolPtr>();
  }

  contract::Outcome run(const std::string& name, const contract::Json& arguments) const {
    for (const contract::ToolPtr& tool : tools_) {
      if (tool->definition().name == name) {
        contract::Call call;
        call.id = "call";
        call.args = contract::dump_json(arguments);
        const contract::Context context = contract::with_call(contract::Context(), std::move(call));
        return tool->execute(context, *contract::call_from(context));
      }
    }
    ADD_FAILURE() << "no tool " << name;
    return contract::Error(contract::ErrorCode::Internal, "no tool");
  }

 private:
  std::vector<contract::ToolPtr> tools_;
};

}  // namespace bawn::test
