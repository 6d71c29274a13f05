#include "../wire_encode.hpp"
#include "bawn/os/pipe.hpp"
#include "relay_warden.hpp"

#include <fmt/format.h>

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace bawn::sandbox {

namespace {

using relay_wire::Type;

std::string path_payload(const std::string& path) {
  return wire::Writer().text(path).data();
}

class RelayClient final : public Relay, public std::enable_shared_from_this<RelayClient> {
 public:
  RelayClient(std::shared_ptr<RelayLink> link, RelayPlace place)
      : link_(std::move(link)), place_(std::move(place)) {}
  ~RelayClient() override { close(); }
  RelayClient(const RelayClient&) = delete;
  RelayClient& operator=(const RelayClient&) = delete;

  [[nodiscard]] const RelayPlace& place() const noexcept override { return place_; }

  [[nodiscard]] Result<std::shared_ptr<Warden>> start(const SessionPlan& plan) override {
    return start_relay_warden(shared_from_this(), link_, plan);
  }

  [[nodiscard]] Result<> make_session_directory(const std::string& path, std::uint32_t uid,
                                                std::uint32_t gid) override {
    wire::Writer out;
    out.u32(uid).u32(gid).text(path);
    return done(Type::Directory, out.data(), "mkdir",
                fmt::format("cannot make the session's directory {}", path));
  }

  void remove_session_directory(const std::string& path) noexcept override {
    link_->tell(Type::RemoveDirectory, 0, path_payload(path));
  }

  [[nodiscard]] Result<> write_file(const std::string& path, mode_t mode,
                                    std::string_view bytes) override {
    std::uint32_t flags = 0;
    do {
      const std::string_view part = bytes.substr(0, relay_wire::kMaxPart);
      bytes.remove_prefix(part.size());
      wire::Writer out;
      out.u32(flags).u32(mode).text(path).u32(static_cast<std::uint32_t>(part.size()));
      out.bytes(part.data(), part.size());
      BAWN_TRY(done(Type::Write, out.data(), "write", fmt::format("cannot write {}", path)));
      flags = relay_wire::kAppend;
    } while (!bytes.empty());
    return {};
  }

  [[nodiscard]] Result<std::string> read_file(const std::string& path, std::size_t limit) override {
    wire::Writer out;
    out.u32(static_cast<std::uint32_t>(std::min(limit, relay_wire::kMaxPart))).text(path);
    const RelayAnswer answer = BAWN_TRY(link_->ask_done(
        Type::Read, link_->next_id(), out.data(), "read", fmt::format("cannot read {}", path)));
    wire::Reader in = answer.reader();
    (void)in.u32();
    const std::uint32_t size = in.u32();
    std::string bytes = answer.payload.substr(2 * sizeof(std::uint32_t));
    if (size > limit || bytes.size() > limit) {
      return contract::fail(ErrorCode::ResourceExhausted,
                            fmt::format("{} has more than {} bytes", path, limit));
    }
    return bytes;
  }

  void remove_file(const std::string& path) noexcept override {
    link_->tell(Type::Remove, 0, path_payload(path));
  }

  [[nodiscard]] Result<os::UniqueFd> make_fifo(const Warden& session, const std::string& path,
                                               mode_t mode, FifoKind kind) override {
    const std::uint32_t number = session_of(session, *link_);
    if (number == 0) {
      return contract::fail(ErrorCode::InvalidArgument, "the session is not one of this relay's");
    }
    const bool input = kind == FifoKind::Input;
    os::Pipe pipe = BAWN_TRY(os::Pipe::make());
    os::UniqueFd& theirs = input ? pipe.read : pipe.write;
    os::UniqueFd& ours = input ? pipe.write : pipe.read;
    if (::fcntl(ours.get(), F_SETFL, O_NONBLOCK) != 0) {
      return std::unexpected(Error::from_errno(errno, "fcntl", "cannot make a FIFO"));
    }
    NewStream stream{link_->next_id(),
                     BAWN_TRY(LocalStream::make(
                         number, input ? LocalStream::Way::Input : LocalStream::Way::Output,
                         std::move(theirs)))};
    stream.end.fifo = kind == FifoKind::Output;
    stream.end.report = kind == FifoKind::Report;
    const std::uint32_t id = stream.id;
    wire::Writer out;
    out.u32(id).u32(number).u32(static_cast<std::uint32_t>(kind)).u32(mode).text(path);
    std::vector<NewStream> streams;
    streams.push_back(std::move(stream));
    const auto made = link_->ask_done(Type::Fifo, link_->next_id(), out.data(), "mkfifo",
                                      "cannot make a FIFO of the session", std::move(streams));
    if (!made) {
      link_->drop_stream(id);
      return std::unexpected(made.error());
    }
    return std::move(ours);
  }

  [[nodiscard]] bool alive() const noexcept override { return link_->alive(); }
  [[nodiscard]] std::string why_lost() const override { return link_->why_lost(); }
  void close() noexcept override { link_->close("the relay was closed"); }

 private:
  [[nodiscard]] Result<> done(Type type, std::string_view payload, std::string_view call,
                              std::string_view what) {
    BAWN_TRY(link_->ask_done(type, link_->next_id(), payload, call, what));
    return {};
  }

  std::shared_ptr<RelayLink> link_;
  RelayPlace place_;
};

}  // namespace

Result<std::shared_ptr<Relay>> Relay::connect(os::UniqueFd to, os::UniqueFd from,
                                              const contract::Context& context,
                                              const Options& options) {
  auto link = std::make_shared<RelayLink>(std::move(to), std::move(from),
                                          BAWN_TRY(os::EventFd::make()), options.answer_limit);
  RelayPlace place = BAWN_TRY(
      link->greet(context.with_deadline(contract::Context::Clock::now() + options.hello_limit)));
  BAWN_TRY(link->start());
  return std::make_shared<RelayClient>(std::move(link), std::move(place));
}

Result<std::shared_ptr<Relay>> Relay::connect(os::UniqueFd to, os::UniqueFd from) {
  return connect(std::move(to), std::move(from), contract::Context(), Options());
}

}  // namespace bawn::sandbox
