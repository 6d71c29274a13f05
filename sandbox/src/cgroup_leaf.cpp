#include "cgroup_leaf.hpp"

#include "bawn/os/process_identity.hpp"
#include "cgroup_plan.hpp"
#include "small_file.hpp"

#include <fmt/format.h>

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <mutex>

namespace bawn::sandbox {
namespace {

Error failed(const char* call, const std::string& path) {
  const Error cause = Error::from_errno(
      errno, call, fmt::format("the session's cgroup cannot be made: {} {}", call, path));
  return {ErrorCode::Unsupported, cause.message()};
}

/// Errors: Unsupported.
Result<> write_word(const std::string& path, std::string_view word) {
  const os::UniqueFd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file.is_open() ||
      ::write(file.get(), word.data(), word.size()) != static_cast<ssize_t>(word.size())) {
    return std::unexpected(failed("write", path));
  }
  return {};
}

/// With the namespace that process numbers are of: those of another mean nothing here.
std::string own_prefix() {
  struct stat status{};
  return fmt::format("bawn-{}-",
                     ::stat("/proc/self/ns/pid", &status) == 0 ? status.st_ino : ino_t{0});
}

/// bawn-NAMESPACE-PID-START-COUNT: whose it is can be told without any other record.
Result<std::string> next_name() {
  static std::atomic<std::uint32_t> count = 0;
  return fmt::format("{}{}-{}", own_prefix(), os::to_string(BAWN_TRY(os::own_identity())), count++);
}

/// True for a name of next_name() whose process is gone.
bool is_left_over(std::string_view name) {
  const std::string prefix = own_prefix();
  if (!name.starts_with(prefix)) {
    return false;
  }
  name.remove_prefix(prefix.size());
  const auto maker = os::take_identity(name);
  return maker && name.starts_with('-') && os::has_ended(*maker);
}

bool is_given_on(const std::string& parent, const std::string& controller) {
  const std::string given =
      fmt::format(" {} ", read_small_file((parent + "/cgroup.subtree_control").c_str()));
  return given.find(fmt::format(" {} ", controller)) != std::string::npos ||
         given.find(fmt::format(" {}\n", controller)) != std::string::npos;
}

/// "No internal processes" (cgroups(7)): the only process of the delegated cgroup, this one, goes a
/// step down before the cgroup's controllers are given on.
Result<> move_down(const std::string& parent) {
  const std::string self = std::to_string(::getpid());
  if (::access((parent + "/cgroup.type").c_str(), F_OK) != 0 ||
      read_small_file((parent + "/cgroup.procs").c_str()) != self + "\n") {
    return {};
  }
  const std::string server = fmt::format("{}/{}", parent, kServerCgroup);
  if (::mkdir(server.c_str(), 0755) != 0 && errno != EEXIST) {
    return std::unexpected(failed("mkdir", server));
  }
  return write_word(server + "/cgroup.procs", self);
}

Result<> give_on(const CgroupPlan& plan) {
  for (const std::string& controller : plan.controllers) {
    if (is_given_on(plan.parent, controller)) {
      continue;
    }
    BAWN_TRY(move_down(plan.parent));
    BAWN_TRY(write_word(plan.parent + "/cgroup.subtree_control", "+" + controller));
  }
  return {};
}

/// The kernel may round down to pages; "max" would be no limit at all.
bool says_as_much(const std::string& wanted, const std::string& text) {
  std::uint64_t wish = 0;
  std::uint64_t now = 0;
  std::from_chars(wanted.data(), wanted.data() + wanted.size(), wish);
  const auto read = std::from_chars(text.data(), text.data() + text.size(), now);
  return read.ec == std::errc() && now <= wish;
}

Result<> set_limits(const CgroupPlan& plan, const std::string& path) {
  for (const CgroupPlan::Setting& setting : plan.settings) {
    const std::string file = fmt::format("{}/{}", path, setting.file);
    if (setting.file == kSwapLimit && ::access(file.c_str(), F_OK) != 0) {
      continue;
    }
    BAWN_TRY(write_word(file, setting.value));
    if (!says_as_much(setting.value, read_small_file(file.c_str()))) {
      return contract::fail(ErrorCode::Unsupported,
                            fmt::format("{} does not keep the limit {}", file, setting.value));
    }
  }
  return {};
}

void write_kill(const std::string& path) noexcept {
  const os::UniqueFd file(::open((path + "/cgroup.kill").c_str(), O_WRONLY | O_CLOEXEC));
  (void)!::write(file.get(), "1", 1);
}

/// Waits for the kernel's word that nothing lives in it (it wakes who polls cgroup.events).
void await_empty(const std::string& path) {
  constexpr int kLimitMs = 1000;
  const os::UniqueFd events(::open((path + "/cgroup.events").c_str(), O_RDONLY | O_CLOEXEC));
  char text[256];
  ssize_t length = 0;
  while ((length = ::pread(events.get(), text, sizeof text - 1, 0)) > 0) {
    text[length] = '\0';
    pollfd changed{events.get(), POLLPRI, 0};
    if (std::strstr(text, "populated 1") == nullptr || ::poll(&changed, 1, kLimitMs) <= 0) {
      return;
    }
  }
}

void end_and_remove(const std::string& path) {
  if (::rmdir(path.c_str()) == 0 || errno != EBUSY) {
    return;
  }
  write_kill(path);
  await_empty(path);
  (void)::rmdir(path.c_str());
}

}  // namespace

int sweep_cgroups(const std::string& parent) {
  int swept = 0;
  DIR* const directory = ::opendir(parent.c_str());
  while (const dirent* const entry = directory != nullptr ? ::readdir(directory) : nullptr) {
    if (is_left_over(entry->d_name)) {
      end_and_remove(fmt::format("{}/{}", parent, entry->d_name));
      ++swept;
    }
  }
  if (directory != nullptr) {
    ::closedir(directory);
  }
  return swept;
}

Result<std::shared_ptr<CgroupLeaf>> CgroupLeaf::make(const CgroupPlan& plan) {
  static std::mutex one_at_a_time;
  static std::string swept;
  const std::scoped_lock lock(one_at_a_time);
  if (swept != plan.parent) {
    (void)sweep_cgroups(plan.parent);
    swept = plan.parent;
  }
  BAWN_TRY(give_on(plan));
  auto leaf =
      std::make_shared<CgroupLeaf>(fmt::format("{}/{}", plan.parent, BAWN_TRY(next_name())));
  if (::mkdir(leaf->path_.c_str(), 0755) != 0) {
    return std::unexpected(failed("mkdir", leaf->path_));
  }
  leaf->directory_.reset(::open(leaf->path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!leaf->directory_.is_open()) {
    return std::unexpected(failed("open", leaf->path_));
  }
  BAWN_TRY(set_limits(plan, leaf->path_));
  return leaf;
}

CgroupLeaf::~CgroupLeaf() {
  end_and_remove(path_);
}

void CgroupLeaf::kill() const noexcept {
  write_kill(path_);
}

bool CgroupLeaf::holds(int pid) const {
  const std::string all = read_small_file(fmt::format("/proc/{}/cgroup", pid).c_str());
  const std::string name = path_.substr(path_.rfind('/'));
  const std::size_t start = all.starts_with("0::") ? 0 : all.find("\n0::");
  const std::size_t end = all.find('\n', start == 0 ? 0 : start + 1);
  return start != std::string::npos && std::string_view(all).substr(0, end).ends_with(name);
}

}  // namespace bawn::sandbox
