/// \file
/// Runs a classic BPF program on a system call's data, as the kernel would, without the kernel.
#pragma once

#include "bawn/sandbox/plan.hpp"

#include <linux/seccomp.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace bawn::test {

/// The program's return value; none when it leaves its bounds, jumps outside or uses an instruction
/// that seccomp programs do not have.
std::optional<std::uint32_t> evaluate(const std::vector<sandbox::BpfInstruction>& program,
                                      const seccomp_data& data);

}  // namespace bawn::test
