#include "procfs.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <string>

namespace {

using namespace bawn::sandbox::warden;

/// What is left of `text` in a buffer of `size` bytes.
std::string without_cut_word(const char* text, std::size_t size) {
  std::array<char, 64> buffer{};
  std::strncpy(buffer.data(), text, buffer.size() - 1);
  drop_cut_word(buffer.data(), std::strlen(text), size);
  return buffer.data();
}

TEST(WardenProcfsTest, FilledBufferLosesItsLastNumber) {
  EXPECT_EQ(without_cut_word("12 345 67", 10), "12 345 ");
  EXPECT_EQ(without_cut_word("12 345 ", 8), "12 345 ");
  EXPECT_EQ(without_cut_word("1234567", 8), "");
}

TEST(WardenProcfsTest, BufferWithRoomLeftIsWhole) {
  EXPECT_EQ(without_cut_word("12 345 67", 11), "12 345 67");
  EXPECT_EQ(without_cut_word("", 8), "");
}

TEST(WardenProcfsTest, ProcessOfAnotherStartTimeIsNotHeld) {
  const int proc = ::open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  ASSERT_GE(proc, 0);
  Process self;
  ASSERT_TRUE(read_process(proc, ::getpid(), self));
  Process now;
  const int held = hold_process(proc, self, now);  // control
  EXPECT_GE(held, 0);
  EXPECT_EQ(now.start_time, self.start_time);
  ::close(held);
  ++self.start_time;
  EXPECT_EQ(hold_process(proc, self, now), -1);
  ::close(proc);
}

}  // namespace
