// Bytes between the server and what runs here. Output is read only against credit; input waits in a
// ring of its own, which credit keeps from overflowing.
#include "relay.hpp"

#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

namespace bawn::sandbox::warden::relay {

Stream streams[kMaxStreams];

namespace {

using relay_wire::kInputWindow;

unsigned char chunk[relay_wire::kMaxData];

void free_stream(Stream& stream) noexcept {
  end_agent(stream);
  if (stream.fd >= 0) {
    close(stream.fd);
  }
  if (stream.queue != nullptr) {
    munmap(stream.queue, kInputWindow);
  }
  stream = Stream{};
}

/// Both sides have said End: the number is free.
void settle(Stream& stream) noexcept {
  if (stream.end_sent && stream.end_heard && stream.queued == 0) {
    free_stream(stream);
  }
}

bool send_end(Stream& stream) noexcept {
  if (stream.end_sent) {
    return true;
  }
  stream.end_sent = true;
  const bool told = tell(Type::End, stream.id, nullptr, 0);
  settle(stream);
  return told;
}

std::uint32_t waiting_in(int fd) noexcept {
  int count = 0;
  return fd >= 0 && ioctl(fd, FIONREAD, &count) == 0 && count > 0
             ? static_cast<std::uint32_t>(count)
             : 0;
}

/// A FIFO that nobody has opened yet reads as ended too; poll(2) tells the two apart.
bool has_ended(const Stream& stream) noexcept {
  if (!stream.fifo) {
    return true;
  }
  pollfd look = {stream.fd, POLLIN, 0};
  return poll(&look, 1, 0) == 1 && (look.revents & POLLHUP) != 0;
}

/// One read's worth to the server. `more` tells whether there may be another. False when the server
/// is gone.
bool send_some(Stream& stream, std::size_t most, bool& more) noexcept {
  more = false;
  std::size_t room = stream.credit < sizeof chunk ? stream.credit : sizeof chunk;
  room = most < room ? most : room;
  if (room == 0 || stream.end_sent) {
    return true;
  }
  ssize_t count = 0;
  do {
    count = stream.of_agent ? read_agent(stream, chunk, room) : read(stream.fd, chunk, room);
  } while (count < 0 && errno == EINTR);
  if (count > 0) {
    const auto size = static_cast<std::uint32_t>(count);
    stream.credit -= size;
    stream.sent += size;
    more = true;
    return tell(Type::Data, stream.id, chunk, size);
  }
  if (count < 0 && errno == EAGAIN) {
    return true;
  }
  // EIO is a terminal's way to say that its last user is gone.
  return count < 0 || has_ended(stream) ? send_end(stream) : true;
}

/// Marks and a report go in one frame, so that nothing comes between them.
bool send_report(Stream& stream) noexcept {
  static unsigned char report[relay_wire::kMaxData];  // the flush below uses the other one
  const std::size_t room = stream.credit < sizeof report ? stream.credit : sizeof report;
  ssize_t count = 0;
  do {
    count = read(stream.fd, report, room);
  } while (count < 0 && errno == EINTR);
  if (count <= 0) {
    return true;
  }
  // Read first: what was printed before the report was written is in its pipes by now.
  static unsigned char space[16 * kMaxStreams];
  Packer marks{space, sizeof space};
  if (!flush(stream.session, 0, 0, marks)) {
    return false;
  }
  stream.credit -= static_cast<std::uint32_t>(count);
  return tell(Type::Report, stream.id, marks.data, marks.size, report,
              static_cast<std::size_t>(count));
}

/// Writes what the reader takes now and gives that much credit back.
bool write_queue(Stream& stream) noexcept {
  std::uint32_t written = 0;
  bool broken = false;
  while (stream.queued > 0) {
    const std::uint32_t until_wrap = kInputWindow - stream.head;
    const std::uint32_t part = stream.queued < until_wrap ? stream.queued : until_wrap;
    const ssize_t count = write(stream.fd, stream.queue + stream.head, part);
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count <= 0) {
      broken = count == 0 || errno != EAGAIN;
      break;
    }
    const auto size = static_cast<std::uint32_t>(count);
    stream.head = (stream.head + size) % kInputWindow;
    stream.queued -= size;
    written += size;
  }
  if (broken) {
    // Nobody will read it; how much that is can still be asked for. A terminal's other direction
    // may still have something.
    stream.queued = stream.sends || stream.end_heard ? 0 : stream.queued;
    stream.takes = stream.sends;
    return stream.sends || send_end(stream);
  }
  if (stream.end_heard && stream.queued == 0 && !stream.sends) {
    close(stream.fd);
    stream.fd = kNoFd;
    return send_end(stream);
  }
  return written == 0 || stream.end_heard ||
         tell(Type::Credit, stream.id, &written, sizeof written);
}

bool flush_one(Stream& stream, Packer& marks) noexcept {
  if (stream.id == 0 || !stream.sends || stream.report || stream.end_sent) {
    return true;
  }
  const std::uint32_t id = stream.id;
  // Only what is there at this moment: somebody else may go on writing for ever.
  std::uint64_t mark = stream.sent + waiting_in(stream.fd);
  bool more = true;
  while (more && stream.id == id && stream.sent < mark) {
    if (!send_some(stream, mark - stream.sent, more)) {
      return false;
    }
  }
  if (stream.id == id && stream.sent == mark && !send_some(stream, 1, more)) {
    return false;  // sees the end, if that is what comes next
  }
  if (stream.id == id && stream.sent < mark) {
    marks.u32(id);
    marks.u64(mark);
  }
  return true;
}

}  // namespace

