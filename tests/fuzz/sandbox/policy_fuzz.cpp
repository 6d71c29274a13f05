/// \file
/// A policy's text: what is read is written back as the same policy, keeps its hash, and can be
/// planned for; a project's file never widens what it is narrowed by.
#include "bawn/contract/json.hpp"
#include "bawn/sandbox/policy.hpp"
#include "bawn/sandbox/policy_file.hpp"
#include "require.hpp"

#include <algorithm>
#include <string_view>

using namespace bawn::sandbox;
using bawn::fuzz::require;

namespace {

void check_narrowing(const Policy& wish) {
  const auto base = preset("workspace-write");
  require(base.has_value(), "a preset that cannot be read");
  const Policy both = narrow(*base, wish);
  require(both.enforce, "narrowing took the wall away");
  require(both.network == Network::None || both.network == base->network ||
              base->network != Network::None,
          "narrowing opened the network");
  for (const std::string& secret : base->secrets) {
    require(std::ranges::find(both.secrets, secret) != both.secrets.end(),
            "narrowing made a secret readable");
  }
  for (const std::string& root : both.write) {
    require(std::ranges::find(base->write, root) != base->write.end(),
            "narrowing made a directory writable");
  }
  for (const Guarantee guarantee : base->require) {
    require(std::ranges::find(both.require, guarantee) != both.require.end(),
            "narrowing gave a guarantee up");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto json =
      bawn::contract::parse_json(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!json) {
    return 0;
  }
  const auto policy = policy_from_json(*json);
  if (!policy) {
    require(!policy.error().message().empty(), "a refusal without a word");
    return 0;
  }
  const auto again = policy_from_json(to_json(*policy));
  require(again.has_value(), "its own text is refused");
  require(policy_id(*again) == policy_id(*policy), "another policy came back");
  check_narrowing(*policy);
  return 0;
}
