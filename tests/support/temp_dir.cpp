#include "support/temp_dir.hpp"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <system_error>

namespace bawn::test {

namespace {

std::filesystem::path usual_base() {
  const char* base = std::getenv("TMPDIR");  // NOLINT(concurrency-mt-unsafe): tests set it never
  return base != nullptr ? base : "/tmp";
}

}  // namespace

TempDir::TempDir() : TempDir(usual_base()) {}

TempDir::TempDir(const std::filesystem::path& base) {
  std::string name = (base / "bawn-test-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) {
    throw std::runtime_error("cannot make a temporary directory like " + name);
  }
  path_ = std::filesystem::canonical(name);
}

TempDir::~TempDir() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::filesystem::path TempDir::write(std::string_view name, std::string_view text) const {
  const auto file = path_ / name;
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << text;
  return file;
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

}  // namespace bawn::test
