/// \file
/// What the bench prints: a table for people, JSON for programs.
#pragma once

#include "bawn/contract/json.hpp"
#include "sampler.hpp"

#include <string>
#include <vector>

namespace bawn::bench {

/// The table, one group after the other, medians and ratios to the floor of the same run.
[[nodiscard]] std::string to_table(const std::vector<Row>& rows);
/// {"machine":{...},"rows":[...]}; times are microseconds.
[[nodiscard]] contract::Json to_json(const std::vector<Row>& rows);

}  // namespace bawn::bench
