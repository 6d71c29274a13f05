#include "relay_warden.hpp"

#include "../spawn_request.hpp"
#include "../warden_launch.hpp"
#include "../wire_encode.hpp"
#include "bawn/os/pipe.hpp"
#include "bawn/os/poll.hpp"
#include "relay_files.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <utility>

namespace bawn::sandbox {

namespace {

using relay_wire::Type;

constexpr std::chrono::seconds kStartLimit{30};

std::string words(std::initializer_list<std::uint32_t> values) {
  std::string bytes;
  for (const std::uint32_t value : values) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  return bytes;
}

/// A frame of wire.hpp inside one of the relay's.
Frame inner_frame(wire::Type type, std::string_view payload) {
  Frame frame;
  frame.type = type;
  frame.payload = payload;
  return frame;
}

class RelayChild final : public Child {
 public:
  RelayChild(std::shared_ptr<RelayLink> link, std::shared_ptr<ChildState> state, std::uint32_t id,
             std::uint32_t input, bool terminal)
      : link_(std::move(link)),
        state_(std::move(state)),
        id_(id),
        input_(input),
        terminal_(terminal) {}
  ~RelayChild() override {
    if (!gone_) {
      link_->tell(Type::Go, id_, words({0}));
    }
    if (input_ != 0 && !terminal_) {
      link_->drop_stream(input_);
    }
  }
  RelayChild(const RelayChild&) = delete;
  RelayChild& operator=(const RelayChild&) = delete;

  void place(int pid, std::uint64_t start_time) {
    pid_ = pid;
    start_time_ = start_time;
  }

  [[nodiscard]] int pid() const noexcept override { return pid_; }
  [[nodiscard]] int inside_pid() const noexcept override { return pid_; }
  [[nodiscard]] std::uint64_t start_time() const noexcept override { return start_time_; }
  [[nodiscard]] int pidfd() const noexcept override { return -1; }
  [[nodiscard]] int exit_event() const noexcept override { return state_->event(); }
  [[nodiscard]] std::optional<ExitStatus> status() const override { return state_->status(); }

  [[nodiscard]] Result<> go() override {
    if (std::exchange(gone_, true)) {
      return contract::fail(ErrorCode::AlreadyExists, "the child was let go before");
    }
    link_->tell(Type::Go, id_, words({1}));
    return {};
  }

  [[nodiscard]] Result<ExitStatus> wait(const contract::Context& context) override {
    while (!state_->status() && !state_->lost()) {
      BAWN_TRY(os::wait_readable(state_->event(), context));
    }
    if (const auto status = state_->status()) {
      return *status;
    }
    return contract::fail(ErrorCode::Closed,
                          "the session's warden is gone, and with it the child's exit status");
  }

  [[nodiscard]] std::optional<std::size_t> unread_input() const override {
    return input_ == 0 ? 0 : link_->unread(input_);
  }

  [[nodiscard]] Result<> resize(WindowSize size) override {
    if (!terminal_) {
      return Child::resize(size);
    }
    link_->tell(Type::Resize, input_, words({size.columns, size.rows}));
    return {};
  }

 private:
  std::shared_ptr<RelayLink> link_;
  std::shared_ptr<ChildState> state_;
  std::uint32_t id_;
  std::uint32_t input_;
  bool terminal_;
  bool gone_ = false;
  int pid_ = 0;
  std::uint64_t start_time_ = 0;
};

class RelayWarden final : public Warden {
 public:
  RelayWarden(std::shared_ptr<Relay> relay, std::shared_ptr<RelayLink> link, std::uint32_t session,
              FilePlan files, std::shared_ptr<ChildState> state)
      : relay_(std::move(relay)),
        link_(std::move(link)),
        session_(session),
        file_plan_(std::move(files)),
        state_(std::move(state)) {}
  ~RelayWarden() override { close(); }
  RelayWarden(const RelayWarden&) = delete;
  RelayWarden& operator=(const RelayWarden&) = delete;

