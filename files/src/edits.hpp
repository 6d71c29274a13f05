/// \file
/// Exact replacement: what is to be replaced must be there, and once only.
#pragma once

#include "bawn/contract/error.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace bawn::files {

using contract::Result;

struct Edit {
  std::string old_text;
  std::string new_text;
  bool replace_all = false;
};

struct EditedText {
  std::string text;
  /// For each edit how often it replaced, and the line, from 1, of its first place after it.
  struct Applied {
    std::size_t count = 0;
    std::size_t line = 0;
  };
  std::vector<Applied> applied;
};

/// Applies the edits one after the other, each to what the one before left; all or none.
///
/// `crlf`: the text has CRLF line ends throughout, so line ends of the edits are written as CRLF.
/// Errors: InvalidArgument, naming the edit: nothing to look for, no change, no match (with the
/// nearest place and why it differs), several matches (with their lines).
[[nodiscard]] Result<EditedText> apply_edits(std::string text, const std::vector<Edit>& edits,
                                             bool crlf);

}  // namespace bawn::files
