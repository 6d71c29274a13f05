/// \file
/// Patches that git made, applied here and by `git apply`: the same bytes and modes. Broken ones
/// are refused by both, here with the right line.
#include "git_repository.hpp"
#include "lines.hpp"
#include "patch_plan.hpp"
#include "support/requirements.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <set>
#include <string>

namespace bawn::test {
namespace {

using namespace bawn::files;

std::vector<std::string> paths_of(const Patch& patch) {
  std::set<std::string> paths;
  for (const FilePatch& file : patch.files) {
    paths.insert(file.old_path);
    paths.insert(file.new_path);
  }
  return {paths.begin(), paths.end()};
}

Result<PatchPlan> plan_over(const Patch& patch, const GitTree& before) {
  return plan_patch(patch,
                    [&](const std::string& path) -> Result<std::optional<FileContent>> {
                      const auto found = before.find(path);
                      return found == before.end()
                                 ? std::nullopt
                                 : std::optional(FileContent{.bytes = found->second.bytes,
                                                             .mode = found->second.mode});
                    },
                    {});
}

/// Applies the difference of two trees to the first, here and by git. False when it is no patch of
/// texts alone.
bool agrees(const GitRepository& repository, const std::string& from, const std::string& to,
            const std::vector<std::string>& options) {
  std::vector<std::string> arguments = {"diff",          "--no-ext-diff",   "--no-color",
                                        "--no-textconv", "--src-prefix=a/", "--dst-prefix=b/"};
  arguments.insert(arguments.end(), options.begin(), options.end());
  arguments.insert(arguments.end(), {from, to});
  const std::string diff = repository.git(arguments).value_or("");
  if (diff.empty() || diff.find("\nBinary files ") != std::string::npos ||
      diff.find(" mode 120000") != std::string::npos) {
    return false;
  }
  const auto patch = parse_patch(diff);
  EXPECT_TRUE(patch) << from << ".." << to << ": " << patch.error().message();
  if (!patch) {
    return true;
  }
  const auto paths = paths_of(*patch);
  const GitTree before = repository.files(from, paths);
  const auto plan = plan_over(*patch, before);
  EXPECT_TRUE(plan) << from << ".." << to << ": " << plan.error().message();
  const auto by_git = repository.apply(from, diff);
  EXPECT_TRUE(by_git) << from << ".." << to << ": git refuses its own diff";
  if (!plan || !by_git) {
    return true;
  }
  GitTree mine = before;
  for (const PathChange& change : plan->changes) {
    mine.erase(change.path);
    mine.erase(change.from.value_or(change.path));
    if (change.after) {
      mine[change.path] = {.bytes = change.after->bytes, .mode = change.after->mode};
    }
  }
  EXPECT_TRUE(mine == repository.files(*by_git, paths)) << from << ".." << to;
  return true;
}

/// At least `wanted` diffs of random pairs of commits, or as many as there can be.
void compare_pairs(const GitRepository& repository, unsigned seed, int wanted) {
  const auto commits = repository.commits();
  ASSERT_GE(commits.size(), 2U);
  std::mt19937 random(seed);
  const auto pick = [&](std::size_t most) {
    return std::uniform_int_distribution<std::size_t>(0, most)(random);
  };
  const std::vector<std::vector<std::string>> kinds = {{},
                                                       {"-M"},
                                                       {"-C", "--find-copies-harder"},
                                                       {"-M", "--no-renames", "-U1"},
                                                       {"-U8", "--patience"}};
  int done = 0;
  for (int tries = 0; done < wanted && tries < 4 * wanted; ++tries) {
    const std::size_t newer = pick(commits.size() - 2);
    const std::size_t older = std::min(commits.size() - 1, newer + 1 + pick(3));
    const bool back = pick(3) == 0;
    done += agrees(repository, commits[back ? newer : older], commits[back ? older : newer],
                   kinds[pick(kinds.size() - 1)])
                ? 1
                : 0;
    if (testing::Test::HasFailure()) {
      return;
    }
  }
  EXPECT_GE(done, wanted);
}

class OwnHistory : public testing::TestWithParam<unsigned> {};

TEST_P(OwnHistory, PatchesMeanWhatGitMeans) {
  BAWN_REQUIRE("git");
  const GitRepository repository{BAWN_SOURCE_DIR};
  if (repository.commits().size() < 50) {
    GTEST_SKIP() << "needs a checkout with 50 commits of history";
  }
  compare_pairs(repository, GetParam(), 125);
}

INSTANTIATE_TEST_SUITE_P(Parts, OwnHistory, testing::Range(1U, 5U));

class RandomHistories : public testing::TestWithParam<unsigned> {};

TEST_P(RandomHistories, PatchesMeanWhatGitMeans) {
  BAWN_REQUIRE("git");
  const RandomHistory history(GetParam(), 50);
  compare_pairs(GitRepository(history.directory()), GetParam(), 125);
}

INSTANTIATE_TEST_SUITE_P(Parts, RandomHistories, testing::Range(1U, 5U));

/// A patch with one thing wrong, and the line that must be named; 0 = none could be broken so.
struct Broken {
  std::string text;
  std::size_t line = 0;
};

std::string joined(const std::vector<std::string_view>& lines) {
  std::string text;
  for (const std::string_view line : lines) {
    text += line;
  }
  return text;
}

Broken break_patch(const std::string& diff, int kind, std::mt19937& random) {
  auto lines = split_lines(diff);
  std::vector<std::size_t> hunks;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].starts_with("@@ -")) {
      hunks.push_back(i);
    }
  }
  if (hunks.empty()) {
    return {};
  }
  const std::size_t head =
      hunks[std::uniform_int_distribution<std::size_t>(0, hunks.size() - 1)(random)];
  std::size_t end = head + 1;
  while (end < lines.size() &&
         std::string_view(" +-\\").find(lines[end][0]) != std::string_view::npos &&
         !(lines[end].starts_with("--- ") && end + 1 < lines.size() &&
           lines[end + 1].starts_with("+++ "))) {
    ++end;
  }
  switch (kind) {
    case 0:  // the head is no head
      lines[head] = "@@ nothing @@\n";
      return {joined(lines), head + 1};
    case 1:  // one line too few
      if (lines[end - 1][0] == '\\') {
        return {};
      }
      lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(end) - 1);
      return {joined(lines), end};
    case 2:  // an old line that is not in the file
      for (std::size_t i = head + 1; i < end; ++i) {
        if (lines[i][0] == ' ' || lines[i][0] == '-') {
          static const std::string kOther[2] = {" no such line anywhere\n",
                                                "-no such line anywhere\n"};
          lines[i] = kOther[lines[i][0] == '-' ? 1 : 0];
          return {joined(lines), head + 1};
        }
      }
      return {};
    case 3:  // one line too many
      if (lines[end - 1][0] == '\\') {
        return {};
      }
      lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(end), "+one more\n");
      return {joined(lines), end + 1};
    default:  // cut off in the middle of a hunk
      if (end - head < 3 || lines[end - 1][0] == '\\') {
        return {};
      }
      lines.resize(head + 2);
      return {joined(lines), head + 3};
  }
}

