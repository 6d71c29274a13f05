#include "bawn/sandbox/file_agent.hpp"

#include "bawn/sandbox/warden.hpp"

namespace bawn::sandbox {

std::string_view to_string(FileType type) noexcept {
  switch (type) {
    case FileType::Unknown:
      return "a file of unknown type";
    case FileType::Regular:
      return "a regular file";
    case FileType::Directory:
      return "a directory";
    case FileType::Symlink:
      return "a symbolic link";
    case FileType::Fifo:
      return "a FIFO";
    case FileType::Socket:
      return "a socket";
    case FileType::CharacterDevice:
      return "a character device";
    case FileType::BlockDevice:
      return "a block device";
  }
  return "a file of unknown type";
}

Result<std::shared_ptr<FileAgent>> Warden::file_agent() {
  return contract::fail(ErrorCode::Unsupported,
                        "this session has no file agent; read and write with bash or exec there");
}

}  // namespace bawn::sandbox
