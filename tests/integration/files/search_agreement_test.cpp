/// \file
/// Listing and searching by rg and without it, over trees made at random: the same answers.
#include "../file_agent/walled_files.hpp"
#include "one_place.hpp"

#include <filesystem>
#include <initializer_list>
#include <random>

namespace bawn::test {
namespace {

namespace fs = std::filesystem;
using contract::Json;

class Random {
 public:
  explicit Random(unsigned seed) : random_(seed) {}
  int upto(int most) { return std::uniform_int_distribution<>(0, most)(random_); }
  bool one_in(int times) { return upto(times - 1) == 0; }
  std::string one_of(std::initializer_list<const char*> words) {
    return *(words.begin() + upto(static_cast<int>(words.size()) - 1));
  }

 private:
  std::mt19937 random_;
};

std::string utf16(const std::string& text, bool little) {
  std::string bytes = little ? "\xFF\xFE" : "\xFE\xFF";
  for (const char c : text) {  // bytes as Latin-1: any units will do
    bytes += little ? c : '\0';
    bytes += little ? '\0' : c;
  }
  return bytes;
}

std::string random_content(Random& random) {
  std::string text;
  const bool crlf = random.one_in(4);
  for (int lines = random.upto(8); lines > 0; --lines) {
    for (int words = random.upto(4); words > 0; --words) {
      text += random.one_of({"needle", "Needle", "NEEDLE", "need", "le", "nee dle", "é", "größe",
                             "ſ", "K", "1needle", "needle_", "日本", "\u200b", "tab\tneedle", "x",
                             ";", "-", "\u0663"}) +
              (words > 1 ? " " : "");
    }
    text += lines > 1 || !random.one_in(3) ? (crlf || random.one_in(8) ? "\r\n" : "\n") : "";
  }
  switch (random.upto(14)) {
    case 0:
      return utf16(text, true);
    case 1:
      return utf16(text, false);
    case 2:
      return utf16(text, true) + "x";  // half a unit
    case 3:
      return "\xFF\xFE\x20\xD8" + utf16(text, true).substr(2);  // half a pair
    case 4:
      return text + '\0' + text;
    case 5:
      return "\xEF\xBB\xBF" + text;
    case 6:
      return text +
             "gr\xF6\xDF"
             "e needle\n";
    case 7:
      return text + "last needle\r";
    default:
      return text;
  }
}

std::string random_rules(Random& random) {
  std::string rules;
  for (int lines = random.upto(4); lines > 0; --lines) {
    rules +=
        (random.one_in(4) ? "!" : "") + std::string(random.one_in(3) ? "/" : "") +
        random.one_of({"a",      "*",      "*.o",     "*.log", "?",        "a*",   "[ab]", "[!a]",
                       "foo",    "build",  "ba[r-z]", "a**b",  "keep.log", ".hid", "é",    "**/foo",
                       "foo/**", "a/**/b", "build/",  "*/",    "z\\ ",     "["}) +
        (random.one_in(5) ? "/" : "") + random.one_of({"\n", "\n", "\r\n", "  \n"});
  }
  return rules;
}

Json random_query(Random& random) {
  Json query{{"pattern", random.one_of({"needle",
                                        "need.*le",
                                        "^needle",
                                        "le$",
                                        "\\bneedle\\b",
                                        "é",
                                        "(?i)größe",
                                        "n..dle|1",
                                        "[nN]eedle",
                                        "\\w+",
                                        "^$",
                                        "x*",
                                        ".",
                                        "k",
                                        "s",
                                        "\\s",
                                        "\\S$",
                                        "ß",
                                        "日",
                                        "\\.",
                                        "(",
                                        "a)(b",
                                        "\\d",
                                        "[\\d_]$",
                                        "\\W",
                                        "need\\r?$",
                                        "\\r",
                                        "le\\x0d",
                                        "\\\\r",
                                        "[]x]",
                                        "[^]n]$",
                                        "[[:alpha:]\\s]x",
                                        "-",
                                        ";$",
                                        "\\D\\d"})},
             {"literal", random.one_in(5)},
             {"ignore_case", random.one_in(3)},
             {"word", random.one_in(4)},
             {"context", random.upto(2)},
             {"ignored", random.one_in(3)},
             {"show", random.one_of({"lines", "lines", "files", "counts"})}};
  if (query["pattern"] == "x*") {
    query["word"] = false;  // which empty places are words is rg's own idea
  }
  if (random.one_in(3)) {
    query["globs"] = Json::array({random.one_of({"*.c", "!*.log", "a*", "**/foo", "foo/**", "[ab]*",
                                                 "*.{py,cpp}", "build/*", "/a", "é", "!a"})});
  }
  if (random.one_in(4)) {
    query["types"] = Json::array({random.one_of({"c", "py", "cpp", "rust"})});
  }
  return query;
}

class SearchAgreement : public WalledFiles {
 protected:
  void make_directory(const std::string& path, int depth, Random& random) {
    if (random.one_in(2)) {
      put(path + "/.gitignore", random_rules(random));
    }
    for (int entries = random.upto(5) + 1; entries > 0; --entries) {
      const std::string name =
          path + "/" +
          random.one_of({"a",         "b",     "ab",  "a.o",  "b.log", "keep.log", "foo",
                         "bar",       "build", "A.c", "a.py", "b.cpp", ".hid",     "é",
                         "two words", "[q]",   "#x",  "!y",   "z ",    "x.rs"});
      if (fs::exists(fs::symlink_status(name))) {
        continue;
      }
      if (depth < 4 && random.one_in(3)) {
        fs::create_directory(name);
        make_directory(name, depth + 1, random);
      } else if (random.one_in(20)) {
        fs::create_symlink(random.one_of({"a", "..", "/etc/passwd", "nowhere"}), name);
      } else {
        put(name, random_content(random), random.one_in(20) ? 0000 : 0644);
      }
    }
  }

