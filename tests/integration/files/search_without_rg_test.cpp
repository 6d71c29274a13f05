/// \file
/// What stands in for rg where it is missing or does not work, and what ends a listing early.
#include "../file_agent/walled_files.hpp"
#include "one_place.hpp"
#include "support/run_program.hpp"
#include "walk.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

namespace bawn::test {
namespace {

namespace fs = std::filesystem;
using contract::Json;
using ::testing::HasSubstr;

class SearchWithoutRg : public WalledFiles {
 protected:
  [[nodiscard]] files::Place place(const std::string& search_path, bool programs = true) const {
    files::Place place;
    place.key = place.name = "main";
    place.files = files_;
    place.warden = programs ? wall_.warden : nullptr;
    place.workspace = place.home = in("tree");
    place.environment = {"PATH=" + search_path};
    place.policy = policy_;
    return place;
  }
  [[nodiscard]] PlaceTools tools(const std::string& search_path, bool programs = true) const {
    return {place(search_path, programs), root_.path().string()};
  }
  [[nodiscard]] PlaceTools tools_with(const std::string& program, unsigned mode) const {
    fs::create_directory(in("bin"));
    put(in("bin/rg"), program, mode);
    return tools(in("bin"));
  }
  /// A directory so many levels down, made without its path, which may be longer than any can be.
  void make_deep(int levels) const {
    int at = ::open(in("tree").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
    for (int level = 0; level < levels; ++level) {
      ASSERT_EQ(::mkdirat(at, "deep", 0755), 0);
      const int next = ::openat(at, "deep", O_PATH | O_DIRECTORY | O_CLOEXEC);
      ::close(at);
      at = next;
    }
    const int file = ::openat(at, "file", O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
    ASSERT_GE(file, 0);
    ::close(file);
    ::close(at);
  }
  static Json structured(const contract::Outcome& outcome) {
    EXPECT_FALSE(outcome.error) << outcome.error->message();
    return outcome.error ? Json::object() : *outcome.result.structured;
  }
};

INSTANTIATE_TEST_SUITE_P(Modes, SearchWithoutRg, testing::Values(kAllLayers, kNoLayer),
                         [](const auto& mode) { return mode.param.name; });

TEST_P(SearchWithoutRg, WhateverIsWrongWithRgTheFilesAreFoundAndItIsSaid) {
  put(in("tree/a/file"), "needle\n");
  put(in("tree/b.c"), "needle\nneedle\n");
  for (const auto& [program, mode, why] :
       {std::tuple{"#!/bin/sh\nexit 0\n", 0644U, "cannot be started"},
        std::tuple{"\x7F"
                   "ELF is no program\n",
                   0755U, "does not work"},
        std::tuple{"#!/bin/sh\necho broken >&2\nexit 127\n", 0755U, "ended with 127: broken"},
        std::tuple{"#!/bin/sh\nkill -9 $$\n", 0755U, "ended by a signal"},
        std::tuple{"#!/no/such/interpreter\n", 0755U, "rg (ripgrep)"},
        std::tuple{"#!/bin/sh\necho \"error: Found argument '--crlf' which wasn't expected\" >&2\n"
                   "exit 2\n",
                   0755U, "too old"}}) {
    const PlaceTools tools = tools_with(program, mode);
    const Json listed = structured(tools.run("list_files", Json::object()));
    EXPECT_EQ(listed["engine"], "walk") << why;
    EXPECT_EQ(listed["total_files"], 2) << why;
    EXPECT_THAT(listed["notes"].dump(), HasSubstr(why));
    for (const Json& globs : {Json::array(), Json::array({"*"})}) {
      const Json found =
          structured(tools.run("search_files", Json{{"pattern", "needle"}, {"globs", globs}}));
      EXPECT_EQ(found["engine"], "walk") << why;
      EXPECT_EQ(found["total_lines"], 3) << why;
      EXPECT_THAT(found["notes"].dump(), HasSubstr(why));
    }
  }
}

TEST_P(SearchWithoutRg, AListingThatTakesTooLongShowsWhatItHasAndSaysSo) {
  put(in("tree/one"), "x\n");
  // Prints a whole name and a part of one, and never ends.
  const PlaceTools tools =
      tools_with("#!/bin/sh\nprintf '%s/tree/one\\0%s/tree/tw' \"" + workspace_ + "\" \"" +
                     workspace_ + "\"\nexec /bin/sleep 100000\n",
                 0755);
  Json listed;
  // The time that a busy machine needs to start it is not known.
  for (const int seconds : {1, 10, 60}) {
    const auto outcome = tools.run("list_files", Json{{"timeout_seconds", seconds}, {"depth", 1}});
    listed = structured(outcome);
    EXPECT_EQ(std::get<std::string>(outcome.result.output).find("larger limit"), std::string::npos);
    if (listed["total_files"] != 0) {
      break;
    }
  }
  EXPECT_EQ(listed["total_files"], 1);
  EXPECT_EQ(listed["entries"][0]["path"], "one");
  EXPECT_EQ(listed["timed_out"], true);
  EXPECT_EQ(listed["truncated"], true);
  EXPECT_THAT(listed["notes"].dump(), HasSubstr("raise timeout_seconds"));
  const Json found = structured(
      tools.run("search_files",
                Json{{"pattern", "x"}, {"globs", Json::array({"*"})}, {"timeout_seconds", 1}}));
  EXPECT_EQ(found["timed_out"], true);
}

TEST_P(SearchWithoutRg, AWalkEndsAtItsDeadlineWithWhatItHas) {
  put(in("tree/one"), "x\n");
  const auto late = files::walk_files(now_.with_deadline(contract::Context::Clock::now()),
                                      place("", false), in("tree"), {});
  ASSERT_TRUE(late) << late.error().message();
  EXPECT_TRUE(late->late);
  const auto whole = files::walk_files(now_, place("", false), in("tree"), {});
  ASSERT_TRUE(whole);
  EXPECT_FALSE(whole->late);
  EXPECT_EQ(whole->files.size(), 1U);
}

TEST_P(SearchWithoutRg, WhatIsTooDeepIsSaid) {
  fs::create_directory(in("tree"));
  for (const int levels : {600, 1200}) {
    ASSERT_NO_FATAL_FAILURE(make_deep(levels));
    for (const bool programs : {false, true}) {
      const Json listed = structured(
          tools("/usr/local/bin:/usr/bin:/bin", programs).run("list_files", Json::object()));
      if (programs && listed["total_files"] == 1) {
        continue;  // rg goes down there
      }
      EXPECT_EQ(listed["total_files"], 0) << levels;
      EXPECT_NE(listed["notes"].dump().find(programs ? "deep" : "levels down"), std::string::npos)
          << levels << ": " << listed["notes"].dump().substr(0, 300);
    }
    ProgramRun remove;
    remove.argv = {"/bin/rm", "-rf", in("tree/deep")};
    EXPECT_EQ(run_program(remove).exit_code, 0);
  }
}

}  // namespace
}  // namespace bawn::test
