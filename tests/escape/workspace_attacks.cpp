// What would run later on the host: hooks, configurations, tasks. What does not exist at the start
// is not held but reported (protected_changed), which tests/integration shows.
#include "attacks.hpp"

namespace bawn::test {

using namespace errnos;

std::vector<Attack> workspace_attacks() {
  const auto append = [](const char* name) {
    return std::string("write_to(WS + '/") + name + "', os.O_APPEND | os.O_WRONLY)";
  };
  return {
      {"W01_WriteAGitHook", "write_to(WS + '/.git/hooks/pre-commit', os.O_CREAT | os.O_WRONLY)",
       kWrite, kNeedsNamespaces},
      {"W02_ChangeTheGitConfig", append(".git/config"), kWrite, kNeedsNamespaces},
      {"W02_ChangeTheGitConfigByGit",
       "run = subprocess.run(['git', '-C', WS, 'config', 'core.fsmonitor', 'x'])\n"
       "run.returncode == 0 or held('refused')",
       {"refused"},
       kNeedsNamespaces},
      {"W03_MoveTheGitDirectoryAway",
       "os.rename(WS + '/.git', WS + '/old')",
       {"EBUSY", "EACCES", "EXDEV"},
       kNeedsNamespaces},
      {"W03_MoveTheHooksAway",
       "os.rename(WS + '/.git/hooks', WS + '/hooks'); os.mkdir(WS + '/.git/hooks')",
       {"EBUSY", "EACCES", "EXDEV", "EROFS"},
       kNeedsNamespaces},
      {"W03_ReplaceTheGitConfig",
       "open(WS + '/mine', 'w').close(); os.rename(WS + '/mine', WS + '/.git/config')",
       {"EBUSY", "EACCES", "EXDEV", "EROFS"},
       kNeedsNamespaces},
      {"W04_ChangeAnEditorsTasks", append(".vscode/tasks.json"), kWrite, kNeedsNamespaces},
      {"W05_WriteAnEnvrc", append(".envrc"), kWrite, kNeedsNamespaces},
      {"W05_WriteAShellsStartFile", append(".bashrc"), kWrite, kNeedsNamespaces},
      {"W06_AddAToolServer", append(".mcp.json"), kWrite, kNeedsNamespaces},
      {"W06_ChangeAnAgentsSettings", append(".claude/settings.json"), kWrite, kNeedsNamespaces},
      {"W06_ChangeAnotherAgentsSettings", append(".codex/config.toml"), kWrite, kNeedsNamespaces},
      {"W08_WriteAHookThroughAnAlias",
       "os.symlink('.git', WS + '/alias')\n"
       "write_to(WS + '/alias/hooks/pre-commit', os.O_CREAT | os.O_WRONLY)",
       kWrite, kNeedsNamespaces},
  };
}

}  // namespace bawn::test
