#include "media_type.hpp"

#include <array>

namespace bawn::files {

namespace {

using namespace std::string_view_literals;

struct Magic {
  std::string_view start;
  MediaType type;
};

// The GIF and PNG forms are spelled out whole: a shorter prefix also begins other files.
constexpr std::array kMagic = {
    Magic{"\x89PNG\r\n\x1A\n"sv, {"image/png", "a PNG image", true}},
    Magic{"\xFF\xD8\xFF"sv, {"image/jpeg", "a JPEG image", true}},
    Magic{"GIF87a"sv, {"image/gif", "a GIF image", true}},
    Magic{"GIF89a"sv, {"image/gif", "a GIF image", true}},
    Magic{"%PDF-"sv, {"application/pdf", "a PDF document"}},
    Magic{"\x7F\x45LF"sv, {"application/x-elf", "an ELF program or library"}},
    Magic{"PK\x03\x04"sv, {"application/zip", "a ZIP archive (or an office document, jar, …)"}},
    Magic{"PK\x05\x06"sv, {"application/zip", "an empty ZIP archive"}},
    Magic{"\x1F\x8B"sv, {"application/gzip", "gzip data"}},
    Magic{"BZh"sv, {"application/x-bzip2", "bzip2 data"}},
    Magic{"\xFD\x37zXZ\0"sv, {"application/x-xz", "xz data"}},
    Magic{"\x28\xB5\x2F\xFD"sv, {"application/zstd", "zstd data"}},
    Magic{"7z\xBC\xAF\x27\x1C"sv, {"application/x-7z-compressed", "a 7-Zip archive"}},
    Magic{"SQLite format 3\0"sv, {"application/vnd.sqlite3", "an SQLite database"}},
    Magic{"\0asm"sv, {"application/wasm", "a WebAssembly module"}},
    Magic{"!<arch>\n"sv, {"application/x-archive", "an ar archive (a static library)"}},
    Magic{"OggS"sv, {"application/ogg", "an Ogg file"}},
    Magic{"fLaC"sv, {"audio/flac", "a FLAC file"}},
    Magic{"ID3"sv, {"audio/mpeg", "an MP3 file"}},
    Magic{"II*\0"sv, {"image/tiff", "a TIFF image"}},
    Magic{"MM\0*"sv, {"image/tiff", "a TIFF image"}},
    Magic{"BM"sv, {"image/bmp", "a BMP image"}},
    Magic{"\0\0\x01\0"sv, {"image/x-icon", "an icon"}},
    Magic{"\xCA\xFE\xBA\xBE"sv, {"application/java-vm", "a Java class or a Mach-O file"}},
};

}  // namespace

MediaType media_type_of(std::string_view bytes) noexcept {
  if (bytes.starts_with("RIFF") && bytes.size() >= 12) {
    const std::string_view form = bytes.substr(8, 4);
    if (form == "WEBP") {
      return {"image/webp", "a WebP image", true};
    }
    return form == "WAVE" ? MediaType{"audio/wav", "a WAV file"}
                          : MediaType{"application/x-riff", "a RIFF file"};
  }
  if (bytes.size() >= 12 && bytes.substr(4, 4) == "ftyp") {
    return {"video/mp4", "an MP4 or HEIF file"};
  }
  for (const Magic& magic : kMagic) {
    if (bytes.starts_with(magic.start)) {
      return magic.type;
    }
  }
  return {"application/octet-stream", "binary data"};
}

}  // namespace bawn::files