TEST(BrokenPatches, AreRefusedWithTheRightLine) {
  BAWN_REQUIRE("git");
  const RandomHistory history(99, 40);
  const GitRepository repository(history.directory());
  const auto commits = repository.commits();
  std::mt19937 random(5);
  int refused = 0;
  for (std::size_t i = 0; i + 1 < commits.size(); ++i) {
    const std::string& from = commits[i + 1];
    const std::string diff = repository.git({"diff", "-M", from, commits[i]}).value_or("");
    for (int kind = 0; kind < 5; ++kind) {
      const Broken broken = break_patch(diff, kind, random);
      if (broken.line == 0) {
        continue;
      }
      const auto patch = parse_patch(broken.text);
      std::string message = patch ? "" : patch.error().message();
      if (patch) {
        const auto plan = plan_over(*patch, repository.files(from, paths_of(*patch)));
        ASSERT_FALSE(plan) << "kind " << kind << " applies:\n" << broken.text;
        message = plan.error().message();
      }
      EXPECT_TRUE(message.starts_with("patch line " + std::to_string(broken.line) + ": "))
          << "kind " << kind << ", line " << broken.line << ": " << message << "\n"
          << broken.text;
      ++refused;
      if (kind != 0 && kind != 3) {  // git passes over what it does not know between hunks
        EXPECT_FALSE(repository.apply(from, broken.text)) << "git takes it, kind " << kind;
      }
    }
  }
  EXPECT_GT(refused, 100);
}

}  // namespace
}  // namespace bawn::test
