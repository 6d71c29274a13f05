#include "walled_files.hpp"

#include "bawn/os/pipe.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <utility>

namespace bawn::test {

namespace {

constexpr unsigned kOwner = 4242;

void own(const std::string& path) {
  if (::geteuid() == 0) {
    EXPECT_EQ(::lchown(path.c_str(), kOwner, kOwner), 0) << path;
  }
}

/// As the environment asks for.
bool asked_over_pipes() {
  const char* const stream = std::getenv("BAWN_TEST_STREAM");  // NOLINT(concurrency-mt-unsafe)
  return stream != nullptr && std::string_view(stream) == "pipes";
}

}  // namespace

WalledFiles::WalledFiles()
    : over_pipes_(asked_over_pipes()),
      root_(visible_base()),
      workspace_((root_.path() / "ws").string()),
      outside_((root_.path() / "out").string()),
      secret_((root_.path() / "secret/key").string()) {
  ::chmod(root_.path().c_str(), 0755);
  for (const std::string& path : {workspace_, outside_, root_.path().string() + "/secret"}) {
    std::filesystem::create_directory(path);
    own(path);
  }
  put(secret_, "secret\n");
  put(out("file"), "outside\n");
}

void WalledFiles::put(const std::string& path, const std::string& text, unsigned mode) const {
  root_.write(std::filesystem::path(path).lexically_relative(root_.path()).string(), text);
  ::chmod(path.c_str(), mode);
  own(path);
}

void WalledFiles::SetUp() {
  if (GetParam().off == std::string("")) {
    BAWN_REQUIRE("user-namespaces");
  }
  if (GetParam().name == std::string("Landlock")) {
    BAWN_REQUIRE("landlock");
  }
  policy_ = *sandbox::preset(GetParam().policy);
  policy_.best_effort = GetParam().best_effort;
  if (policy_.enforce) {
    policy_.secrets.push_back(root_.path().string() + "/secret");
  }
  raise();
}

void WalledFiles::raise() {
  sandbox::WallRequest request;
  request.policy = policy_;
  request.workspace = workspace_;
  if (over_pipes_) {
    relay_ = relay_ == nullptr ? std::make_unique<RelayProcess>(BAWN_WARDEN) : std::move(relay_);
    request.warden.relay = relay_->relay();
  }
  ::setenv("BAWN_FEATURES_OFF", GetParam().off, 1);  // NOLINT(concurrency-mt-unsafe)
  files_.reset();
  auto wall = sandbox::raise_wall(request);
  ::unsetenv("BAWN_FEATURES_OFF");  // NOLINT(concurrency-mt-unsafe)
  ASSERT_TRUE(wall) << wall.error().message();
  wall_ = std::move(*wall);
  auto files = wall_.warden->file_agent();
  ASSERT_TRUE(files) << files.error().message();
  files_ = *files;
}

void WalledFiles::TearDown() {
  files_.reset();
  if (wall_.warden != nullptr) {
    wall_.warden->close();
  }
}

sandbox::Result<sandbox::CommittedFile> WalledFiles::write(const std::string& path,
                                                           const std::string& text,
                                                           const sandbox::CommitOptions& options,
                                                           bool make_parents) {
  auto staged = BAWN_TRY(files_->stage(now_, path, {make_parents}));
  EXPECT_EQ(::write(staged->fd(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  return staged->commit(now_, options);
}

sandbox::Result<std::string> WalledFiles::read(const std::string& path) {
  auto opened = BAWN_TRY(files_->open(now_, path));
  std::string text;
  std::array<char, 4096> buffer;
  for (ssize_t count = 0; (count = ::read(opened.fd.get(), buffer.data(), buffer.size())) > 0;) {
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
  return text;
}

std::string WalledFiles::shell(const std::string& text) {
  auto pipe = *os::Pipe::make();
  sandbox::SpawnSpec spec;
  spec.argv = {"/bin/bash", "-c", text};
  spec.env = {"PATH=/usr/local/bin:/usr/bin:/bin"};
  spec.cwd = "/";
  spec.standard_error = os::UniqueFd(::fcntl(pipe.write.get(), F_DUPFD_CLOEXEC, 3));
  spec.standard_output = std::move(pipe.write);
  auto child = wall_.warden->spawn(std::move(spec));
  if (!child || !(*child)->go()) {
    ADD_FAILURE() << (child ? "no go" : child.error().message());
    return {};
  }
  std::string output;
  std::array<char, 4096> buffer;
  for (ssize_t count = 0; (count = ::read(pipe.read.get(), buffer.data(), buffer.size())) > 0;) {
    output.append(buffer.data(), static_cast<std::size_t>(count));
  }
  EXPECT_TRUE((*child)->wait(now_));
  return output;
}

std::optional<sandbox::FileFailure::Kind> kind_of(const sandbox::Error& error) {
  const auto* const failure = error.find<sandbox::FileFailure>();
  return failure == nullptr ? std::nullopt : std::optional(failure->kind);
}

int errno_of(const sandbox::Error& error) {
  const auto* const failure = error.find<sandbox::FileFailure>();
  return failure == nullptr ? -1 : failure->errnum;
}

}  // namespace bawn::test
