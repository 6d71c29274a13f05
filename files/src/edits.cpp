#include "edits.hpp"

#include "lines.hpp"
#include "near_miss.hpp"
#include "text_encoding.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>

namespace bawn::files {

namespace {

using contract::fail;

constexpr std::size_t kShownPlaces = 8;
constexpr std::size_t kNowhere = std::string_view::npos;

std::size_t find_from(std::string_view text, std::string_view wanted, std::size_t from) {
  if (from > text.size()) {
    return kNowhere;
  }
  const void* found = memmem(text.data() + from, text.size() - from, wanted.data(), wanted.size());
  return found == nullptr ? kNowhere
                          : static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
}

/// "edit 2 of 3: ", or nothing when there is one only.
std::string edit_name(std::size_t index, std::size_t count) {
  return count == 1 ? std::string() : fmt::format("edit {} of {}: ", index + 1, count);
}

std::string places_of(std::string_view text, std::string_view wanted, std::size_t& count) {
  std::vector<std::size_t> lines;
  std::size_t line = 1;
  std::size_t seen = 0;
  count = 0;
  for (std::size_t at = find_from(text, wanted, 0); at != kNowhere;
       at = find_from(text, wanted, at + wanted.size())) {
    ++count;
    if (lines.size() < kShownPlaces) {
      line += line_number_at(text.substr(seen), at - seen) - 1;
      seen = at;
      lines.push_back(line);
    }
  }
  return fmt::format("{}{}", fmt::join(lines, ", "), count > lines.size() ? ", …" : "");
}

Result<EditedText::Applied> apply_one(std::string& text, const Edit& edit,
                                      const std::string& name) {
  const std::size_t first = find_from(text, edit.old_text, 0);
  if (first == kNowhere) {
    return fail(ErrorCode::InvalidArgument, fmt::format("{}old_string is not in the file{}", name,
                                                        describe_near_miss(text, edit.old_text)));
  }
  const EditedText::Applied once{.count = 1, .line = line_number_at(text, first)};
  std::size_t next = find_from(text, edit.old_text, first + edit.old_text.size());
  if (next == kNowhere) {
    text.replace(first, edit.old_text.size(), edit.new_text);
    return once;
  }
  if (!edit.replace_all) {
    std::size_t count = 0;
    const std::string lines = places_of(text, edit.old_text, count);
    return fail(ErrorCode::InvalidArgument,
                fmt::format("{}old_string is in the file {} times (lines {}); add lines around it "
                            "until it is unique, or set replace_all",
                            name, count, lines));
  }
  std::string out(text, 0, first);
  EditedText::Applied all{.count = 0, .line = once.line};
  std::size_t at = first;
  while (at != kNowhere) {
    out += edit.new_text;
    ++all.count;
    const std::size_t behind = at + edit.old_text.size();
    at = find_from(text, edit.old_text, behind);
    out.append(text, behind, at == kNowhere ? kNowhere : at - behind);
  }
  text = std::move(out);
  return all;
}

}  // namespace

Result<EditedText> apply_edits(std::string text, const std::vector<Edit>& edits, bool crlf) {
  EditedText result{.text = std::move(text), .applied = {}};
  for (std::size_t i = 0; i < edits.size(); ++i) {
    const std::string name = edit_name(i, edits.size());
    Edit edit = edits[i];
    if (edit.old_text.empty()) {
      return fail(ErrorCode::InvalidArgument,
                  name + "old_string is empty; write_file makes or replaces whole files");
    }
    if (crlf) {
      edit.old_text = with_line_ending(edit.old_text, LineEnding::CrLf);
      edit.new_text = with_line_ending(edit.new_text, LineEnding::CrLf);
    }
    if (edit.old_text == edit.new_text) {
      return fail(ErrorCode::InvalidArgument,
                  name + "old_string and new_string are the same; nothing would change");
    }
    result.applied.push_back(BAWN_TRY(apply_one(result.text, edit, name)));
  }
  return result;
}

}  // namespace bawn::files
