// Landlock's audit records, from text as kernels write it.
#include "audit_record.hpp"

#include <gmock/gmock.h>

#include <string>

namespace bawn::sandbox {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* kDomain =
    "audit(1796026936.611:85): domain=195ba459b status=allocated mode=enforcing pid=300 uid=0 "
    "exe=\"/usr/libexec/bawn/bawn-warden\" comm=\"bawn-warden\"";
constexpr const char* kAccess =
    "audit(1796026936.611:85): domain=195ba459b blockers=fs.make_reg,fs.refer path=\"/opt\" "
    "dev=\"vda2\" ino=35";
constexpr const char* kCall =
    "audit(1796026936.611:85): arch=c000003e syscall=257 success=no exit=-13 a0=ffffff9c "
    "a1=7ffd a2=941 a3=1b6 items=0 ppid=310 pid=311 auid=4294967295 uid=1000 gid=1000 tty=(none) "
    "ses=4294967295 comm=\"touch\" exe=\"/usr/bin/touch\" key=(null)";

AuditEvents following() {
  AuditEvents events;
  events.follow(300);
  return events;
}

TEST(AuditRecord, FieldsAreRead) {
  const auto text = parse_audit_text(kCall);
  ASSERT_TRUE(text);
  EXPECT_EQ(text->event, "1796026936.611:85");
  EXPECT_EQ(text->fields.at("pid"), "311");
  EXPECT_EQ(text->fields.at("exe"), "/usr/bin/touch");
  EXPECT_EQ(text->fields.at("a0"), "ffffff9c") << "a number is no text";
}

TEST(AuditRecord, TextsInHexadecimalAreDecoded) {
  const auto text =
      parse_audit_text("audit(1.0:1): domain=1 path=2F746D702F612062 comm=ABC exe=2F");
  ASSERT_TRUE(text);
  EXPECT_EQ(text->fields.at("path"), "/tmp/a b");
  EXPECT_EQ(text->fields.at("comm"), "ABC") << "an odd number of digits is no such text";
  EXPECT_EQ(text->fields.at("exe"), "/");
}

TEST(AuditRecord, WhatIsNoRecordIsNotRead) {
  for (const char* text : {"", "audit", "audit()", "audit(): a=b", "audit(x:1): a=b", "a=b",
                           "type=1423 audit(1.0:1): a=b"}) {
    EXPECT_FALSE(parse_audit_text(text)) << text;
  }
}

TEST(AuditEvents, ADenialHasItsProcessAndItsPath) {
  AuditEvents events = following();
  events.take(AuditType::LandlockAccess, kAccess);
  events.take(AuditType::LandlockDomain, kDomain);
  events.take(AuditType::SystemCall, kCall);
  events.take(AuditType::EndOfEvent, "audit(1796026936.611:85): ");
  const auto denials = events.after(0);
  ASSERT_THAT(denials, SizeIs(1));
  EXPECT_EQ(denials[0].op(), "write");
  EXPECT_THAT(denials[0].blockers, ElementsAre("fs.make_reg", "fs.refer"));
  EXPECT_EQ(denials[0].path, "/opt");
  EXPECT_EQ(denials[0].pid, 311);
  EXPECT_EQ(denials[0].parent_pid, 310);
  EXPECT_EQ(denials[0].program, "/usr/bin/touch");
  EXPECT_THAT(events.after(denials[0].number), IsEmpty());
}

TEST(AuditEvents, WithoutARecordOfTheCallNobodyIsNamed) {
  AuditEvents events = following();
  events.take(AuditType::LandlockDomain, kDomain);
  events.take(AuditType::LandlockAccess,
              "audit(2.0:7): domain=195ba459b blockers=net.connect_tcp daddr=127.0.0.1 dest=9");
  const auto denials = events.after(0);
  ASSERT_THAT(denials, SizeIs(1));
  EXPECT_EQ(denials[0].op(), "connect");
  EXPECT_EQ(denials[0].address, "127.0.0.1:9");
  EXPECT_EQ(denials[0].pid, 0);
}

TEST(AuditEvents, OtherDomainsAreNotOurs) {
  AuditEvents events = following();
  events.take(AuditType::LandlockDomain,
              "audit(1.0:1): domain=77 status=allocated mode=enforcing pid=4300 uid=0");
  events.take(AuditType::LandlockAccess, "audit(1.0:1): domain=77 blockers=fs.execute path=\"/x\"");
  EXPECT_THAT(events.after(0), IsEmpty());
}

TEST(AuditEvents, ANumberThatIsUsedAgainAfterTheDomainsEndIsNotOurs) {
  AuditEvents events = following();
  events.take(AuditType::LandlockDomain, kDomain);
  events.take(AuditType::LandlockAccess, kAccess);
  events.take(AuditType::LandlockDomain,
              "audit(3.0:90): domain=195ba459b status=deallocated denials=1");
  events.take(AuditType::LandlockAccess,
              "audit(4.0:91): domain=195ba459b blockers=fs.execute path=\"/x\"");
  const auto denials = events.after(0);
  ASSERT_THAT(denials, SizeIs(1)) << "what came before the end stays";
  EXPECT_EQ(denials[0].path, "/opt");
}

TEST(AuditEvents, AProgramsOwnMessageIsNoRecord) {
  AuditEvents events = following();
  events.take(AuditType::LandlockDomain, kDomain);
  // AUDIT_USER and AUDIT_TRUSTED_APP, which programs with CAP_AUDIT_WRITE may send.
  for (const int type : {1005, 1121, 2100}) {
    events.take(static_cast<AuditType>(type), kAccess);
  }
  EXPECT_THAT(events.after(0), IsEmpty());
}

TEST(AuditEvents, ANameCannotForgeAField) {
  AuditEvents events = following();
  events.take(AuditType::LandlockDomain, kDomain);
  // A file called `x" blockers=ptrace opid=1` comes in hexadecimal, since it holds a quote.
  events.take(AuditType::LandlockAccess,
              "audit(1.0:1): domain=195ba459b blockers=fs.read_file "
              "path=2F7822206368616E6765643D31 dev=\"vda\"");
  const auto denials = events.after(0);
  ASSERT_THAT(denials, SizeIs(1));
  EXPECT_EQ(denials[0].path, "/x\" changed=1");
  EXPECT_EQ(denials[0].target_pid, 0);
}

TEST(AuditEvents, MemoryIsBounded) {
  AuditEvents events = following();
  events.take(AuditType::LandlockDomain, kDomain);
  for (int at = 0; at < 10000; ++at) {
    events.take(AuditType::LandlockAccess,
                "audit(1.0:" + std::to_string(at) + "): domain=195ba459b blockers=fs.execute");
  }
  EXPECT_THAT(events.after(0), SizeIs(AuditEvents::kMostKept));
}

TEST(AuditDenial, EachBlockerHasItsWord) {
  const auto op = [](const char* blocker) {
    AuditDenial denial;
    denial.blockers = {blocker};
    return denial.op();
  };
  EXPECT_EQ(op("fs.read_dir"), "read");
  EXPECT_EQ(op("fs.write_file"), "write");
  EXPECT_EQ(op("fs.remove_file"), "write");
  EXPECT_EQ(op("fs.execute"), "execute");
  EXPECT_EQ(op("fs.change_topology"), "mount");
  EXPECT_EQ(op("net.bind_tcp"), "bind");
  EXPECT_EQ(op("scope.abstract_unix_socket"), "connect");
  EXPECT_EQ(op("scope.signal"), "signal");
  EXPECT_EQ(op("ptrace"), "trace");
}

TEST(AuditState, SaysWhyRecordsCannotBeRead) {
  const AuditState state = audit_state(7);
  EXPECT_TRUE(state.has_landlock);
  EXPECT_NE(state.readable.available, !state.readable.reason.empty());
  EXPECT_FALSE(audit_state(6).has_landlock);
}

}  // namespace
}  // namespace bawn::sandbox
