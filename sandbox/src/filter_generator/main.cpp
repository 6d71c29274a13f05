/// \file
/// Run by the build: writes the C++ source of ready_filters() to standard output.

#include "seccomp_rules.hpp"

#include <seccomp.h>

#include <cstdint>
#include <cstdio>
#include <set>

/// What is compiled for fuzzing calls this at every branch. Only the fuzz driver listens.
extern "C" [[gnu::no_sanitize_coverage]] void __sanitizer_cov_trace_pc();  // NOLINT
extern "C" void __sanitizer_cov_trace_pc() {}                              // NOLINT

namespace {

using bawn::sandbox::BpfInstruction;

/// Each set of conditions that some policy meets in some situation.
std::set<std::uint32_t> all_conditions() {
  std::set<std::uint32_t> all;
  for (unsigned int bits = 0; bits < 1U << 7U; ++bits) {
    const auto bit = [&](unsigned int number) { return ((bits >> number) & 1U) != 0; };
    bawn::sandbox::Policy policy;
    policy.network = bit(0) ? bawn::sandbox::Network::Full : bawn::sandbox::Network::None;
    all.insert(bawn::sandbox::conditions_of(policy, {.network_namespace = bit(1),
                                                     .pid_namespace = bit(2),
                                                     .ipc_namespace = bit(3),
                                                     .host_sockets_hidden = bit(4),
                                                     .supervised = bit(5),
                                                     .sockets_inside = bit(6)}));
  }
  return all;
}

}  // namespace

int main() {
  std::puts("#include \"seccomp_ready.hpp\"\n\nnamespace bawn::sandbox {\nnamespace {\n");
  const auto all = all_conditions();
  for (const std::uint32_t conditions : all) {
    const auto compiled = bawn::sandbox::compile_filter(seccomp_arch_native(), conditions);
    if (!compiled) {
      std::fprintf(stderr, "filter_generator: %s\n", compiled.error().message().c_str());
      return 1;
    }
    std::printf("constexpr BpfInstruction kFilter%u[] = {\n", conditions);
    for (const BpfInstruction& one : *compiled) {
      std::printf("{%u,%u,%u,%uU},\n", one.code, one.jt, one.jf, one.k);
    }
    std::puts("};");
  }
  std::puts("constexpr ReadyFilter kAll[] = {");
  for (const std::uint32_t conditions : all) {
    std::printf("{%uU, kFilter%u},\n", conditions, conditions);
  }
  std::puts(
      "};\n\n}  // namespace\n\nstd::span<const ReadyFilter> ready_filters() noexcept {\n"
      "  return kAll;\n}\n\n}  // namespace bawn::sandbox");
  return std::ferror(stdout) != 0 || std::fflush(stdout) != 0 ? 1 : 0;
}
