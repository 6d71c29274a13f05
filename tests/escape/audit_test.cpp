// The kernel's own records of what Landlock refused, from the denial to the result. The machine's
// auditing is switched on for as long as it takes and then set back; where it is on, it stays.
#include "bawn/os/unique_fd.hpp"
#include "bawn/sandbox/features.hpp"
#include "support/peer_process.hpp"
#include "support/requirements.hpp"
#include "support/temp_dir.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <linux/audit.h>
#include <linux/netlink.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <string>

namespace bawn::test {
namespace {

using contract::Json;

/// The kernel's switch, over a netlink socket of its own.
class AuditSwitch {
 public:
  /// None when this process may not ask.
  static std::optional<bool> state() {
    const auto answer = ask(AUDIT_GET, nullptr);
    return answer ? std::optional(answer->enabled != 0) : std::nullopt;
  }
  static bool set(bool on) {
    audit_status wanted{};
    wanted.mask = AUDIT_STATUS_ENABLED;
    wanted.enabled = on ? 1 : 0;
    (void)ask(AUDIT_SET, &wanted);
    return state() == on;
  }

 private:
  static std::optional<audit_status> ask(std::uint16_t type, const audit_status* payload) {
    const os::UniqueFd socket(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_AUDIT));
    struct {
      nlmsghdr header;
      audit_status status;
    } message{};
    message.header.nlmsg_len = sizeof message;
    message.header.nlmsg_type = type;
    message.header.nlmsg_flags =
        static_cast<std::uint16_t>(NLM_F_REQUEST | (payload != nullptr ? NLM_F_ACK : 0));
    if (payload != nullptr) {
      message.status = *payload;
    }
    if (::send(socket.get(), &message, sizeof message, 0) != sizeof message) {
      return std::nullopt;
    }
    pollfd waiting{socket.get(), POLLIN, 0};
    std::memset(&message, 0, sizeof message);
    if (::poll(&waiting, 1, 60'000) != 1 ||
        ::recv(socket.get(), &message, sizeof message, 0) <= 0 ||
        message.header.nlmsg_type != type) {
      return std::nullopt;
    }
    return message.status;
  }
};

class AuditRecords : public testing::Test {
 protected:
  void SetUp() override {
    BAWN_REQUIRE("root");
    BAWN_REQUIRE("landlock");
    const auto features = sandbox::assume_features();
    if (features.landlock_abi < 7) {
      GTEST_SKIP() << "Landlock writes records from ABI 7 (Linux 6.15) on";
    }
    before_ = AuditSwitch::state();
    if (!before_) {
      GTEST_SKIP() << "auditing cannot be asked about here";
    }
    if (!*before_ && !AuditSwitch::set(true)) {
      GTEST_SKIP() << "auditing cannot be switched on here";
    }
  }
  void TearDown() override {
    if (before_ == false) {
      EXPECT_TRUE(AuditSwitch::set(false));
    }
  }
  /// Denials of one call that creates a file outside its workspace.
  Json denials_of(const std::string& tool, const std::string& arguments) {
    auto server = McpPeer::connect({BAWN_PROGRAM, "mcp", "--workspace", workspace_.path()},
                                   {"BAWN_FEATURES_OFF=namespaces"});
    EXPECT_TRUE(server) << server.error().message();
    const auto answer = server ? server->call_tool(tool, arguments)
                               : contract::Result<std::string_view>(std::string_view{});
    EXPECT_TRUE(answer);
    const auto read = contract::parse_json(answer.value_or(""));
    EXPECT_TRUE(read);
    const Json content = read->at("result").at("structuredContent");
    return (content.contains("result") ? content["result"] : content)
        .value("denials", Json::array());
  }
  [[nodiscard]] std::string forbidden() const { return outside_.path() / "made"; }

  TempDir workspace_{"/var/tmp"};
  TempDir outside_{"/var/lib"};
  std::optional<bool> before_;
};

/// The record about something below `directory`; others tell of what the shell does as it starts.
std::optional<Json> recorded(const Json& denials, const std::string& directory) {
  for (const Json& denial : denials) {
    if (denial.value("evidence", "") == "audit" &&
        denial.value("target", "").starts_with(directory)) {
      return denial;
    }
  }
  return std::nullopt;
}

TEST_F(AuditRecords, OfAProgramsDenialAreConfirmedWithPathAndProgram) {
  const Json denials =
      denials_of("exec", fmt::format(R"({{"argv": ["touch", "{}"]}})", forbidden()));
  const auto denial = recorded(denials, outside_.path());
  ASSERT_TRUE(denial) << denials;
  EXPECT_EQ(denial->value("certainty", ""), "confirmed");
  EXPECT_EQ(denial->value("layer", ""), "landlock");
  EXPECT_EQ(denial->value("scope", ""), "call");
  EXPECT_THAT(denial->value("exe", ""), testing::HasSubstr("touch"));
}

TEST_F(AuditRecords, OfACommandOfTheShellComeWithItsResult) {
  const Json denials = denials_of("bash", fmt::format(R"({{"command": "touch {}"}})", forbidden()));
  const auto denial = recorded(denials, outside_.path());
  ASSERT_TRUE(denial) << denials;
  EXPECT_EQ(denial->value("certainty", ""), "confirmed");
}

TEST_F(AuditRecords, AreNotMadeUpWhereAuditingIsOff) {
  if (*before_) {
    GTEST_SKIP() << "auditing is on here, and not ours to switch off";
  }
  ASSERT_TRUE(AuditSwitch::set(false));
  const Json denials = denials_of(
      "bash",
      fmt::format(R"({{"command": "echo evidence audit confirmed >&2; touch {}"}})", forbidden()));
  EXPECT_FALSE(recorded(denials, outside_.path())) << denials;
  EXPECT_FALSE(denials.empty()) << "the control: it was denied";
}

}  // namespace
}  // namespace bawn::test
