// Typing into terminals, and writing to those of others.
#include "attacks.hpp"

namespace bawn::test {

using namespace errnos;

std::vector<Attack> terminal_attacks() {
  // A terminal of its own as the controlling one, where typing would be allowed.
  const std::string own_terminal = R"(
main, end = os.openpty()
if os.fork():
    status = os.waitpid(-1, 0)[1]
    if status:
        raise OSError(os.waitstatus_to_exitcode(status), 'denied')
else:
    try:
        os.setsid()
        fcntl.ioctl(end, 0x540e, 0)
        CALL
        os._exit(0)
    except OSError as error:
        os._exit(error.errno))";
  const auto with = [&](std::string_view call) {
    std::string code = own_terminal;
    code.replace(code.find("CALL"), 4, call);
    return code;
  };
  return {
      {"T01_TypeIntoTheTerminal", with("fcntl.ioctl(end, 0x5412, b'x')"), {"EPERM"}, kMayBeAbsent},
      {"T02_TypeWithHighBitsInTheCommand",
       with("call('ioctl', end, 0x100005412, b'x')"),
       {"EPERM"},
       kMayBeAbsent},
      // Outside, the driver of a terminal that is no console says that it knows no such command.
      {"T03_PasteIntoAConsole",
       with("reaches([errno.ENOTTY], 'ioctl', end, 0x541c, b'\\6')"),
       {"EPERM"}},
      {"LoadALineDiscipline", with("call('ioctl', end, 0x5423, struct.pack('i', 0))"), {"EPERM"}},
      {"T04_WriteToAnotherTerminal",
       "write_to(TERMINAL)",
       {"ENOENT", "EACCES", "EPERM", "EIO"},
       kNeedsNamespaces},
  };
}

}  // namespace bawn::test
