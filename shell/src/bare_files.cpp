#include "bare_files.hpp"

#include "bawn/os/pipe.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace bawn::shell {

namespace {

std::unexpected<Error> no_fifo() {
  return contract::fail(ErrorCode::Unsupported, "there are no FIFOs in this place");
}

}  // namespace

Result<std::unique_ptr<const BareFiles>> BareFiles::open(const std::string& state_dir,
                                                         const Session::BarePlace& place) {
  const std::string path =
      BAWN_TRY(Session::prepare_directory(state_dir, ::geteuid(), ::getegid()));
  SessionDir local = BAWN_TRY(SessionDir::open(path));
  return std::unique_ptr<const BareFiles>(new BareFiles(std::move(local), place));
}

BareFiles::BareFiles(SessionDir local, const Session::BarePlace& place)
    : local_(std::move(local)),
      place_(place.files),
      read_side_(place.directory + "/r/"),
      write_side_(place.directory + "/w/") {}

Result<> BareFiles::write_text(const std::string& name, std::string_view first,
                               std::string_view second) const {
  std::string whole(first);
  whole.append(second);
  return place_->write(read_side_ + name, whole);
}

Result<OutputFifo> BareFiles::make_output(const std::string& /*name*/) const {
  return no_fifo();
}

Result<InputFifo> BareFiles::make_input(const std::string& /*name*/) const {
  return no_fifo();
}

Result<os::UniqueFd> BareFiles::make_report(const std::string& name) const {
  return local_.make_report(name);
}

Result<StateFile> BareFiles::make_state_file(const std::string& name) const {
  BAWN_TRY(place_->write(write_side_ + name, {}));
  return StateFile([place = place_, path = write_side_ + name](std::size_t limit) {
    std::string text = place->read(path, limit + 1).value_or(std::string());
    return text.size() > limit ? std::string() : text;
  });
}

void BareFiles::remove_text(const std::string& name) const noexcept {
  place_->remove(read_side_ + name);
}

void BareFiles::remove_output(const std::string& name) const noexcept {
  place_->remove(write_side_ + name);
}

}  // namespace bawn::shell
