/// \file
/// SHA-256 by libcrypto. The low-level functions on purpose: the EVP interface loads a provider
/// first, which costs 0.8 ms at a start that takes 4, and OpenSSL 3 deprecates these for the choice
/// of algorithm that they do not offer.
#define OPENSSL_SUPPRESS_DEPRECATED

#include "bawn/contract/canonical.hpp"

#include <openssl/sha.h>

#include <array>
#include <string>
#include <string_view>

namespace bawn::contract {

std::string sha256_hex(std::string_view bytes) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256_CTX state;
  SHA256_Init(&state);
  SHA256_Update(&state, bytes.data(), bytes.size());
  SHA256_Final(digest.data(), &state);
  std::string hex;
  for (const unsigned char byte : digest) {
    hex += "0123456789abcdef"[byte >> 4U];
    hex += "0123456789abcdef"[byte & 0xFU];
  }
  return hex;
}

}  // namespace bawn::contract
