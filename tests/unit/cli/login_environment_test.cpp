#include "login_environment.hpp"

#include <gmock/gmock.h>

#include <string>

namespace bawn::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(LoginVariables, AreTheExportsWithoutWhatIsOneShellsOwn) {
  constexpr char kOutput[] =
      "PATH=/a:/b\0LINES=x\ny=z\0PWD=/\0SHLVL=1\0_=/usr/bin/env\0=odd\0broken\0EMPTY=";
  EXPECT_THAT(login_variables({kOutput, sizeof kOutput}),
              ElementsAre("PATH=/a:/b", "LINES=x\ny=z", "EMPTY="));
  EXPECT_THAT(login_variables(""), IsEmpty());
}

TEST(LoginVariables, TakeThePlaceOfThoseOfTheSameName) {
  EXPECT_THAT(merged({"A=1", "AB=2", "C=3"}, {"A=9", "D=4"}),
              ElementsAre("AB=2", "C=3", "A=9", "D=4"));
}

}  // namespace
}  // namespace bawn::cli
