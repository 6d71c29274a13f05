#include "spawn_request.hpp"

#include "wire_encode.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace bawn::sandbox {

namespace {

constexpr std::size_t kMaxCall = 128;
constexpr std::string_view kMarker = "BAWN_CALL=";

Error invalid(std::string sentence) {
  return {ErrorCode::InvalidArgument, std::move(sentence)};
}

Result<> check(const SpawnSpec& spec) {
  const auto has_nul = [](const std::string& text) { return text.find('\0') != std::string::npos; };
  if (spec.argv.empty()) {
    return std::unexpected(invalid("the command is empty"));
  }
  if (std::ranges::any_of(spec.argv, has_nul) || std::ranges::any_of(spec.env, has_nul) ||
      has_nul(spec.cwd)) {
    return std::unexpected(
        invalid("a NUL byte cannot be passed in an argument, the environment or a path"));
  }
  if (spec.cwd.empty() || spec.cwd.front() != '/') {
    return std::unexpected(
        invalid(fmt::format("the working directory {:?} is not an absolute path", spec.cwd)));
  }
  if (spec.writable_only && std::ranges::any_of(*spec.writable_only, has_nul)) {
    return std::unexpected(invalid("a path that stays writable holds a NUL byte"));
  }
  if (spec.call.size() > kMaxCall || has_nul(spec.call)) {
    return std::unexpected(invalid(fmt::format("a call's marker has at most {} bytes", kMaxCall)));
  }
  return {};
}

}  // namespace

Result<std::string> encode_spawn(const SpawnSpec& spec) {
  BAWN_TRY(check(spec));
  wire::Writer out;
  const auto bit = [](bool set, std::uint32_t flag) { return set ? flag : 0U; };
  out.u32(bit(spec.standard_input.is_open(), wire::kHasInput) |
          bit(spec.standard_output.is_open(), wire::kHasOutput) |
          bit(spec.standard_error.is_open(), wire::kHasError) |
          bit(spec.new_session || spec.controlling_terminal, wire::kNewSession) |
          bit(spec.controlling_terminal, wire::kTerminal) |
          bit(spec.writable_only.has_value(), wire::kReadOnly));
  out.text(spec.cwd).text(spec.call);
  out.u32(static_cast<std::uint32_t>(spec.argv.size()));
  for (const std::string& word : spec.argv) {
    out.text(word);
  }
  const auto stays = [&](const std::string& entry) {
    return spec.call.empty() || !entry.starts_with(kMarker);
  };
  out.u32(static_cast<std::uint32_t>(std::ranges::count_if(spec.env, stays)) +
          (spec.call.empty() ? 0U : 1U));
  for (const std::string& entry : spec.env) {
    if (stays(entry)) {
      out.text(entry);
    }
  }
  if (!spec.call.empty()) {
    out.text(fmt::format("{}{}", kMarker, spec.call));
  }
  if (spec.writable_only) {
    out.u32(static_cast<std::uint32_t>(spec.writable_only->size()));
    for (const std::string& path : *spec.writable_only) {
      out.text(path);
    }
  }
  if (out.data().size() > wire::kMaxPayload) {
    return std::unexpected(invalid(
        fmt::format("arguments and environment together have {} bytes, at most {} can be passed; "
                    "use a file or the standard input",
                    out.data().size(), wire::kMaxPayload)));
  }
  return out.data();
}

Result<std::string> encode_signal(const SignalTarget& target, int signal) {
  if (target.call.size() > kMaxCall || target.call.find('\0') != std::string::npos) {
    return std::unexpected(invalid("no call has such a marker"));
  }
  wire::Writer out;
  out.u32(static_cast<std::uint32_t>(target.kind)).u32(static_cast<std::uint32_t>(target.id));
  out.text(target.call).u64(target.not_before);
  out.u32(static_cast<std::uint32_t>(target.keep_pid)).u32(static_cast<std::uint32_t>(signal));
  return out.data();
}

Result<std::vector<ProcessInfo>> decode_tree(std::string_view payload) {
  wire::Reader in(reinterpret_cast<const unsigned char*>(payload.data()), payload.size());
  std::vector<ProcessInfo> processes(in.count(40));
  for (ProcessInfo& process : processes) {
    process.inside_pid = in.i32();
    process.pid = process.inside_pid;
    process.parent = in.i32();
    process.pgid = in.i32();
    process.sid = in.i32();
    process.start_time = in.u64();
    process.state = static_cast<char>(in.u32());
    process.call = in.text();
    process.name = in.text();
  }
  if (!in.finished()) {
    return contract::fail(ErrorCode::Internal, "the warden's process list is malformed");
  }
  return processes;
}

Error explain_spawn(const SpawnSpec& spec, Error error) {
  if (error.errnum() == 0 && error.code() != ErrorCode::DeadlineExceeded) {
    return error;
  }
  return error.wrap(fmt::format("cannot start {:?} in {:?}", spec.argv.front(), spec.cwd));
}

Error directory_error(int errnum) {
  return Error::from_errno(errnum, "chdir",
                           fmt::format("cannot start a process: {} failed",
                                       wire::to_text(wire::Step::WorkingDirectory)));
}

}  // namespace bawn::sandbox
