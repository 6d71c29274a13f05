/// \file
/// Records of the kernel's audit stream, whose paths and names are a command's choice: whatever
/// they hold, only domains of the followed process give denials, and few are kept.
#include "audit_record.hpp"
#include "require.hpp"

#include <string_view>

using namespace bawn::sandbox;
using bawn::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  AuditEvents ours;
  AuditEvents nobodys;
  ours.follow(300);
  constexpr AuditType kTypes[] = {AuditType::LandlockAccess, AuditType::LandlockDomain,
                                  AuditType::SystemCall, AuditType::EndOfEvent};
  while (!rest.empty()) {
    const AuditType type = kTypes[static_cast<unsigned char>(rest.front()) % 4];
    const std::string_view line = rest.substr(1, rest.find('\n'));
    ours.take(type, line);
    nobodys.take(type, line);
    rest.remove_prefix(std::min(rest.size(), 1 + line.size()));
  }
  const auto denials = ours.after(0);
  require(denials.size() <= AuditEvents::kMostKept, "too many are kept");
  require(nobodys.after(0).empty(), "a denial of nobody's domain");
  std::uint64_t last = 0;
  for (const AuditDenial& denial : denials) {
    require(denial.number > last, "numbers that do not count up");
    require(!denial.op().empty(), "an act without a word");
    last = denial.number;
  }
  return 0;
}
