#include "seccomp_rules.hpp"

#include "kernel_abi.hpp"

#include <fcntl.h>
#include <linux/btrfs.h>
#include <linux/fs.h>
#include <linux/fsverity.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <initializer_list>
#include <string_view>
#include <utility>

namespace bawn::sandbox {
namespace {

using Kind = ArgTest::Kind;

constexpr std::uint64_t kLow32 = 0xffffffff;

ArgTest has_bits(unsigned int index, std::uint64_t bits) {
  return {index, Kind::MaskedEqual, bits, bits};
}

/// The kernel looks at the low half of a 32-bit argument only, so the filter must as well: bits
/// above would slip past a full compare (CVE-2019-10063).
ArgTest low_half(unsigned int index, std::uint64_t value) {
  return {index, Kind::MaskedEqual, value, kLow32};
}

ArgTest not_equal(unsigned int index, std::uint64_t value) {
  return {index, Kind::NotEqual, value, 0};
}

/// Numbers of calls that libseccomp 2.5 may not know by name. From 424 on a call has one number on
/// every architecture.
constexpr std::array kNewCalls = std::to_array<std::pair<std::string_view, int>>({
    {"io_uring_setup", 425},
    {"io_uring_enter", 426},
    {"io_uring_register", 427},
    {"open_tree", 428},
    {"move_mount", 429},
    {"fsopen", 430},
    {"fsconfig", 431},
    {"fsmount", 432},
    {"fspick", 433},
    {"clone3", 435},
    {"pidfd_getfd", 438},
    {"process_madvise", 440},
    {"mount_setattr", 442},
    {"quotactl_fd", 443},
    {"fchmodat2", 452},
    {"lsm_get_self_attr", 459},
    {"lsm_set_self_attr", 460},
    {"lsm_list_modules", 461},
    {"setxattrat", 463},
    {"removexattrat", 466},
    {"open_tree_attr", 467},
    {"file_setattr", 469},
});

int new_number(std::string_view name) {
  const auto* const found =
      std::ranges::find(kNewCalls, name, &std::pair<std::string_view, int>::first);
  return found == kNewCalls.end() ? -1 : found->second;
}

class Table {
 public:
  void refuse(std::initializer_list<const char*> names, int error, const char* reason,
              When when = When::Always) {
    for (const char* name : names) {
      rules_.push_back({name, new_number(name), error, when, {}, reason});
    }
  }
  void refuse_if(const char* name, std::vector<ArgTest> tests, int error, const char* reason,
                 When when = When::Always) {
    rules_.push_back({name, new_number(name), error, when, std::move(tests), reason});
  }
  std::vector<SeccompRule> take() { return std::move(rules_); }

