// An engine on another machine, reached over ssh: the engine's own command line brings the
// transport. Here the other machine is this one, behind an sshd for each connection.
#include "bawn/os/spawn.hpp"
#include "joined_place.hpp"

#include <gmock/gmock.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pwd.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <fstream>
#include <thread>

namespace bawn::test {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

constexpr const char* kSshd = "/usr/sbin/sshd";

/// Answers each connection to a port of the loopback with an sshd of its own, in inetd mode.
class SshServer {
 public:
  explicit SshServer(std::vector<std::string> arguments) : arguments_(std::move(arguments)) {
    listener_.reset(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const plain = reinterpret_cast<sockaddr*>(&address);
    if (::bind(listener_.get(), plain, size) == 0 && ::listen(listener_.get(), 64) == 0 &&
        ::getsockname(listener_.get(), plain, &size) == 0) {
      port = ntohs(address.sin_port);
      thread_ = std::thread([this] { serve(); });
    }
  }
  ~SshServer() {
    ::shutdown(listener_.get(), SHUT_RDWR);
    if (thread_.joinable()) {
      thread_.join();
    }
    for (const os::Pidfd& one : connections_) {
      (void)one.signal(SIGKILL);
      one.wait();
    }
  }
  SshServer(const SshServer&) = delete;
  SshServer& operator=(const SshServer&) = delete;

  int port = 0;

 private:
  void serve() {
    for (;;) {
      const os::UniqueFd client(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!client.is_open()) {
        return;
      }
      os::SpawnOptions run;
      run.program = kSshd;
      run.argv = arguments_;
      run.fds = {{client.get(), 0}, {client.get(), 1}};
      if (auto started = os::spawn(run)) {
        connections_.push_back(*std::move(started));
      }
    }
  }

  std::vector<std::string> arguments_;
  os::UniqueFd listener_;
  std::vector<os::Pidfd> connections_;
  std::thread thread_;
};

class SshPlaceTest : public JoinedPlaceTest {
 protected:
  void SetUp() override {
    if (::access(kSshd, X_OK) != 0) {
      GTEST_SKIP() << "needs sshd: " << kSshd << " is not there (Debian: openssh-server)";
    }
    const passwd* const user = ::getpwuid(::geteuid());  // NOLINT(concurrency-mt-unsafe)
    if (user == nullptr) {
      GTEST_SKIP() << "needs a user whom sshd knows";
    }
    ASSERT_NO_FATAL_FAILURE(JoinedPlaceTest::SetUp());
    if (IsSkipped()) {
      return;
    }
    ASSERT_NO_FATAL_FAILURE(start_sshd());
    const std::string who =
        "ssh://" + std::string(user->pw_name) + "@127.0.0.1:" + std::to_string(server_->port);
    std::vector<std::string> environment;
    if (engine_under_test().kind == "docker") {
      environment = {"PATH=" + lab("bin"), "HOME=" + lab(""), "DOCKER_HOST=" + who};
    } else {
      ASSERT_NO_FATAL_FAILURE(start_service());
      environment = engine_environment().variables;
      std::erase_if(environment, [](const auto& entry) { return entry.starts_with("HOME="); });
      environment.insert(environment.end(), {"HOME=" + lab(""), "CONTAINER_SSHKEY=" + lab("key"),
                                             "CONTAINER_HOST=" + who + lab("podman.sock")});
    }
    ASSERT_NO_FATAL_FAILURE(find(environment));
  }
  void TearDown() override {
    JoinedPlaceTest::TearDown();
    setup_.engine.reset();
    server_.reset();
    if (service_.is_open()) {
      (void)service_.signal(SIGKILL);
      service_.wait();
    }
  }

