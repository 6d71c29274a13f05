#include "bawn/os/unique_fd.hpp"
#include "bawn/sandbox/wall.hpp"
#include "floors.h"
#include "groups.hpp"

#include <fmt/format.h>

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <thread>

namespace bawn::bench {
namespace {

using contract::Error;
using contract::ErrorCode;
using contract::fail;
using contract::Result;

constexpr std::size_t kDownload = std::size_t{64} << 20U;

Result<> run_bare(const std::vector<std::string>& words) {
  std::vector<char*> argv;
  for (const std::string& word : words) {
    argv.push_back(const_cast<char*>(word.c_str()));  // posix_spawn's signature
  }
  argv.push_back(nullptr);
  const int errnum = floor_spawn(argv.data());
  return errnum == 0 ? Result<>()
                     : std::unexpected(Error::from_errno(errnum, "floor", words.front()));
}

struct Inside {
  std::shared_ptr<sandbox::Warden> warden;
  std::string workspace;
  std::vector<std::string> env;

  [[nodiscard]] Result<> run(const std::vector<std::string>& words) const {
    sandbox::SpawnSpec spec;
    spec.argv = words;
    spec.env = env;
    spec.cwd = workspace;
    const auto child = BAWN_TRY(warden->spawn(std::move(spec)));
    BAWN_TRY(child->go());
    const sandbox::ExitStatus status = BAWN_TRY(child->wait(contract::Context{}));
    return status.shell_code() == 0
               ? Result<>()
               : fail(ErrorCode::Internal, fmt::format("{} failed inside", words.front()));
  }
};

/// Answers every connection with so many zeroes, until its socket is shut down.
class Server {
 public:
  Server() : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const plain = reinterpret_cast<sockaddr*>(&address);
    if (::bind(listener_.get(), plain, size) == 0 && ::listen(listener_.get(), 4) == 0 &&
        ::getsockname(listener_.get(), plain, &size) == 0) {
      port_ = ntohs(address.sin_port);
      thread_ = std::thread([this] { serve(); });
    }
  }
  ~Server() {
    ::shutdown(listener_.get(), SHUT_RDWR);
    if (thread_.joinable()) {
      thread_.join();
    }
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  [[nodiscard]] int port() const { return port_; }

 private:
  void serve() const {
    const std::string head = fmt::format(
        "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", kDownload);
    const std::string part(std::size_t{256} << 10U, '\0');
    for (;;) {
      const os::UniqueFd client(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!client.is_open()) {
        return;
      }
      char request[4096];
      (void)!::read(client.get(), request, sizeof request);
      (void)!::write(client.get(), head.data(), head.size());
      std::size_t sent = 0;
      while (sent < kDownload) {
        const ssize_t size = ::write(client.get(), part.data(), part.size());
        if (size <= 0) {
          break;
        }
        sent += static_cast<std::size_t>(size);
      }
    }
  }
  os::UniqueFd listener_;
  int port_ = 0;
  std::thread thread_;
};

/// A pair of cases: outside, and inside beside it.
void add(std::vector<Case>& cases, const Result<Inside>& inside, const std::string& name,
         double target, const std::vector<std::string>& outside_words,
         const std::vector<std::string>& inside_words) {
  cases.push_back({.name = name + ", bare", .once = [outside_words] {
                     return timed([&] { return run_bare(outside_words); });
                   }});
  cases.push_back({.name = name + ", inside",
                   .once = [&inside, inside_words]() -> Result<Nanoseconds> {
                     if (!inside) {
                       return std::unexpected(inside.error());
                     }
                     return timed([&] { return inside->run(inside_words); });
                   },
                   .floor = name + ", bare",
                   .target = target});
}

Result<Inside> raise(const Setup& setup, int port) {
  sandbox::WallRequest request;
  request.policy = BAWN_TRY(sandbox::preset("workspace-net"));
  request.policy.hosts = {fmt::format("bench.test:{}", port)};
  request.policy.host_addresses = {{"bench.test", fmt::format("127.0.0.1:{}", port)}};
  request.workspace = setup.workspace;
  auto wall = BAWN_TRY(sandbox::raise_wall(request));
  Inside inside{.warden = wall.warden, .workspace = setup.workspace, .env = {}};
  inside.env = {"PATH=/usr/bin:/bin", "HOME=/tmp",
                fmt::format("http_proxy=http://127.0.0.1:{}", proxy_port(*wall.warden))};
  return inside;
}

bool has(const char* program) {
  return ::access(program, X_OK) == 0;
}

}  // namespace

std::vector<Row> wall_rows(const Setup& setup) {
  const Server server;
  const std::string file = setup.workspace + "/source.c";
  std::ofstream(file) << "#include <stdio.h>\nint main(void) { return puts(\"hello\"); }\n";
  // Below /tmp the build's folder is not visible inside.
  const std::string steady = setup.workspace + "/steady";
  std::filesystem::copy_file(setup.steady, steady,
                             std::filesystem::copy_options::overwrite_existing);
  const Result<Inside> inside = raise(setup, server.port());
  std::vector<Case> cases;
  const auto both = [&](const std::string& name, double target,
                        const std::vector<std::string>& words) {
    add(cases, inside, name, target, words, words);
  };
  both("200,000 getpid", 1.05, {steady, "getpid", "200000", file});
  cases.push_back({.name = "200,000 getpid, under a filter that allows all",
                   .once =
                       [words = std::vector<std::string>{steady, "filtered", "200000", file}] {
                         return timed([&] { return run_bare(words); });
                       },
                   .floor = "200,000 getpid, bare"});
  both("20,000 open, stat, close", 1.2, {steady, "open", "20000", file});
  if (has("/usr/bin/git")) {
    const std::string repository = setup.workspace + "/repository";
    for (int at = 0; at < 300; ++at) {
      const std::string folder = fmt::format("{}/{}", repository, at % 20);
      std::filesystem::create_directories(folder);
      std::ofstream(fmt::format("{}/{}", folder, at)) << at << "\n";
    }
    (void)run_bare({"/usr/bin/git", "init", "-q", repository});
    (void)run_bare({"/usr/bin/git", "-C", repository, "add", "."});
    both("git status of 300 files", 1.05,
         {"/usr/bin/git", "-c", "safe.directory=*", "-C", repository, "status"});
  }
  if (has("/usr/bin/gcc")) {
    both("compile one file", 1.05, {"/usr/bin/gcc", "-c", "-o", setup.workspace + "/out.o", file});
  }
  if (has("/usr/bin/curl")) {
    const auto download = [&](const std::string& host) {
      return std::vector<std::string>{"/usr/bin/curl", "-sf", "-o", "/dev/null",
                                      fmt::format("http://{}:{}/", host, server.port())};
    };
    add(cases, inside, "64 MiB from loopback (inside: by the proxy)", 2.0, download("127.0.0.1"),
        download("bench.test"));
  }
  return measure("inside the wall", cases, setup.rounds_of(40));
}

}  // namespace bawn::bench