 private:
  std::vector<SeccompRule> rules_;
};

void add_mounts_and_namespaces(Table& table) {
  table.refuse({"mount", "umount2", "pivot_root", "chroot", "open_tree", "move_mount", "fsopen",
                "fsconfig", "fsmount", "fspick", "mount_setattr", "open_tree_attr"},
               EPERM, "would take the masks and read-only mounts apart");
  table.refuse({"setns"}, EPERM, "enters the namespaces of another process");
  // glibc, Go and others fall back to clone, whose flags can be seen; clone3's are behind a
  // pointer.
  table.refuse({"clone3"}, ENOSYS, "its flags are behind a pointer");
  for (const std::uint64_t flag : {abi::kNewMount, abi::kNewCgroup, abi::kNewUts, abi::kNewIpc,
                                   abi::kNewUser, abi::kNewPid, abi::kNewNet}) {
    const char* const reason = "a new namespace brings capabilities and kernel surface";
    table.refuse_if("clone", {has_bits(0, flag)}, EPERM, reason);
    table.refuse_if("unshare", {has_bits(0, flag)}, EPERM, reason);
  }
  // In clone(2) this bit is part of the exit signal.
  table.refuse_if("unshare", {has_bits(0, abi::kNewTime)}, EPERM, "a new time namespace");
}

void add_kernel_surface(Table& table) {
  table.refuse({"io_uring_setup", "io_uring_enter", "io_uring_register"}, ENOSYS,
               "does system calls that no filter sees; programs fall back on ENOSYS");
  table.refuse({"bpf", "perf_event_open", "userfaultfd"}, EPERM,
               "large kernel surface, often the base of exploits");
  table.refuse({"keyctl", "add_key", "request_key"}, EPERM,
               "keyrings belong to no namespace: the host's keys could be read");
  table.refuse({"kexec_load", "kexec_file_load", "init_module", "finit_module", "delete_module",
                "reboot", "swapon", "swapoff", "acct", "quotactl", "quotactl_fd", "syslog", "iopl",
                "ioperm", "modify_ldt", "vhangup"},
               EPERM, "administers the machine");
  table.refuse({"settimeofday", "clock_settime", "sethostname", "setdomainname"}, EPERM,
               "clock and names of the machine");
  table.refuse({"lookup_dcookie", "ustat", "sysfs", "uselib", "nfsservctl"}, EPERM,
               "obsolete and hardly tested");
  table.refuse({"fanotify_init"}, EPERM, "watches whole file systems of the host");
  table.refuse({"open_by_handle_at", "name_to_handle_at"}, EPERM,
               "opens files past every path check");
  table.refuse({"move_pages", "migrate_pages", "kcmp", "pidfd_getfd", "process_madvise"}, EPERM,
               "acts on other processes");
  table.refuse({"lsm_get_self_attr", "lsm_set_self_attr", "lsm_list_modules"}, EPERM,
               "asks and sets security modules");
  table.refuse_if("personality", {has_bits(0, 0x400000)}, EPERM,
                  "READ_IMPLIES_EXEC makes data executable");
}

void add_marks_on_files(Table& table) {
  for (const std::uint64_t bit : {std::uint64_t{S_ISUID}, std::uint64_t{S_ISGID}}) {
    const char* const reason = "a setuid or setgid file would serve other users of the host";
    table.refuse_if("chmod", {has_bits(1, bit)}, EPERM, reason);
    table.refuse_if("fchmod", {has_bits(1, bit)}, EPERM, reason);
    table.refuse_if("fchmodat", {has_bits(2, bit)}, EPERM, reason);
    table.refuse_if("fchmodat2", {has_bits(2, bit)}, EPERM, reason);
    table.refuse_if("creat", {has_bits(1, bit)}, EPERM, reason);
    table.refuse_if("mknod", {has_bits(1, bit)}, EPERM, reason);
    table.refuse_if("mknodat", {has_bits(2, bit)}, EPERM, reason);
    // The mode counts only with O_CREAT or O_TMPFILE; without them the register may hold anything.
    for (const std::uint64_t flag : {std::uint64_t{O_CREAT}, std::uint64_t{__O_TMPFILE}}) {
      table.refuse_if("open", {has_bits(1, flag), has_bits(2, bit)}, EPERM, reason);
      table.refuse_if("openat", {has_bits(2, flag), has_bits(3, bit)}, EPERM, reason);
    }
  }
  // EOPNOTSUPP as from a file system without attributes: cp -a and install go on without them.
  table.refuse({"setxattr", "lsetxattr", "fsetxattr", "removexattr", "lremovexattr", "fremovexattr",
                "setxattrat", "removexattrat", "file_setattr"},
               EOPNOTSUPP, "file capabilities and access lists would outlive the session");
  for (const std::uint64_t command :
       {FS_IOC_SETFLAGS, FS_IOC32_SETFLAGS, FS_IOC_FSSETXATTR, FS_IOC_SETVERSION,
        FS_IOC32_SETVERSION, FS_IOC_ENABLE_VERITY, FS_IOC_SET_ENCRYPTION_POLICY}) {
    table.refuse_if("ioctl", {low_half(1, command)}, EPERM,
                    "file flags can be set through a descriptor opened for reading");
  }
  table.refuse_if("fcntl", {low_half(1, F_SETLEASE)}, EPERM,
                  "who opens a file of the host would have to wait until the lease is given up");
  for (const std::uint64_t command :
       {BTRFS_IOC_SNAP_CREATE, BTRFS_IOC_SNAP_CREATE_V2, BTRFS_IOC_SUBVOL_CREATE,
        BTRFS_IOC_SUBVOL_CREATE_V2, BTRFS_IOC_SNAP_DESTROY, BTRFS_IOC_SNAP_DESTROY_V2,
        BTRFS_IOC_SUBVOL_SETFLAGS, BTRFS_IOC_SET_RECEIVED_SUBVOL}) {
    table.refuse_if(
        "ioctl", {low_half(1, command)}, EPERM,
        "subvolumes come and go through a descriptor opened for reading, past Landlock");
  }
}

void add_terminals(Table& table) {
  table.refuse_if("ioctl", {low_half(1, TIOCSTI)}, EPERM, "TIOCSTI types into a terminal");
  table.refuse_if("ioctl", {low_half(1, TIOCLINUX)}, EPERM, "TIOCLINUX pastes into a console");
  table.refuse_if("ioctl", {low_half(1, TIOCSETD)}, EPERM, "TIOCSETD loads line disciplines");
}

void add_other_processes(Table& table) {
  const char* const reason = "without a PID namespace it reaches processes of the host";
  const When when = When::NoPidNamespace;
  table.refuse_if("prlimit64", {not_equal(0, 0), not_equal(2, 0)}, EPERM, reason, when);
  table.refuse_if("setpriority", {not_equal(1, 0)}, EPERM, reason, when);
  table.refuse_if("ioprio_set", {not_equal(1, 0)}, EPERM, reason, when);
  for (const char* name :
       {"sched_setaffinity", "sched_setscheduler", "sched_setparam", "sched_setattr"}) {
    table.refuse_if(name, {not_equal(0, 0)}, EPERM, reason, when);
  }
  table.refuse({"shmget", "shmat", "shmctl", "semget", "semop", "semtimedop", "semctl", "msgget",
                "msgsnd", "msgrcv", "msgctl", "mq_open", "mq_unlink"},
               EPERM, "without an IPC namespace these objects are the host's",
               When::NoIpcNamespace);
}

void add_socket_families(Table& table) {
  table.refuse({"socket"}, EPERM,
               "without a network namespace, and with the host's Unix sockets in reach, no socket",
               When::SocketsWhole);
  table.refuse_if("socket", {ArgTest{0, Kind::Greater, AF_UNIX, 0}}, EAFNOSUPPORT,
                  "the network is closed", When::SocketsUnixOnly);
  table.refuse_if("socket", {ArgTest{0, Kind::Equal, AF_UNIX, 0}}, EAFNOSUPPORT,
                  "would reach container engines and key agents by their paths",
                  When::SocketsInsideNoUnix);
  // 64-bit compare on purpose: a family with bits above the low half is refused here as well.
  const When inside = When::SocketsInside;
  table.refuse_if("socket", {ArgTest{0, Kind::Greater, AF_NETLINK, 0}}, EAFNOSUPPORT,
                  "packet, vsock, Bluetooth, kernel crypto and the like belong to no namespace",
                  inside);
  for (std::uint64_t family = AF_INET + 1; family < AF_NETLINK; ++family) {
    if (family != AF_INET6) {
      table.refuse_if("socket", {ArgTest{0, Kind::Equal, family, 0}}, EAFNOSUPPORT,
                      "a protocol of its own that no tool here needs", inside);
    }
  }
  table.refuse_if("socket", {ArgTest{0, Kind::Equal, AF_NETLINK, 0}, not_equal(2, 0)}, EAFNOSUPPORT,
                  "of netlink only routing, which getifaddrs needs", inside);
}

void add_socket_types(Table& table) {
  const When inside = When::SocketsInside;
  for (const std::uint64_t family : {std::uint64_t{AF_INET}, std::uint64_t{AF_INET6}}) {
    const ArgTest is_family{0, Kind::Equal, family, 0};
    for (const std::uint64_t type : {SOCK_RAW, SOCK_SEQPACKET, SOCK_DCCP, SOCK_PACKET}) {
      table.refuse_if("socket", {is_family, ArgTest{1, Kind::MaskedEqual, type, 0xf}}, EPERM,
                      "raw packets, SCTP, DCCP", inside);
    }
    for (const std::uint64_t protocol : {33ULL, 132ULL, 255ULL, 262ULL}) {
      table.refuse_if("socket", {is_family, low_half(2, protocol)}, EPROTONOSUPPORT,
                      "DCCP, SCTP, raw and Multipath TCP: rules for TCP do not see them", inside);
    }
  }
  for (const std::uint64_t type : {SOCK_DGRAM, SOCK_RAW}) {
    table.refuse_if("socketpair", {ArgTest{1, Kind::MaskedEqual, type, 0xf}}, EPERM,
                    "one end of a datagram pair can send to any socket path of the host",
                    When::HostSocketsReachable);
  }
}

/// What connects without connect(2), or connects later than it.
void add_supervised_sockets(Table& table) {
  constexpr std::uint64_t kFastOpen = 0x20000000;  // MSG_FASTOPEN
  const char* const reason = "a connection without connect(2), which alone is judged";
  const When supervised = When::Supervised;
  table.refuse_if("sendto", {has_bits(3, kFastOpen)}, EOPNOTSUPP, reason, supervised);
  table.refuse_if("sendmsg", {has_bits(2, kFastOpen)}, EOPNOTSUPP, reason, supervised);
  table.refuse_if("sendmmsg", {has_bits(3, kFastOpen)}, EOPNOTSUPP, reason, supervised);
  table.refuse_if("setsockopt", {low_half(1, IPPROTO_TCP), low_half(2, TCP_FASTOPEN_CONNECT)},
                  EOPNOTSUPP, "connects when it first sends", supervised);
  table.refuse_if("setsockopt", {low_half(1, IPPROTO_TCP), low_half(2, TCP_REPAIR)}, EPERM,
                  "makes a connection by hand", supervised);
  for (const std::uint64_t family : {std::uint64_t{AF_INET}, std::uint64_t{AF_INET6}}) {
    table.refuse_if(
        "socket",
        {ArgTest{0, Kind::Equal, family, 0}, ArgTest{1, Kind::MaskedEqual, SOCK_DGRAM, 0xf}}, EPERM,
        "without a network namespace UDP would reach everything", When::SupervisedInside);
  }
}

std::vector<SeccompRule> make_rules() {
  Table table;
  add_mounts_and_namespaces(table);
  add_kernel_surface(table);
  add_marks_on_files(table);
  add_terminals(table);
  add_other_processes(table);
  add_socket_families(table);
  add_socket_types(table);
  add_supervised_sockets(table);
  return table.take();
}

}  // namespace

const std::vector<SeccompRule>& seccomp_rules() {
  static const std::vector<SeccompRule> rules = make_rules();
  return rules;
}

namespace {

bool holds(When when, const Policy& policy, const SeccompSituation& situation) noexcept {
  const bool choose_by_family =
      policy.network == Network::Full || situation.network_namespace || situation.sockets_inside;
  switch (when) {
    case When::Always:
      return true;
    case When::NoPidNamespace:
      return !situation.pid_namespace;
    case When::NoIpcNamespace:
      return !situation.ipc_namespace;
    case When::SocketsWhole:
      return !choose_by_family && !situation.host_sockets_hidden;
    case When::SocketsUnixOnly:
      return !choose_by_family && situation.host_sockets_hidden;
    case When::SocketsInside:
      return choose_by_family;
    case When::SocketsInsideNoUnix:
      return choose_by_family && !situation.host_sockets_hidden;
    case When::Supervised:
      return situation.supervised;
    case When::SupervisedInside:
      return situation.sockets_inside;
    case When::HostSocketsReachable:
      return !situation.host_sockets_hidden;
  }
  return true;
}

}  // namespace

std::uint32_t conditions_of(const Policy& policy, const SeccompSituation& situation) noexcept {
  std::uint32_t conditions = 0;
  // Bits without a `When` are always set: the same key for every plan.
  for (unsigned int bit = 0; bit < 32; ++bit) {
    conditions |= holds(static_cast<When>(bit), policy, situation) ? 1U << bit : 0U;
  }
  return conditions;
}

bool applies(const SeccompRule& rule, std::uint32_t conditions) noexcept {
  return ((conditions >> static_cast<unsigned int>(rule.when)) & 1U) != 0;
}

}  // namespace bawn::sandbox
