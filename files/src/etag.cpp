#include "etag.hpp"

#include "bawn/contract/canonical.hpp"

namespace bawn::files {

std::string etag_of(std::string_view bytes) {
  return "sha256:" + contract::sha256_hex(bytes);
}

}  // namespace bawn::files
