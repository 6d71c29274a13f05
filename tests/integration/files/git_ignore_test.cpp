/// \file
/// Ignore rules against `git check-ignore`, on trees and rules made at random.
#include "ignore_rules.hpp"
#include "support/requirements.hpp"
#include "support/run_program.hpp"
#include "support/temp_dir.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace bawn::test {
namespace {

using files::IgnoreRules;
using files::IgnoreStack;

class RandomTree {
 public:
  explicit RandomTree(unsigned seed) : random_(seed) {
    git({"init", "-q"});
    make_directory("", 0);
    exclude_ = random_rules();
    directory_.write(".git/info/exclude", exclude_);
  }

  /// What git leaves out, asked for every path.
  std::set<std::string> ignored_by_git() {
    std::string names;
    for (const auto& [path, directory] : paths_) {
      names += path + '\0';
    }
    const auto result = git({"check-ignore", "--no-index", "--stdin", "-z"}, names);
    std::set<std::string> ignored;
    std::istringstream list(result.out);
    for (std::string path; std::getline(list, path, '\0');) {
      ignored.insert(path);
    }
    return ignored;
  }

  std::set<std::string> ignored_here() {
    std::set<std::string> ignored;
    IgnoreStack stack;
    stack.push("", IgnoreRules::parse(exclude_));
    collect("", false, stack, ignored);
    return ignored;
  }

  [[nodiscard]] std::string rules() const { return all_rules_ + "exclude:\n" + exclude_; }

 private:
  int pick(int most) { return std::uniform_int_distribution<>(0, most)(random_); }
  template <class List>
  std::string one_of(const List& list) {
    return list[static_cast<std::size_t>(pick(static_cast<int>(list.size()) - 1))];
  }

  ProgramResult git(std::vector<std::string> arguments, const std::string& input = {}) {
    ProgramRun run;
    run.argv = {"/usr/bin/git", "-c", "safe.directory=*", "-C", directory_.path()};
    run.argv.insert(run.argv.end(), arguments.begin(), arguments.end());
    run.input = input;
    run.env = {{"GIT_CONFIG_GLOBAL", "/dev/null"},
               {"GIT_CONFIG_SYSTEM", "/dev/null"},
               {"XDG_CONFIG_HOME", "/nonexistent"},
               {"HOME", "/nonexistent"}};
    return run_program(run);
  }

  std::string random_name() {
    static const std::vector<std::string> kNames = {
        "a",  "b",      "ab",  "a.o", "b.log", "keep.log", "#x",     "!y",
        "z ", "[q]",    "x*y", "foo", "bar",   "build",    "foo.",   "1x",
        "ac", "a{b,c}", "a\t", "^x",  "fo",    "A",        "f\xF6o", "a\v"};
    return one_of(kNames);
  }

  std::string random_pattern() {
    static const std::vector<std::string> kParts = {
        "a", "b", "*", "*.o", "*.log", "?", "**", "a*", "*b", "[ab]", "[!a]", "foo", "build",
        "ba[r-z]", "\\#x", "\\!y", "z\\ ", "z ", "\\[q\\]", "x\\*y", "[[:alpha:]]", "a**b",
        "keep.log", "[", "x[]-]y",
        // What other readers of these files take otherwise.
        "a{b,c}", "{", "foo.", "[[:digit:]]x", "[[:digit:]]*", "a\t", "a\v", "[\\^a]x", "[z-a]",
        "f\xF6o", "a[!x]b", "a[/]b", "a**"};
    std::string pattern = pick(4) == 0 ? "!" : "";
    pattern += pick(3) == 0 ? "/" : "";
    for (int parts = pick(2) == 0 ? pick(2) + 1 : 1; parts > 0; --parts) {
      pattern += one_of(kParts) + (parts > 1 ? "/" : "");
    }
    return pattern + (pick(4) == 0 ? "/" : "") + (pick(9) == 0 ? "  " : "");
  }

  std::string random_rules() {
    std::string rules = pick(9) == 0 ? "\xEF\xBB\xBF" : "";
    rules += pick(5) == 0 ? "# comment\n\n" : pick(9) == 0 ? std::string("fo\0o\n", 5) : "";
    for (int lines = pick(4); lines > 0; --lines) {
      rules += random_pattern() + (pick(7) == 0 ? "\r\n" : "\n");
    }
    return rules;
  }

  void make_directory(const std::string& prefix, int depth) {
    if (pick(1) == 0) {
      const std::string rules = random_rules();
      directory_.write(prefix + ".gitignore", rules);
      rules_[prefix] = rules;
      all_rules_ += prefix + ".gitignore:\n" + rules;
    }
    std::set<std::string> used;
    for (int entries = pick(5) + 2; entries > 0; --entries) {
      const std::string name = random_name();
      if (!used.insert(name).second) {
        continue;
      }
      const bool directory = depth < 3 && pick(1) == 0;
      paths_.emplace_back(prefix + name, directory);
      if (directory) {
        std::filesystem::create_directory(directory_.path() / (prefix + name));
        make_directory(prefix + name + "/", depth + 1);
      } else {
        directory_.write(prefix + name, "");
      }
    }
  }

  /// As the walk does: everything below an ignored directory is ignored.
  void collect(const std::string& prefix, bool within, IgnoreStack stack,
               std::set<std::string>& ignored) {
    if (const auto rules = rules_.find(prefix); rules != rules_.end() && !within) {
      stack.push(prefix.empty() ? "" : prefix.substr(0, prefix.size() - 1),
                 IgnoreRules::parse(rules->second));
    }
    for (const auto& [path, directory] : paths_) {
      if (!path.starts_with(prefix) || path.find('/', prefix.size()) != std::string::npos) {
        continue;
      }
      const bool out = within || stack.ignores(path, directory);
      if (out) {
        ignored.insert(path);
      }
      if (directory) {
        collect(path + "/", out, stack, ignored);
      }
    }
  }

  TempDir directory_;
  std::mt19937 random_;
  std::vector<std::pair<std::string, bool>> paths_;
  std::map<std::string, std::string> rules_;
  std::string all_rules_;
  std::string exclude_;
};

class GitIgnore : public testing::TestWithParam<unsigned> {};

TEST_P(GitIgnore, RulesMeanWhatGitMeans) {
  BAWN_REQUIRE("git");
  std::size_t ignored = 0;
  for (unsigned tree = 0; tree < 40; ++tree) {
    RandomTree random_tree(GetParam() * 1000 + tree);
    const auto by_git = random_tree.ignored_by_git();
    const auto here = random_tree.ignored_here();
    ignored += by_git.size();
    ASSERT_EQ(here, by_git) << random_tree.rules();
  }
  EXPECT_GT(ignored, 150U) << "the trees are too tame to tell";
}

INSTANTIATE_TEST_SUITE_P(Parts, GitIgnore, testing::Range(1U, 5U));

}  // namespace
}  // namespace bawn::test
