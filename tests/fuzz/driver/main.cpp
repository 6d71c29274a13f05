/// \file
/// Runs a fuzz target: over the files of a folder, or for some time over inputs made from them. It
/// keeps what reaches new code and goes on from there, so that a short run with GCC alone finds
/// what blind mutation would not.

#include "coverage.hpp"
#include "mutator.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// The target. Returns 0; what it finds it shows by ending the process.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

/// Read by the sanitizers' runtime where there is one: an input that eats memory is a finding too.
extern "C" const char* __asan_default_options() {  // NOLINT(bugprone-reserved-identifier)
  return "hard_rss_limit_mb=2048:detect_leaks=1:abort_on_error=1:handle_abort=0";
}

namespace bawn::fuzz {
namespace {

constexpr std::string_view kUsage =
    "usage: fuzz_NAME --replay FOLDER\n"
    "       fuzz_NAME --seconds N --corpus FOLDER [--seed N] [--new FOLDER] [--last FILE]\n"
    "  --new FOLDER  where inputs that reach new code are kept\n"
    "  --last FILE   holds the input that is running: after a crash, the one that did it\n";

constexpr std::size_t kLongest = 4096;
constexpr unsigned kSecondsPerInput = 10;

struct Options {
  std::string replay;
  std::string corpus;
  std::string fresh;
  std::string last;
  int seconds = 0;
  std::uint64_t seed = 1;
};

template <class Number>
bool read_number(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

std::optional<Options> parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view word = argv[i];
    const std::string_view value = argv[i + 1];
    if (word == "--replay") {
      options.replay = value;
    } else if (word == "--corpus") {
      options.corpus = value;
    } else if (word == "--new") {
      options.fresh = value;
    } else if (word == "--last") {
      options.last = value;
    } else if (word == "--seconds" ? !read_number(value, options.seconds)
                                   : word != "--seed" || !read_number(value, options.seed)) {
      return std::nullopt;
    }
  }
  const bool fuzzes = options.seconds > 0 && !options.corpus.empty();
  const bool complete = argc % 2 == 1 && options.replay.empty() == fuzzes;
  return complete ? std::optional(options) : std::nullopt;
}

/// The files of a folder, sorted by name so that every run is the same.
std::vector<std::string> read_folder(const std::string& folder) {
  std::vector<std::filesystem::path> paths;
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failed)) {
    if (entry.is_regular_file()) {
      paths.push_back(entry.path());
    }
  }
  std::ranges::sort(paths);
  std::vector<std::string> inputs;
  for (const auto& path : paths) {
    std::ifstream file(path, std::ios::binary);
    inputs.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return inputs;
}

/// The running input in a shared mapping of a file, which outlives this process however it ends.
class LastInput {
 public:
  explicit LastInput(const std::string& path) {
    if (path.empty()) {
      return;
    }
    fd_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    void* const map = fd_ >= 0 && ::ftruncate(fd_, kLongest) == 0
                          ? ::mmap(nullptr, kLongest, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0)
                          : MAP_FAILED;
    bytes_ = map == MAP_FAILED ? nullptr : static_cast<char*>(map);
  }
  LastInput(const LastInput&) = delete;
  LastInput& operator=(const LastInput&) = delete;
  ~LastInput() {
    if (bytes_ != nullptr) {
      ::munmap(bytes_, kLongest);
    }
    if (fd_ >= 0) {
      ::close(fd_);
    }
  }
  void set(const std::string& input) {
    if (bytes_ == nullptr) {
      return;
    }
    // The file's size is the input's; up to there the mapping can be written.
    if (::ftruncate(fd_, static_cast<off_t>(input.size())) != 0) {
      std::abort();
    }
    std::memcpy(bytes_, input.data(), input.size());
  }

 private:
  int fd_ = -1;
  char* bytes_ = nullptr;
};

void run(const std::string& input) {
  ::alarm(kSecondsPerInput);  // an input that never ends is a finding
  // A copy of exactly this size, so that reading beyond it is seen.
  const std::vector<std::uint8_t> bytes(input.begin(), input.end());
  LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
}

int replay(const std::string& folder) {
  const std::vector<std::string> inputs = read_folder(folder);
  for (const std::string& input : inputs) {
    run(input);
  }
  std::printf("%zu inputs\n", inputs.size());
  return inputs.empty() ? 1 : 0;
}

void keep(const std::string& folder, const std::string& input) {
  if (!folder.empty()) {
    const auto name = std::to_string(std::hash<std::string>()(input));
    std::ofstream(folder + "/" + name, std::ios::binary) << input;
  }
}

int fuzz(const Options& options) {
  std::vector<std::string> corpus = read_folder(options.corpus);
  std::erase_if(corpus, [](const std::string& input) { return input.size() > kLongest; });
  corpus.emplace_back("");
  LastInput last(options.last);
  for (const std::string& input : corpus) {
    last.set(input);
    reset_coverage();
    run(input);
    (void)take_new_coverage();
  }
  const std::size_t start = places_seen();
  const std::size_t known = corpus.size();
  Mutator mutator(options.seed, kLongest);
  std::size_t runs = 0;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(options.seconds);
  while (std::chrono::steady_clock::now() < end) {
    std::string input = mutator.next(corpus);
    last.set(input);
    reset_coverage();
    run(input);
    ++runs;
    if (take_new_coverage()) {
      keep(options.fresh, input);
      corpus.push_back(std::move(input));
    }
  }
  std::printf("%zu runs, %zu new inputs, %zu places reached (%zu by the corpus)\n", runs,
              corpus.size() - known, places_seen(), start);
  return 0;
}

}  // namespace
}  // namespace bawn::fuzz

int main(int argc, char** argv) {
  const auto options = bawn::fuzz::parse(argc, argv);
  if (!options) {
    std::fwrite(bawn::fuzz::kUsage.data(), 1, bawn::fuzz::kUsage.size(), stderr);
    return 2;
  }
  std::signal(SIGALRM, [](int) { std::abort(); });  // NOLINT: ends the process
  return options->replay.empty() ? bawn::fuzz::fuzz(*options) : bawn::fuzz::replay(options->replay);
}
