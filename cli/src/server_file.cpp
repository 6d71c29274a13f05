#include "server_file.hpp"

namespace bawn::cli {

std::optional<os::ProcessIdentity> server_of(std::string_view file_name) {
  const auto server = os::take_identity(file_name);
  return file_name == ".jsonl" || file_name == ".jsonl.1" ? server : std::nullopt;
}

}  // namespace bawn::cli
