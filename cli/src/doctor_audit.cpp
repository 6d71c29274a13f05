#include "bawn/sandbox/audit.hpp"
#include "bawn/sandbox/features.hpp"
#include "doctor.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <string>

namespace bawn::cli {
namespace {

std::string advice(const sandbox::AuditState& state) {
  if (!state.has_landlock) {
    return "Nothing to switch on: Landlock writes records from ABI 7 (Linux 6.15) on.\n";
  }
  if (!state.readable.available) {
    return fmt::format(
        "{}.\nbawn reads them where it is started by root outside of containers; otherwise denials "
        "of "
        "files are concluded by replay, which only ever says \"possible\".\n",
        state.readable.reason);
  }
  if (state.known && state.enabled) {
    return "Denials of files, connections and signals that Landlock decides are confirmed, with "
           "the "
           "process where the kernel names it. Nothing to do.\n";
  }
  return "Auditing is switched off, or cannot be asked about. To switch it on, as root:\n"
         "  auditctl -e 1          until the next start (Debian's package auditd has it)\n"
         "  audit=1                on the kernel's command line, for good\n"
         "It concerns the whole machine: other programs' records appear in its log as well, and "
         "each "
         "system call costs a little more. bawn never switches it.\n"
         "The record that names the process comes only for processes started while it is on, and "
         "where "
         "no audit rule says \"never\" (auditctl -l).\n";
}

}  // namespace

int print_audit(bool as_json) {
  const sandbox::KernelFeatures features = sandbox::assume_features();
  const sandbox::AuditState state = sandbox::audit_state(features.landlock_abi);
  if (as_json) {
    const contract::Json json = {
        {"landlock_records", state.has_landlock},
        {"readable", state.readable.available},
        {"reason", state.readable.reason},
        {"enabled", state.known ? contract::Json(state.enabled) : contract::Json()}};
    std::fputs((contract::dump_json(json) + "\n").c_str(), stdout);
    return 0;
  }
  const auto word = [](bool yes) { return yes ? "yes" : "no"; };
  const std::string text = fmt::format(
      "Landlock writes records: {}\nthey can be read:        {}\nauditing is switched on: {}\n\n{}",
      word(state.has_landlock), word(state.readable.available),
      state.known ? word(state.enabled) : "not known", advice(state));
  std::fputs(text.c_str(), stdout);
  return 0;
}

}  // namespace bawn::cli
