#include "agent.hpp"

#include <string.h>

#include <cerrno>

namespace bawn::sandbox::warden::agent {

namespace {

using file_wire::Op;

unsigned char request_buffer[file_wire::kMaxRequest];
unsigned char reply_buffer[file_wire::kMaxAnswer];

Problem perform(Op op, Request& request, Reply& reply) noexcept {
  switch (op) {
    case Op::Open:
      return open_file(request, reply);
    case Op::Status:
      return status_of(request, reply);
    case Op::List:
      return list_directory(request, reply);
    case Op::ReadLink:
      return read_link(request, reply);
    case Op::Stage:
      return stage_file(request, reply);
    case Op::Commit:
      return commit_file(request, reply);
    case Op::Discard:
      return discard_file(request, reply);
    case Op::Remove:
      return remove_file(request, reply);
    case Op::RemoveDirectory:
      return remove_directory(request, reply);
    case Op::Rename:
      return rename_file(request, reply);
    case Op::MakeDirectory:
      return make_directory(request, reply);
    case Op::SetMode:
      return set_mode(request, reply);
    case Op::SetAside:
      return set_aside(request, reply);
    case Op::PutBack:
      return put_back(request, reply);
    case Op::TryWrite:
    case Op::TryRemove:
    case Op::TryRename:
    case Op::TrySetMode:
      return try_change(op, request, reply);
    case Op::ReadHeld:
      return read_held(request, reply);
    case Op::WriteHeld:
      return write_held(request, reply);
    case Op::HandHeld:
      return hand_held(request, reply);
  }
  return {ENOSYS, FailureKind::System, "agent"};
}

bool answer(int stream, std::uint32_t id, const Problem& problem, Reply& reply) noexcept {
  if (problem.failed()) {
    reply.out = {reply_buffer, sizeof reply_buffer};
    reply.fd.reset(-1);
    reply.out.u32(static_cast<std::uint32_t>(problem.errnum));
    reply.out.u32(static_cast<std::uint32_t>(problem.kind));
    reply.out.u32(static_cast<std::uint32_t>(problem.type));
    reply.out.text(problem.call, strlen(problem.call));
  }
  const auto type = problem.failed() ? file_wire::Answer::Failed : file_wire::Answer::Done;
  return send_frame(stream, static_cast<wire::Type>(type), id, reply.out.data, reply.out.size,
                    reply.fd.get());
}

/// False at the end of the stream, or when a frame is not as the server sends it.
bool serve_one(int stream) noexcept {
  wire::Header header;
  int fds[wire::kMaxFds];
  if (!receive_header(stream, header, fds)) {
    return false;
  }
  const Held received[wire::kMaxFds] = {Held(fds[0]), Held(fds[1]), Held(fds[2]), Held(fds[3])};
  if (header.length > sizeof request_buffer ||
      !receive_bytes(stream, request_buffer, header.length)) {
    return false;
  }
  Request request{{request_buffer, header.length}, received[0].get()};
  Reply reply{{reply_buffer, sizeof reply_buffer}, Held()};
  const Problem problem = perform(static_cast<Op>(header.type), request, reply);
  return request.in.finished() && answer(stream, header.id, problem, reply);
}

}  // namespace

void serve(int stream) noexcept {
  while (serve_one(stream)) {
  }
  let_held_go();
}

}  // namespace bawn::sandbox::warden::agent