  [[nodiscard]] Result<> open(const SessionPlan& plan) {
    const std::string blob = BAWN_TRY(wire::encode_plan(plan, 0, 0));
    const RelayAnswer answer =
        BAWN_TRY(link_->ask_within(kStartLimit, Type::OpenSession, session_, blob));
    if (answer.type == Type::SetupFailed) {
      closed_ = true;
      return std::unexpected(
          setup_error(plan, inner_frame(wire::Type::SetupFailed, answer.payload)));
    }
    wire::Reader in = answer.reader();
    start_time_ = in.u64();
    (void)in.u32();
    pid_ = in.i32();
    pid_namespace_ = in.u64();
    if (answer.type != Type::Ready || !in.ok() || pid_ <= 0) {
      return contract::fail(ErrorCode::Internal,
                            "the session's warden did not begin with its report");
    }
    report_ = BAWN_TRY(
        confirm(plan, inner_frame(wire::Type::Ready,
                                  std::string_view(answer.payload).substr(sizeof start_time_))));
    return {};
  }

  [[nodiscard]] const contract::Confinement& report() const noexcept override { return report_; }
  [[nodiscard]] int pid() const noexcept override { return pid_; }
  [[nodiscard]] std::uint64_t start_time() const noexcept override { return start_time_; }
  [[nodiscard]] std::uint64_t pid_namespace() const noexcept override { return pid_namespace_; }
  [[nodiscard]] std::shared_ptr<Relay> relay() const override { return relay_; }
  [[nodiscard]] bool alive() const noexcept override { return !state_->lost(); }
  [[nodiscard]] std::uint32_t session() const noexcept { return session_; }
  [[nodiscard]] const RelayLink& link() const noexcept { return *link_; }

