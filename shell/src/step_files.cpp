#include "step_files.hpp"

#include "random_name.hpp"
#include "session_dir.hpp"

#include <new>
#include <utility>

namespace bawn::shell {

namespace {
constexpr std::size_t kNonce = 12;
constexpr std::size_t kName = 8;
constexpr const char* kOut = ".o";
constexpr const char* kErr = ".e";
}  // namespace

Result<StepFiles> StepStore::take() {
  if (ready_) {
    StepFiles files = *std::move(ready_);
    ready_.reset();
    return files;
  }
  return make();
}

Result<> StepStore::write_text(StepFiles& files, std::string_view first,
                               std::string_view second) const {
  if (!files.text.is_open()) {
    return dir_.write_text(files.name, first, second);
  }
  const os::UniqueFd text = std::move(files.text);
  BAWN_TRY(write_all(text.get(), first));
  return write_all(text.get(), second);
}

void StepStore::give_back(StepFiles used) {
  tidy();
  if (!used.name.empty()) {
    used_ = std::move(used);
  }
}

void StepStore::prepare() {
  if (!ready_ && dir_.makes_ahead()) {
    // A failure shows, with its reason, when a step needs the files.
    try {
      if (auto files = make()) {
        ready_ = *std::move(files);
      }
    } catch (const std::bad_alloc&) {
      ready_.reset();
    }
  }
  tidy();
}

void StepStore::close() {
  ready_.reset();
  used_.reset();
}

void StepStore::tidy() {
  if (used_) {
    remove(*used_);
    used_.reset();
  }
}

/// A FIFO that nobody holds any more serves again, under a name that nobody knows.
Result<OutputFifo> StepStore::fifo(OutputFifo StepFiles::* which, const char* ending,
                                   const std::string& name) {
  if (used_) {
    OutputFifo& used = *used_.*which;
    if (used.read.is_open() && dir_.renew_output(used_->name + ending, name + ending, used)) {
      return std::move(used);
    }
  }
  return dir_.make_output(name + ending);
}

Result<StepFiles> StepStore::make() {
  StepFiles files;
  files.nonce = random_name(kNonce + kName);
  files.name = files.nonce.substr(kNonce);
  files.nonce.resize(kNonce);
  const auto fill = [&]() -> Result<> {
    files.out = BAWN_TRY(fifo(&StepFiles::out, kOut, files.name));
    files.err = BAWN_TRY(fifo(&StepFiles::err, kErr, files.name));
    if (dir_.makes_ahead()) {
      files.text = BAWN_TRY(dir_.make_text(files.name));
    }
    return {};
  };
  if (auto filled = fill(); !filled) {
    remove(files);
    return std::unexpected(std::move(filled).error());
  }
  return files;
}

void StepStore::remove(const StepFiles& files) const {
  for (const char* ending : {kOut, kErr}) {
    dir_.remove_output(files.name + ending);
  }
  dir_.remove_text(files.name);
}

}  // namespace bawn::shell
