// Every text that is taken without a parser must be one that `bash -n` takes without a word.
#include "plain_text.hpp"

#include "bawn/os/memfd.hpp"
#include "bawn/os/pipe.hpp"
#include "bawn/os/spawn.hpp"
#include "support/tested_bash.hpp"

#include <gtest/gtest.h>

#include <poll.h>
#include <unistd.h>

#include <array>
#include <random>
#include <string>

namespace bawn::shell {
namespace {

/// What `bash -n` prints about a text.
std::string complaints(const std::string& text) {
  auto input = os::sealed_memfd("text", text);
  auto pipe = os::Pipe::make();
  auto child = os::spawn({.program = test::tested_bash().value_or("/bin/bash"),
                          .argv = {"bash", "--norc", "-O", "extglob", "-n"},
                          .env = {"LC_ALL=C"},
                          .fds = {{input->get(), 0}, {pipe->write.get(), 2}},
                          .from_lasting_thread = false});
  pipe->write.reset();
  std::string output;
  std::array<char, 4096> bytes;
  for (ssize_t got = 0; (got = read(pipe->read.get(), bytes.data(), bytes.size())) > 0;) {
    output.append(bytes.data(), static_cast<std::size_t>(got));
  }
  pollfd ended{child->get(), POLLIN, 0};
  poll(&ended, 1, -1);
  static_cast<void>(child->reap());
  return output;
}

TEST(PlainText, TakesSimpleCommands) {
  for (const char* text :
       {"", ":", "ls -la", "ls;", "echo hi && cat x || true", "a | b | c", "cd /tmp; pwd\n",
        "echo 'any (thing) `here`' \"and $this too\"", "X=1 Y=2 cmd > out 2>&1", "sleep 5 &",
        "cat < in >> out", "a &&\nb", "echo *.txt [ab]? ~", "[ -f x ] && echo $?",
        "echo $(ls | wc -l) \"$(cat \"$f\")\" ${HOME}", "echo a\\ b", "# only this\nls"}) {
    EXPECT_TRUE(is_plain_text(text)) << text;
    EXPECT_EQ(complaints(text), "") << text;
  }
}

TEST(PlainText, LeavesTheRestToTheParser) {
  for (const char* text : {"if true; then", "cat <<EOF\nhi", "echo \"abc",  "echo 'abc",
                           "echo $(ls",     "echo $()",      "echo $(a;;)", "echo \"$(a\"",
                           "echo $((1+1)",  "$(<f) ) x",     "a &&",        "a |",
                           "; a",           "a ;; b",        "( a",         "{ a; }",
                           "a & & b",       "echo $((1))",   "echo ${x",    "> ",
                           "for i in 1",    "a\r\n",         "! a",         "[[ a",
                           "a |& b",        "a &> b",        "echo \\",     "x=(1 2",
                           "f() { :; }",    "<<<",           "a[",          "declare a[1",
                           "<2>&1",         "a >& b"}) {
    EXPECT_FALSE(is_plain_text(text)) << text;
  }
}

TEST(PlainText, RandomTextsThatItTakesParse) {
  constexpr std::array<std::string_view, 34> kParts = {
      "a",   "if",  "then", "fi", " ", " ",  ";",    "&", "&&",   "|",  "\n", "'",
      "\"",  "$x",  "$",    "<",  ">", ">>", "2>&1", "!", "[[",   "in", "=",  "do",
      "x=1", "for", "$(",   "$(", ")", ")",  "\\",   "#", "${x}", "{"};
  std::mt19937 random(7);
  int taken = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string text;
    for (auto parts = random() % 9; parts > 0; --parts) {
      text += kParts[random() % kParts.size()];
    }
    // Starting bash for each would take minutes; every text of few kinds is enough.
    if (is_plain_text(text) && taken < 150) {
      ++taken;
      EXPECT_EQ(complaints(text), "") << "text: " << text;
    }
  }
  EXPECT_EQ(taken, 150);
}

}  // namespace
}  // namespace bawn::shell