  [[nodiscard]] std::uint64_t start_time_now() const noexcept override {
    const auto ticks = static_cast<std::int64_t>(::sysconf(_SC_CLK_TCK));
    const std::int64_t offset = relay_->place().clock_offset_ns / (1'000'000'000 / ticks);
    const std::int64_t now = static_cast<std::int64_t>(Warden::start_time_now()) + offset - 1;
    return static_cast<std::uint64_t>(std::max<std::int64_t>(now, 0));
  }

  [[nodiscard]] Result<std::unique_ptr<Child>> spawn(SpawnSpec spec) override;

  [[nodiscard]] Result<int> signal(const SignalTarget& target, int signal) override {
    const std::string payload = BAWN_TRY(encode_signal(target, signal));
    const RelayAnswer answer = BAWN_TRY(ask_warden(wire::Type::Signal, payload));
    wire::Reader in = answer.reader();
    if (static_cast<wire::Type>(in.u32()) != wire::Type::Signalled) {
      return contract::fail(ErrorCode::Internal, "the warden's answer is malformed");
    }
    return in.i32();
  }

  [[nodiscard]] Result<std::vector<ProcessInfo>> tree() override {
    const RelayAnswer answer = BAWN_TRY(ask_warden(wire::Type::Tree, {}));
    wire::Reader in = answer.reader();
    if (static_cast<wire::Type>(in.u32()) != wire::Type::Listed) {
      return contract::fail(ErrorCode::Internal, "the warden's process list is malformed");
    }
    return decode_tree(std::string_view(answer.payload).substr(sizeof(std::uint32_t)));
  }

  [[nodiscard]] std::vector<os::UniqueFd> watch(
      const std::vector<ProcessInfo>& processes) override {
    auto pipe = os::Pipe::make();
    if (!pipe || processes.empty()) {
      return {};
    }
    wire::Writer out;
    out.u32(session_).u32(static_cast<std::uint32_t>(processes.size()));
    for (const ProcessInfo& process : processes) {
      out.u32(static_cast<std::uint32_t>(process.inside_pid)).u64(process.start_time);
    }
    const std::uint32_t id = link_->next_id();
    link_->add_watch(id, std::move(pipe->write));
    if (!link_->ask(Type::Watch, id, out.data())) {
      return {};
    }
    std::vector<os::UniqueFd> ends;
    ends.push_back(std::move(pipe->read));
    return ends;
  }

  /// Errors of its requests also: those of the relay.
  [[nodiscard]] Result<std::shared_ptr<FileAgent>> file_agent() override;

  void close() override;

 private:
  [[nodiscard]] Result<RelayAnswer> ask_warden(wire::Type type, std::string_view payload) {
    if (!alive()) {
      return contract::fail(ErrorCode::Closed, "the session's warden is gone");
    }
    std::string whole = words({session_, static_cast<std::uint32_t>(type)});
    whole.append(payload);
    RelayAnswer answer = BAWN_TRY(link_->ask(Type::Ask, link_->next_id(), whole));
    wire::Reader in = answer.reader();
    if (answer.type != Type::Answer) {
      return contract::fail(ErrorCode::Internal, "the warden's answer is malformed");
    }
    if (static_cast<wire::Type>(in.u32()) == wire::Type::Refused) {
      return std::unexpected(refused(answer));
    }
    return answer;
  }

  [[nodiscard]] static Error refused(const RelayAnswer& answer) {
    return refusal(inner_frame(wire::Type::Refused,
                               std::string_view(answer.payload).substr(sizeof(std::uint32_t))));
  }

  std::shared_ptr<Relay> relay_;
  std::shared_ptr<RelayLink> link_;
  const std::uint32_t session_;
  FilePlan file_plan_;
  std::shared_ptr<FileAgent> files_;   ///< guarded by closing_
  std::shared_ptr<ChildState> state_;  ///< of the warden itself: lost once it is gone
  contract::Confinement report_;
  int pid_ = 0;
  std::uint64_t start_time_ = 0;
  std::uint64_t pid_namespace_ = 0;
  std::mutex closing_;
  bool closed_ = false;
};

/// The numbers of a spawn's streams, 0 where there is none.
struct Streams {
  std::uint32_t input = 0;
  std::uint32_t output = 0;
  std::uint32_t error = 0;
};

Result<Streams> make_streams(RelayLink& link, std::uint32_t session, SpawnSpec& spec,
                             std::vector<NewStream>& ends) {
  using Way = LocalStream::Way;
  Streams streams;
  const auto add = [&](os::UniqueFd& fd, Way way) -> Result<std::uint32_t> {
    if (!fd.is_open()) {
      return 0U;
    }
    const std::uint32_t id = link.next_id();
    ends.push_back({id, BAWN_TRY(LocalStream::make(session, way, std::move(fd)))});
    return id;
  };
  if (spec.remote_terminal) {
    streams.input = BAWN_TRY(add(spec.standard_input, Way::Both));
    streams.output = streams.error = streams.input;
    return streams;
  }
  streams.input = BAWN_TRY(add(spec.standard_input, Way::Input));
  streams.output = BAWN_TRY(add(spec.standard_output, Way::Output));
  streams.error = BAWN_TRY(add(spec.standard_error, Way::Output));
  return streams;
}

/// The flags tell the warden which descriptors come, and a terminal is all three.
Result<std::string> encode_request(SpawnSpec& spec) {
  if (!spec.remote_terminal) {
    if (spec.controlling_terminal) {
      return contract::fail(ErrorCode::Unsupported,
                            "over pipes a terminal is made on the other side (remote_terminal)");
    }
    return encode_spawn(spec);
  }
  if (!spec.standard_input.is_open() || spec.standard_output.is_open() ||
      spec.standard_error.is_open() || spec.remote_terminal->columns == 0) {
    return contract::fail(ErrorCode::InvalidArgument,
                          "a remote terminal takes one socket as standard input, and a size");
  }
  spec.controlling_terminal = true;
  std::string payload = BAWN_TRY(encode_spawn(spec));
  std::uint32_t flags = 0;
  payload.copy(reinterpret_cast<char*>(&flags), sizeof flags);
  flags |= wire::kHasOutput | wire::kHasError;
  payload.replace(0, sizeof flags, reinterpret_cast<const char*>(&flags), sizeof flags);
  return payload;
}

Result<std::unique_ptr<Child>> RelayWarden::spawn(SpawnSpec spec) {
  if (!alive()) {
    return contract::fail(ErrorCode::Closed, "the session's warden is gone");
  }
  const std::string payload = BAWN_TRY(encode_request(spec));
  std::vector<NewStream> ends;
  const Streams streams = BAWN_TRY(make_streams(*link_, session_, spec, ends));
  const WindowSize window = spec.remote_terminal.value_or(WindowSize{});
  std::string whole =
      words({session_, streams.input, streams.output, streams.error, window.columns, window.rows});
  whole.append(payload);
  auto state = std::make_shared<ChildState>(BAWN_TRY(os::EventFd::make()));
  const std::uint32_t id = link_->next_id();
  link_->add_child(id, session_, state, {streams.output, streams.error});
  auto child = std::make_unique<RelayChild>(link_, state, id, streams.input,
                                            spec.remote_terminal.has_value());
  auto answer = link_->ask(Type::Spawn, id, whole, std::move(ends));
  const auto fail = [&](Error error) -> std::unexpected<Error> {
    link_->drop_child(id);
    for (const std::uint32_t stream : {streams.input, streams.output, streams.error}) {
      link_->drop_stream(stream);
    }
    return std::unexpected(explain_spawn(spec, std::move(error)));
  };
  if (!answer) {
    return fail(std::move(answer).error());
  }
  wire::Reader in = answer->reader();
  if (answer->type == Type::Answer && static_cast<wire::Type>(in.u32()) == wire::Type::Refused) {
    return fail(refused(*answer));
  }
  const int pid = in.i32();
  const std::uint64_t start_time = in.u64();
  const int errnum = in.i32();
  if (answer->type != Type::Spawned || !in.finished() || pid <= 0) {
    return fail({ErrorCode::Internal, "the relay's answer is malformed"});
  }
  if (errnum != 0) {
    return fail(directory_error(errnum));
  }
  child->place(pid, start_time);
  return child;
}

Result<std::shared_ptr<FileAgent>> RelayWarden::file_agent() {
  const std::scoped_lock lock(closing_);
  if (closed_) {
    return contract::fail(ErrorCode::Closed, "the session is closed");
  }
  if (files_ == nullptr) {
    files_ = BAWN_TRY(make_relay_file_agent(link_, session_, state_, file_plan_));
  }
  return files_;
}

void RelayWarden::close() {
  constexpr std::chrono::milliseconds kLimit{2000};
  const std::scoped_lock lock(closing_);
  if (std::exchange(closed_, true)) {
    return;
  }
  for (const std::uint32_t kill : {0U, 1U, 1U}) {
    if (state_->lost()) {
      return;
    }
    link_->tell(Type::CloseSession, session_, words({kill}));
    const auto context =
        contract::Context().with_deadline(contract::Context::Clock::now() + kLimit);
    if (os::wait_readable(state_->event(), context)) {
      return;
    }
  }
  state_->lose();
}

}  // namespace

Result<std::shared_ptr<Warden>> start_relay_warden(std::shared_ptr<Relay> relay,
                                                   const std::shared_ptr<RelayLink>& link,
                                                   const SessionPlan& plan) {
  if (plan.network.proxy || plan.network.supervise || plan.network.inside) {
    return contract::fail(
        ErrorCode::Unsupported,
        "a session behind a relay cannot have a proxy or supervised connections, which need "
        "descriptors to come back; choose a network of none or full for it");
  }
  const std::uint32_t session = link->next_id();
  auto state = std::make_shared<ChildState>(BAWN_TRY(os::EventFd::make()));
  link->add_session(session, state);
  auto warden =
      std::make_shared<RelayWarden>(std::move(relay), link, session, plan.files, std::move(state));
  BAWN_TRY(warden->open(plan));
  return warden;
}

std::uint32_t session_of(const Warden& warden, const RelayLink& link) {
  const auto* const mine = dynamic_cast<const RelayWarden*>(&warden);
  return mine != nullptr && &mine->link() == &link ? mine->session() : 0;
}

}  // namespace bawn::sandbox
