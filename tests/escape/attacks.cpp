#include "attacks.hpp"

namespace bawn::test {

std::vector<Attack> attacks() {
  std::vector<Attack> all;
  for (const auto& some : {file_attacks(), attribute_attacks(), mount_attacks(), secret_attacks(),
                           process_attacks(), ipc_attacks(), network_attacks(), terminal_attacks(),
                           workspace_attacks(), limit_attacks(), kernel_attacks()}) {
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

}  // namespace bawn::test