  void make_tree(Random& random) {
    for (const auto& entry : fs::directory_iterator(workspace_)) {
      fs::remove_all(entry.path());
    }
    if (!random.one_in(5)) {
      fs::create_directories(in(".git/info"));
      put(in(".git/info/exclude"), random_rules(random));
    }
    make_directory(workspace_, 0, random);
  }

  [[nodiscard]] files::Place place(bool with_rg) const {
    files::Place place;
    place.key = place.name = "main";
    place.files = files_;
    place.warden = with_rg ? wall_.warden : nullptr;
    place.workspace = place.home = workspace_;
    place.environment = {"PATH=/usr/local/bin:/usr/bin:/bin"};
    place.policy = policy_;
    return place;
  }
};

INSTANTIATE_TEST_SUITE_P(Modes, SearchAgreement, testing::Values(kAllLayers),
                         [](const auto& mode) { return mode.param.name; });

/// What both ways must have in common: all but the engine and the notes.
std::string answer(const contract::Outcome& outcome) {
  if (outcome.error) {
    return "refused";
  }
  Json answer = *outcome.result.structured;
  for (const char* name : {"engine", "notes"}) {
    answer.erase(name);
  }
  return answer.dump(1);
}

TEST_P(SearchAgreement, TheWayWithoutRgGivesTheSameAnswers) {
  const PlaceTools with(place(true), root_.path().string());
  const PlaceTools without(place(false), root_.path().string());
  put(in("probe"), "x\n");
  const auto probe = with.run("search_files", Json{{"pattern", "x"}});
  ASSERT_FALSE(probe.error) << probe.error->message();
  if ((*probe.result.structured)["engine"] != "rg") {
    ASSERT_FALSE(is_required("ripgrep")) << "rg is not in the session's PATH";
    GTEST_SKIP() << "needs ripgrep in the session's PATH";
  }
  int found = 0;
  for (unsigned seed = 1; seed <= 25; ++seed) {
    Random random(seed);
    make_tree(random);
    const Json all{{"ignored", random.one_in(4)}, {"details", random.one_in(2)}};
    ASSERT_EQ(answer(with.run("list_files", all)), answer(without.run("list_files", all)))
        << "tree " << seed;
    for (int i = 0; i < 10; ++i) {
      const Json query = random_query(random);
      const auto by_rg = with.run("search_files", query);
      ASSERT_EQ(answer(by_rg), answer(without.run("search_files", query)))
          << "tree " << seed << ": " << query.dump();
      found += !by_rg.error && (*by_rg.result.structured)["total_files"] != 0 ? 1 : 0;
    }
  }
  EXPECT_GT(found, 60) << "the trees are too tame to tell";
}

TEST_P(SearchAgreement, ANamedFileThatCannotBeReadIsAnErrorWithoutRgToo) {
  const PlaceTools without(place(false), root_.path().string());
  put(in("large"), "needle\n");
  const Json query{{"path", "large"}, {"pattern", "needle"}};
  ASSERT_FALSE(without.run("search_files", query).error);
  fs::resize_file(in("large"), std::uintmax_t{300} * 1024 * 1024);  // sparse
  const auto found = without.run("search_files", query);
  ASSERT_TRUE(found.error);
  EXPECT_NE(found.error->message().find("larger than"), std::string::npos)
      << found.error->message();
}

}  // namespace
}  // namespace bawn::test
