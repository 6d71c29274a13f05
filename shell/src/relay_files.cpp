#include "relay_files.hpp"

#include "random_name.hpp"

#include <unistd.h>

#include <optional>
#include <utility>

namespace bawn::shell {

using FifoKind = sandbox::Relay::FifoKind;

Result<std::string> Session::prepare_directory(sandbox::Relay& relay, std::uint32_t uid,
                                               std::uint32_t gid) {
  std::optional<Error> first;
  for (const char* parent : {"/run", "/tmp", "/dev/shm"}) {
    std::string path = std::string(parent) + "/bawn-" + random_name(12);
    auto made = relay.make_session_directory(path, uid, gid);
    if (made) {
      return path;
    }
    if (!relay.alive()) {
      return std::unexpected(std::move(made).error());
    }
    first = first ? first : std::move(made).error();
  }
  return std::unexpected(*std::move(first));
}

Result<std::unique_ptr<const RelayFiles>> RelayFiles::open(const std::string& state_dir,
                                                           const Session::RemotePlace& place) {
  auto relay = place.warden == nullptr ? nullptr : place.warden->relay();
  if (relay == nullptr) {
    return contract::fail(ErrorCode::InvalidArgument,
                          "a session at another place needs a warden that a relay started");
  }
  const std::string path =
      BAWN_TRY(Session::prepare_directory(state_dir, ::geteuid(), ::getegid()));
  SessionDir local = BAWN_TRY(SessionDir::open(path));
  return std::unique_ptr<const RelayFiles>(
      new RelayFiles(std::move(local), place, std::move(relay)));
}

RelayFiles::RelayFiles(SessionDir local, const Session::RemotePlace& place,
                       std::shared_ptr<sandbox::Relay> relay)
    : local_(std::move(local)),
      warden_(place.warden),
      relay_(std::move(relay)),
      directory_(place.directory),
      read_side_(place.directory + "/r/"),
      write_side_(place.directory + "/w/"),
      foreign_(place.uid != relay_->place().uid) {}

Result<> RelayFiles::write_text(const std::string& name, std::string_view first,
                                std::string_view second) const {
  std::string whole(first);
  whole.append(second);
  return relay_->write_file(read_side_ + name, text_mode(), whole);
}

Result<OutputFifo> RelayFiles::make_output(const std::string& name) const {
  return OutputFifo{.read = BAWN_TRY(relay_->make_fifo(*warden_, write_side_ + name, output_mode(),
                                                       FifoKind::Output)),
                    .keep = {}};
}

Result<InputFifo> RelayFiles::make_input(const std::string& name) const {
  return InputFifo{.read = {},
                   .write = BAWN_TRY(relay_->make_fifo(*warden_, read_side_ + name, text_mode(),
                                                       FifoKind::Input))};
}

Result<os::UniqueFd> RelayFiles::make_report(const std::string& name) const {
  return relay_->make_fifo(*warden_, write_side_ + name, output_mode(), FifoKind::Report);
}

Result<StateFile> RelayFiles::make_state_file(const std::string& name) const {
  BAWN_TRY(relay_->write_file(write_side_ + name, output_mode(), {}));
  return StateFile([relay = relay_, path = write_side_ + name](std::size_t limit) {
    return relay->read_file(path, limit).value_or(std::string());
  });
}

void RelayFiles::remove_text(const std::string& name) const noexcept {
  relay_->remove_file(read_side_ + name);
}

void RelayFiles::remove_output(const std::string& name) const noexcept {
  relay_->remove_file(write_side_ + name);
}

void RelayFiles::remove() const noexcept {
  relay_->remove_session_directory(directory_);
  local_.remove();
}

}  // namespace bawn::shell
