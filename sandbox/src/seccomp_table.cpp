#include "bawn/sandbox/seccomp_table.hpp"

#include "seccomp_rules.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <string>

namespace bawn::sandbox {
namespace {

std::string to_text(const ArgTest& test) {
  switch (test.kind) {
    case ArgTest::Kind::Equal:
      return fmt::format("arg{} == {:#x}", test.index, test.value);
    case ArgTest::Kind::NotEqual:
      return fmt::format("arg{} != {:#x}", test.index, test.value);
    case ArgTest::Kind::Greater:
      return fmt::format("arg{} > {:#x}", test.index, test.value);
    case ArgTest::Kind::MaskedEqual:
      return fmt::format("arg{} & {:#x} == {:#x}", test.index, test.mask, test.value);
  }
  return {};
}

const char* error_name(int error) {
  switch (error) {
    case EPERM:
      return "EPERM";
    case ENOSYS:
      return "ENOSYS";
    case EOPNOTSUPP:
      return "EOPNOTSUPP";
    case EAFNOSUPPORT:
      return "EAFNOSUPPORT";
    case EPROTONOSUPPORT:
      return "EPROTONOSUPPORT";
    default:
      return "another errno";
  }
}

const char* to_text(When when) {
  switch (when) {
    case When::Always:
      return "";
    case When::NoPidNamespace:
      return "without a PID namespace";
    case When::NoIpcNamespace:
      return "without an IPC namespace";
    case When::SocketsWhole:
      return "without a network namespace while the host's Unix sockets are in reach";
    case When::SocketsUnixOnly:
      return "without a network namespace and without a network";
    case When::SocketsInside:
      return "with a network namespace or a network";
    case When::SocketsInsideNoUnix:
      return "with a network while the host's Unix sockets are in reach";
    case When::Supervised:
      return "where connections are supervised";
    case When::SupervisedInside:
      return "where connections are supervised without a network namespace";
    case When::HostSocketsReachable:
      return "while the host's Unix sockets are in reach";
  }
  return "";
}

}  // namespace

std::vector<SeccompLine> seccomp_table() {
  std::vector<SeccompLine> lines;
  for (const SeccompRule& rule : seccomp_rules()) {
    SeccompLine line{.call = rule.name,
                     .number = rule.number,
                     .condition = {},
                     .error = error_name(rule.error),
                     .when = to_text(rule.when),
                     .reason = rule.reason};
    for (const ArgTest& test : rule.tests) {
      line.condition += (line.condition.empty() ? "" : " and ") + to_text(test);
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace bawn::sandbox
