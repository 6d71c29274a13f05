#include "wire.hpp"

#include <cstring>

namespace bawn::sandbox::wire {

const unsigned char* Reader::bytes(std::size_t size) noexcept {
  const std::size_t padded = (size + 3U) & ~std::size_t{3};
  if (!ok_ || padded < size || padded > left_) {
    ok_ = false;
    return nullptr;
  }
  const unsigned char* const found = at_;
  at_ += padded;
  left_ -= padded;
  return found;
}

std::uint32_t Reader::u32() noexcept {
  std::uint32_t value = 0;
  if (const unsigned char* const found = bytes(sizeof value)) {
    std::memcpy(&value, found, sizeof value);
  }
  return value;
}

std::uint64_t Reader::u64() noexcept {
  std::uint64_t value = 0;
  if (const unsigned char* const found = bytes(sizeof value)) {
    std::memcpy(&value, found, sizeof value);
  }
  return value;
}

const char* Reader::text() noexcept {
  const std::size_t length = u32();
  const unsigned char* const found = bytes(length + 1);
  if (found == nullptr || std::memchr(found, 0, length + 1) != found + length) {
    ok_ = false;
    return "";
  }
  return reinterpret_cast<const char*>(found);
}

std::uint32_t Reader::count(std::size_t each) noexcept {
  const std::uint32_t number = u32();
  if (each == 0 || number > left_ / each) {
    ok_ = false;
    return 0;
  }
  return number;
}

}  // namespace bawn::sandbox::wire