Stream* find_stream(std::uint32_t id) noexcept {
  for (Stream& stream : streams) {
    if (id != 0 && stream.id == id) {
      return &stream;
    }
  }
  return nullptr;
}

Stream* add_stream(std::uint32_t id, std::uint32_t session, int fd, bool sends,
                   bool takes) noexcept {
  if (id == 0 || find_stream(id) != nullptr) {
    return nullptr;
  }
  for (Stream& stream : streams) {
    if (stream.id != 0) {
      continue;
    }
    stream = Stream{};
    if (takes) {
      void* const queue =
          mmap(nullptr, kInputWindow, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (queue == MAP_FAILED) {
        return nullptr;
      }
      stream.queue = static_cast<unsigned char*>(queue);
    }
    stream.id = id;
    stream.session = session;
    stream.fd = fd;
    stream.sends = sends;
    stream.takes = takes;
    stream.credit = sends ? relay_wire::kOutputWindow : 0;
    return &stream;
  }
  return nullptr;
}

short stream_events(const Stream& stream) noexcept {
  if (stream.fd < 0 || stream.end_sent) {
    return 0;
  }
  const int in = stream.sends && stream.credit > 0 ? POLLIN : 0;
  const int out = stream.takes && stream.queued > 0 ? POLLOUT : 0;
  return static_cast<short>(in | out);
}

bool serve_stream(Stream& stream, short found) noexcept {
  const std::uint32_t id = stream.id;
  if ((found & (POLLOUT | POLLERR)) != 0 && stream.queued > 0 && !write_queue(stream)) {
    return false;
  }
  if (stream.id != id || !stream.sends || (found & (POLLIN | POLLHUP | POLLERR)) == 0) {
    return true;
  }
  bool more = false;
  return stream.report ? send_report(stream) : send_some(stream, sizeof chunk, more);
}

bool take_data(std::uint32_t id, const unsigned char* bytes, std::size_t size) noexcept {
  Stream* const stream = find_stream(id);
  if (stream == nullptr || !stream->takes || stream->end_heard || stream->end_sent) {
    return true;  // it ended while these were under way
  }
  if (size > kInputWindow - stream->queued) {
    return false;
  }
  const std::uint32_t tail = (stream->head + stream->queued) % kInputWindow;
  const std::size_t until_wrap = kInputWindow - tail;
  const std::size_t first = size < until_wrap ? size : until_wrap;
  memcpy(stream->queue + tail, bytes, first);
  memcpy(stream->queue, bytes + first, size - first);
  stream->queued += static_cast<std::uint32_t>(size);
  return write_queue(*stream);
}

bool take_credit(std::uint32_t id, std::uint32_t bytes) noexcept {
  Stream* const stream = find_stream(id);
  if (stream == nullptr) {
    return true;
  }
  if (bytes > relay_wire::kOutputWindow - stream->credit) {
    return false;
  }
  stream->credit += bytes;
  return true;
}

bool take_end(std::uint32_t id) noexcept {
  Stream* const stream = find_stream(id);
  if (stream == nullptr) {
    return tell(Type::End, id, nullptr, 0);  // refused when it was asked for: nobody waits for more
  }
  stream->end_heard = true;
  end_agent(*stream);
  if (stream->sends || !stream->takes || stream->queued == 0) {
    stream->queued = 0;
    if (stream->fd >= 0) {
      close(stream->fd);
      stream->fd = kNoFd;
    }
    if (!stream->end_sent) {
      return send_end(*stream);
    }
  }
  settle(*stream);
  return true;
}

bool resize(std::uint32_t id, std::uint32_t columns, std::uint32_t rows) noexcept {
  const Stream* const stream = find_stream(id);
  if (stream != nullptr && stream->fd >= 0) {
    winsize size = {};
    size.ws_col = static_cast<unsigned short>(columns);
    size.ws_row = static_cast<unsigned short>(rows);
    (void)ioctl(stream->fd, TIOCSWINSZ, &size);
  }
  return true;
}

std::uint32_t unread_of(const Stream& stream) noexcept {
  return stream.queued + waiting_in(stream.fd);
}

bool flush(std::uint32_t session, std::uint32_t out, std::uint32_t err, Packer& marks) noexcept {
  const std::size_t start = marks.size;
  marks.u32(0);
  for (Stream& stream : streams) {
    const bool meant = stream.id != 0 && ((stream.fifo && stream.session == session) ||
                                          stream.id == out || stream.id == err);
    if (meant && !flush_one(stream, marks)) {
      return false;
    }
  }
  const auto count = static_cast<std::uint32_t>((marks.size - start - 4) / 12);
  memcpy(marks.data + start, &count, sizeof count);
  return true;
}

bool end_streams(std::uint32_t session) noexcept {
  for (Stream& stream : streams) {
    if (stream.id == 0 || stream.session != session) {
      continue;
    }
    stream.queued = 0;
    if (stream.fd >= 0) {
      close(stream.fd);
      stream.fd = kNoFd;
    }
    if (!send_end(stream)) {
      return false;
    }
  }
  return true;
}

void drop_stream(std::uint32_t id) noexcept {
  if (Stream* const stream = find_stream(id)) {
    free_stream(*stream);
  }
}

}  // namespace bawn::sandbox::warden::relay
