#include "bpf_evaluator.hpp"

#include <linux/filter.h>

#include <array>
#include <cstring>

namespace bawn::test {
namespace {

std::optional<std::uint32_t> load(const seccomp_data& data, std::uint32_t offset) {
  if (offset % 4 != 0 || offset + 4 > sizeof data) {
    return std::nullopt;
  }
  std::uint32_t word = 0;
  std::memcpy(&word, reinterpret_cast<const char*>(&data) + offset, sizeof word);
  return word;
}

struct Machine {
  std::uint32_t accumulator = 0;
  std::array<std::uint32_t, BPF_MEMWORDS> memory{};
};

std::optional<bool> compare(std::uint16_t operation, std::uint32_t left, std::uint32_t right) {
  switch (operation) {
    case BPF_JEQ:
      return left == right;
    case BPF_JGT:
      return left > right;
    case BPF_JGE:
      return left >= right;
    case BPF_JSET:
      return (left & right) != 0;
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<std::uint32_t> evaluate(const std::vector<sandbox::BpfInstruction>& program,
                                      const seccomp_data& data) {
  Machine machine;
  for (std::size_t at = 0; at < program.size(); ++at) {
    const sandbox::BpfInstruction& step = program[at];
    const auto operation = static_cast<std::uint16_t>(BPF_OP(step.code));
    switch (BPF_CLASS(step.code)) {
      case BPF_LD: {
        if (BPF_MODE(step.code) == BPF_MEM && step.k < BPF_MEMWORDS) {
          machine.accumulator = machine.memory[step.k];
          break;
        }
        const auto word = BPF_MODE(step.code) == BPF_ABS ? load(data, step.k) : std::nullopt;
        if (!word) {
          return std::nullopt;
        }
        machine.accumulator = *word;
        break;
      }
      case BPF_ST:
        if (step.k >= BPF_MEMWORDS) {
          return std::nullopt;
        }
        machine.memory[step.k] = machine.accumulator;
        break;
      case BPF_ALU:
        if (operation != BPF_AND || BPF_SRC(step.code) != BPF_K) {
          return std::nullopt;
        }
        machine.accumulator &= step.k;
        break;
      case BPF_JMP: {
        if (operation == BPF_JA) {
          at += step.k;
          break;
        }
        const auto taken = compare(operation, machine.accumulator, step.k);
        if (!taken) {
          return std::nullopt;
        }
        at += *taken ? step.jt : step.jf;
        break;
      }
      case BPF_RET:
        return step.k;
      default:
        return std::nullopt;
    }
  }
  return std::nullopt;
}

}  // namespace bawn::test
