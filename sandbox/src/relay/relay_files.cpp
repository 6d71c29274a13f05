#include "relay_files.hpp"

#include "../file_client.hpp"
#include "../wire_encode.hpp"
#include "bawn/os/pipe.hpp"

#include <optional>
#include <utility>

namespace bawn::sandbox {

namespace {

using relay_wire::Type;

/// The Refused that an answer carries, or nothing.
std::optional<Error> refused_in(const RelayAnswer& answer) {
  wire::Reader in = answer.reader();
  if (answer.type != Type::Answer || static_cast<wire::Type>(in.u32()) != wire::Type::Refused) {
    return std::nullopt;
  }
  Frame frame;
  frame.type = wire::Type::Refused;
  frame.payload = answer.payload.substr(sizeof(std::uint32_t));
  return refusal(frame);
}

/// Has the relay set attributes of the file that the agent of that stream has passed to it.
bool set_attributes(RelayLink& link, std::uint32_t stream, const FileAttributes& attributes) {
  wire::Writer out;
  out.u32(stream).u32(static_cast<std::uint32_t>(attributes.values.size()));
  for (const auto& [name, value] : attributes.values) {
    out.text(name).text(value);
  }
  return link.ask_done(Type::Attributes, link.next_id(), out.data(), "fsetxattr", "attributes")
      .has_value();
}

/// An agent at the other end of a stream of its own.
Result<std::unique_ptr<FileChannel>> start_agent(const std::shared_ptr<RelayLink>& link,
                                                 std::uint32_t session, std::string_view order) {
  os::SocketPair ends = BAWN_TRY(os::SocketPair::make());
  const std::uint32_t id = link->next_id();
  std::vector<NewStream> streams;
  streams.push_back(
      {id, BAWN_TRY(LocalStream::make(session, LocalStream::Way::Both, std::move(ends.far)))});
  std::string payload(reinterpret_cast<const char*>(&session), sizeof session);
  payload.append(order);
  const auto answer = link->ask(Type::Agent, id, payload, std::move(streams));
  if (!answer) {
    link->drop_stream(id);
    return std::unexpected(answer.error());
  }
  if (auto error = refused_in(*answer)) {
    link->drop_stream(id);
    return std::unexpected(*std::move(error));
  }
  return std::make_unique<FileChannel>(std::move(ends.near), [link, id](const auto& attributes) {
    return set_attributes(*link, id, attributes);
  });
}

}  // namespace

Result<std::shared_ptr<FileAgent>> make_relay_file_agent(std::shared_ptr<RelayLink> link,
                                                         std::uint32_t session,
                                                         std::shared_ptr<ChildState> warden,
                                                         const FilePlan& plan) {
  auto start = [link = std::move(link), warden = std::move(warden), session,
                order = BAWN_TRY(encode_start(
                    plan, file_wire::kCarried))]() -> Result<std::unique_ptr<FileChannel>> {
    if (warden->lost()) {
      return contract::fail(ErrorCode::Closed, "the session's warden is gone");
    }
    return start_agent(link, session, order);
  };
  return make_file_agent(std::make_shared<FilePool>(std::move(start), true));
}

}  // namespace bawn::sandbox
