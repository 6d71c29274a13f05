/// \file
/// What a policy says about one path or one host, and by which of its members. Pure: the answers
/// come from the policy and the facts about the place, not from trying.
#pragma once

#include "bawn/sandbox/plan.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace bawn::sandbox {

/// Yes or no, with the member of the policy that decides in a few words.
struct Verdict {
  bool allowed = false;
  std::string rule;
};

struct PathVerdict {
  Verdict read;
  Verdict write;
};

/// About an absolute, canonical path. Plain permissions of the file may still refuse what the
/// policy allows.
[[nodiscard]] PathVerdict explain_path(const Policy& policy, const Place& place,
                                       std::string_view path);

/// About connections to a port of a host, a name or an address, as it is asked for; where the name
/// leads is not looked up.
///
/// Errors: InvalidArgument for what is neither name nor address.
[[nodiscard]] Result<Verdict> explain_host(const Policy& policy, std::string_view host,
                                           std::uint16_t port);

}  // namespace bawn::sandbox
