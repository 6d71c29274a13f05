/// \file
/// What the server reads from a file agent, which may be in other hands: nothing outside of the
/// payload is read, and what is taken is what an agent could have meant.
#include "file_answer.hpp"
#include "require.hpp"

#include <string_view>

using namespace bawn::sandbox;
using bawn::fuzz::require;

namespace {

void check_page(std::string_view payload, bool with_status) {
  const auto page = read_page(payload, with_status);
  if (!page) {
    return;
  }
  require(page->next.empty() || !page->entries.empty(), "a page that leads nowhere");
  require(read_cursor(page->next).has_value(), "a cursor that cannot be used");
  for (const DirectoryEntry& entry : page->entries) {
    require(!entry.name.empty() && entry.name != "." && entry.name != ".." &&
                entry.name.find('/') == std::string::npos,
            "a name that no directory holds");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view payload(reinterpret_cast<const char*>(data), size);
  (void)read_status(payload);
  (void)read_committed(payload);
  (void)read_link_text(payload);
  (void)read_count(payload);
  (void)read_cursor(std::string(payload));
  check_page(payload, false);
  check_page(payload, true);
  if (const auto staged = read_staged(payload)) {
    require(staged->target.starts_with('/'), "a target that is not absolute");
    require(staged->parents_made >= 0, "a negative count");
  }
  if (const auto opened = read_opened(payload)) {
    require(opened->content.size() <= file_wire::kMaxContent, "more content than fits");
  }
  if (const auto content = read_content(payload, 16)) {
    require(content->content.size() <= 16, "more content than was asked for");
  }
  const Error failure = read_failure(payload, {file_wire::Op::Open, "/asked"});
  const auto* const told = failure.find<FileFailure>();
  require(told == nullptr || (told->path == "/asked" && told->errnum > 0), "a failure made up");
  return 0;
}
