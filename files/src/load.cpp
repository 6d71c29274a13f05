#include "load.hpp"

#include "denial.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace bawn::files {

Result<std::string> read_whole(const contract::Context& context, int fd, std::size_t expected,
                               std::size_t most) {
  constexpr std::size_t kStep = std::size_t{1024} * 1024;
  std::string bytes;
  // One byte more than expected, so that the read that fits is also the one that sees the end.
  std::size_t room = std::min(expected, most) + 1;
  while (true) {
    if (context.cancelled()) {
      return contract::fail(ErrorCode::Cancelled, "reading was cancelled");
    }
    const std::size_t used = bytes.size();
    ssize_t got = 0;
    int why = 0;
    bytes.resize_and_overwrite(room, [&](char* data, std::size_t size) {
      got = read(fd, data + used, std::min(size - used, kStep * 8));
      why = errno;
      return used + static_cast<std::size_t>(std::max<ssize_t>(got, 0));
    });
    if (got < 0 && why != EINTR) {
      return std::unexpected(Error::from_errno(why, "read", "cannot read the file"));
    }
    if (got == 0) {
      return bytes;
    }
    if (bytes.size() > most) {
      return contract::fail(
          ErrorCode::ResourceExhausted,
          fmt::format("the file is larger than {} bytes, the most this takes; read "
                      "it in parts, or use a command",
                      most));
    }
    room = bytes.size() < room ? room : room + std::max(kStep, room / 2);
  }
}

Result<LoadedFile> load_file(const contract::Context& context, const Place& place,
                             const std::string& path, std::size_t most) {
  auto opened = place.files->open(context, path);
  if (!opened) {
    return std::unexpected(explained(place, path, Access::Read, opened.error()));
  }
  auto bytes = read_whole(context, opened->fd.get(), opened->status.size, most);
  if (!bytes) {
    return std::unexpected(bytes.error().wrap(path));
  }
  return LoadedFile{
      .bytes = *std::move(bytes), .status = opened->status, .attributes = attributes_of(*opened)};
}

Result<std::optional<LoadedFile>> load_if_there(const contract::Context& context,
                                                const Place& place, const std::string& path,
                                                std::size_t most) {
  auto loaded = load_file(context, place, path, most);
  if (!loaded) {
    if (loaded.error().code() == ErrorCode::NotFound) {
      return std::optional<LoadedFile>();
    }
    return std::unexpected(loaded.error());
  }
  return std::optional(*std::move(loaded));
}

}  // namespace bawn::files