  /// One of the files of both sides.
  std::string lab(const std::string& name) const { return (lab_.path() / name).string(); }
  void write(const std::string& name, const std::string& text, mode_t mode) const {
    std::ofstream(lab(name)) << text;
    ASSERT_EQ(::chmod(lab(name).c_str(), mode), 0);
  }
  static std::string read(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static std::string variable(const std::string& name) {
    for (const std::string& entry : engine_environment().variables) {
      if (entry.starts_with(name + "=")) {
        return entry.substr(name.size() + 1);
      }
    }
    return {};
  }

  void start_sshd() {
    for (const char* const name : {"host", "key"}) {
      const auto made = run_program(
          {.argv = {"/usr/bin/ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", lab(name)}});
      ASSERT_EQ(made.exit_code, 0) << made.err;
    }
    fs::create_directory("/run/sshd", ignored_);
    write("authorized", read(lab("key.pub")), 0600);
    std::string config = "HostKey " + lab("host") + "\nAuthorizedKeysFile " + lab("authorized") +
                         "\nUsePAM no\nStrictModes no\nPasswordAuthentication no\n"
                         "PermitRootLogin prohibit-password\nPidFile none\n"
                         "SetEnv PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
    if (engine_under_test().kind == "docker") {
      config += " DOCKER_HOST=" + variable("DOCKER_HOST");
    }
    write("sshd_config", config + "\n", 0600);
    server_ = std::make_unique<SshServer>(
        std::vector<std::string>{kSshd, "-i", "-f", lab("sshd_config"), "-E", lab("log")});
    ASSERT_NE(server_->port, 0);
    const std::string host_key = read(lab("host.pub"));
    fs::create_directory(lab(".ssh"));
    write(".ssh/known_hosts", "[127.0.0.1]:" + std::to_string(server_->port) + " " + host_key,
          0600);
    fs::create_directory(lab("bin"));
    // Docker's command starts the first ssh in PATH, which takes its settings from the account.
    write("config",
          "Host *\n  IdentityFile " + lab("key") + "\n  IdentitiesOnly yes\n  UserKnownHostsFile " +
              lab(".ssh/known_hosts") + "\n  StrictHostKeyChecking yes\n",
          0600);
    write("bin/ssh", "#!/bin/sh\nexec /usr/bin/ssh -F " + lab("config") + " \"$@\"\n", 0755);
    fs::create_symlink(setup_.engine->address().command, lab("bin/docker"));
  }
  void start_service() {
    os::SpawnOptions run;
    run.program = setup_.engine->address().command;
    run.argv = {run.program, "system", "service", "--time=0", "unix://" + lab("podman.sock")};
    run.env = engine_environment().variables;
    auto started = os::spawn(run);
    ASSERT_TRUE(started) << started.error().message();
    service_ = *std::move(started);
  }
  void find(const std::vector<std::string>& environment) {
    auto addresses = container::find_engines(environment);
    ASSERT_FALSE(addresses.empty());
    ASSERT_NE(addresses.front().remote, "");
    auto engine = container::Engine::connect(contract::Context(), addresses.front(), environment);
    ASSERT_TRUE(engine) << engine.error().message();
    setup_.engine = *engine;
    // Podman's service takes its time to listen.
    const auto latest = std::chrono::steady_clock::now() + 1min;
    auto version = setup_.engine->version(contract::Context());
    while (!version && std::chrono::steady_clock::now() < latest) {
      version = setup_.engine->version(contract::Context());
    }
    ASSERT_TRUE(version) << version.error().message() << read(lab("log"));
    EXPECT_FALSE(version->shares_files);
    setup_.version = *version;
  }
  /// Kills the engine's commands but the service itself.
  int kill_clients() const {
    int killed = 0;
    for (const int pid : os::descendants(getpid())) {
      const auto words = os::read_proc_file("/proc/" + std::to_string(pid) + "/cmdline");
      if (words &&
          words->find("@127.0.0.1:" + std::to_string(server_->port)) != std::string::npos) {
        killed += ::kill(pid, SIGKILL) == 0 ? 1 : 0;
      }
    }
    return killed;
  }
  container::PlaceSpec remote_spec() const {
    auto wanted = spec();
    wanted.mounts.clear();
    return wanted;
  }
  bool goes(const std::string& name) const {
    const auto latest = std::chrono::steady_clock::now() + 1min;
    while (exists(name)) {
      if (std::chrono::steady_clock::now() > latest) {
        return false;
      }
    }
    return true;
  }

  TempDir lab_;
  std::error_code ignored_;
  std::unique_ptr<SshServer> server_;
  os::Pidfd service_;
};

TEST_F(SshPlaceTest, OpensRunsAndClosesAPlace) {
  ASSERT_NO_FATAL_FAILURE(open(remote_spec()));
  EXPECT_EQ(sh("cd /tmp; x=1; echo $IMAGE_SAYS").out.text, "hello\n");
  EXPECT_EQ(sh("echo $PWD $x").out.text, "/tmp 1\n");
  shell::ExecRequest request;
  request.argv = {"sh", "-c", "cat; exit 3"};
  request.input = "given";
  const auto result = session_->exec(contract::Context(), request);
  ASSERT_TRUE(result) << result.error().message();
  EXPECT_EQ(result->out.text, "given");
  EXPECT_EQ(result->exit_code, 3);
  EXPECT_EQ(session_->confinement().by, "container:" + place_->spec().name + "+landlock+seccomp");
  shell::BashRequest sleeping;
  sleeping.command = "sh -c 'sleep 5; touch /tmp/PROOF'";
  sleeping.timeout = 200ms;
  EXPECT_EQ(run(sleeping).reason, shell::Reason::Timeout);
  session_.reset();
  const std::string name = place_->spec().name;
  ASSERT_TRUE(place_->close(contract::Context()));
  EXPECT_FALSE(exists(name));
}

TEST_F(SshPlaceTest, AConnectionThatIsLostTakesTheContainerWithIt) {
  ASSERT_NO_FATAL_FAILURE(open(remote_spec()));
  EXPECT_EQ(sh("setsid sleep 600 & echo begun").out.text, "begun\n");
  ASSERT_GT(kill_clients(), 0);  // what the end of this process amounts to
  EXPECT_TRUE(goes(place_->spec().name));
}

TEST_F(SshPlaceTest, JoinsAContainerThatRunsThere) {
  ASSERT_NO_FATAL_FAILURE(start_theirs({}));
  ASSERT_NO_FATAL_FAILURE(open(joining()));
  EXPECT_EQ(sh("cat /proc/1/comm").out.text, "sleep\n");
}

}  // namespace
}  // namespace bawn::test
