#include "wire_encode.hpp"

#include <fmt/format.h>

namespace bawn::sandbox::wire {

namespace {

template <MountStep::Kind Left, MountKind Right>
constexpr bool kSame = static_cast<std::uint32_t>(Left) == static_cast<std::uint32_t>(Right);
static_assert(kSame<MountStep::Kind::MakePrivate, MountKind::MakePrivate> &&
              kSame<MountStep::Kind::Devices, MountKind::Devices> &&
              kSame<MountStep::Kind::HoldPath, MountKind::HoldPath> &&
              kSame<MountStep::Kind::MakeSymlink, MountKind::MakeSymlink>);
static_assert(sizeof(BpfInstruction) == 8);

std::uint32_t flags_of(const SessionPlan& plan) {
  std::uint32_t flags = 0;
  const auto add = [&flags](bool wanted, std::uint32_t bit) { flags |= wanted ? bit : 0U; };
  const bool walled = plan.landlock.abi > 0 || plan.seccomp.apply;
  add(plan.namespaces.full_identity_map, kFullIdentityMap);
  add(plan.namespaces.loopback_up, kLoopbackUp);
  add(plan.hygiene.apply, kHygiene);
  add(plan.hygiene.apply && plan.hygiene.new_keyring, kNewKeyring);
  add(plan.hygiene.apply && plan.hygiene.drop_capabilities, kDropCapabilities);
  add(walled || (plan.hygiene.apply && plan.hygiene.no_new_privs), kNoNewPrivs);
  add(plan.child_scope_layer, kChildScopeLayer);
  add(plan.seccomp.apply, kSeccomp);
  add(plan.network.inside, kProxyListener);
  return flags;
}

void put_landlock(Writer& out, const LandlockPlan& plan) {
  out.u32(static_cast<std::uint32_t>(plan.abi)).u64(plan.handled_fs).u64(plan.handled_net);
  out.u64(plan.scoped).u32(plan.restrict_flags);
  out.u32(static_cast<std::uint32_t>(plan.rules.size()));
  for (const LandlockRule& rule : plan.rules) {
    out.u64(rule.access).text(rule.path);
  }
}

void put_mounts(Writer& out, const std::vector<MountStep>& steps) {
  out.u32(static_cast<std::uint32_t>(steps.size()));
  for (const MountStep& step : steps) {
    out.u32(static_cast<std::uint32_t>(step.kind)).u32(step.optional ? 1 : 0);
    out.text(step.source).text(step.target).text(step.data);
  }
}

bool has_nul(const SessionPlan& plan) {
  const auto bad = [](std::string_view text) { return text.find('\0') != std::string_view::npos; };
  bool found = bad(plan.namespaces.hostname);
  for (const LandlockRule& rule : plan.landlock.rules) {
    found = found || bad(rule.path);
  }
  for (const MountStep& step : plan.namespaces.mounts) {
    found = found || bad(step.source) || bad(step.target) || bad(step.data);
  }
  return found;
}

}  // namespace

Writer& Writer::bytes(const void* data, std::size_t size) {
  data_.append(static_cast<const char*>(data), size);
  data_.append((4 - size % 4) % 4, '\0');
  return *this;
}

Writer& Writer::u32(std::uint32_t value) {
  return bytes(&value, sizeof value);
}
Writer& Writer::u64(std::uint64_t value) {
  return bytes(&value, sizeof value);
}

Writer& Writer::text(std::string_view value) {
  u32(static_cast<std::uint32_t>(value.size()));
  data_.append(value);
  data_.append(4 - value.size() % 4, '\0');  // at least the one NUL
  return *this;
}

Result<std::string> encode_plan(const SessionPlan& plan, int server_pid,
                                std::uint32_t extra_flags) {
  if (has_nul(plan)) {
    return contract::fail(ErrorCode::InvalidArgument, "a path in the plan holds a NUL byte");
  }
  Writer out;
  out.u32(kPlanMagic).u32(kVersion).u32(static_cast<std::uint32_t>(server_pid));
  out.u32(flags_of(plan) | extra_flags).u32(plan.uid).u32(plan.gid);
  out.u64(plan.namespaces.clone_flags).text(plan.namespaces.hostname);
  put_landlock(out, plan.landlock);
  out.u32(static_cast<std::uint32_t>(plan.seccomp.program.size()));
  out.bytes(plan.seccomp.program.data(), plan.seccomp.program.size() * sizeof(BpfInstruction));
  out.u32(kInsideProxyPort);
  out.u32(static_cast<std::uint32_t>(plan.network.program.size()));
  out.bytes(plan.network.program.data(), plan.network.program.size() * sizeof(BpfInstruction));
  const auto& rlimits = plan.hygiene.rlimits;
  out.u32(plan.hygiene.apply ? static_cast<std::uint32_t>(rlimits.size()) : 0);
  for (std::size_t at = 0; plan.hygiene.apply && at < rlimits.size(); ++at) {
    out.u32(static_cast<std::uint32_t>(rlimits[at].resource));
    out.u64(rlimits[at].soft).u64(rlimits[at].hard);
  }
  put_mounts(out, plan.namespaces.mounts);
  if (out.data().size() > kMaxPlan) {
    return contract::fail(ErrorCode::InvalidArgument,
                          fmt::format("the plan has {} bytes, at most {} can be handed to the "
                                      "warden; name fewer paths",
                                      out.data().size(), kMaxPlan));
  }
  return out.data();
}

std::string_view to_text(Step step) noexcept {
  switch (step) {
    case Step::Plan:
      return "reading the plan";
    case Step::Clone:
      return "making the namespaces";
    case Step::IdentityMap:
      return "writing the identity maps";
    case Step::ParentDeath:
      return "tying it to the server's life";
    case Step::Descriptors:
      return "closing inherited descriptors";
    case Step::Mount:
      return "mounting";
    case Step::Loopback:
      return "bringing the loopback interface up";
    case Step::Hostname:
      return "setting the host name";
    case Step::Groups:
      return "dropping supplementary groups";
    case Step::BoundingSet:
      return "emptying the capability bounding set";
    case Step::GroupId:
      return "setting the group id";
    case Step::UserId:
      return "setting the user id";
    case Step::Capabilities:
      return "dropping capabilities";
    case Step::Keyring:
      return "joining a new session keyring";
    case Step::Rlimit:
      return "setting resource limits";
    case Step::NoNewPrivs:
      return "setting no_new_privs";
    case Step::LandlockRuleset:
      return "creating the Landlock ruleset";
    case Step::LandlockRule:
      return "adding a Landlock rule";
    case Step::LandlockRestrict:
      return "entering the Landlock domain";
    case Step::Seccomp:
      return "installing the seccomp filter";
    case Step::Dumpable:
      return "making the warden undumpable";
    case Step::Subreaper:
      return "becoming the subreaper";
    case Step::Signals:
      return "blocking signals";
    case Step::Request:
      return "reading the request";
    case Step::WorkingDirectory:
      return "opening the working directory";
    case Step::Memory:
      return "reserving memory";
    case Step::Process:
      return "starting the process";
    case Step::Proxy:
      return "opening the proxy's socket";
    case Step::Listener:
      return "supervising connect(2) (a seccomp listener)";
    case Step::Execute:
      return "executing the program";
    case Step::Session:
      return "leaving the session of the terminal";
  }
  return "an unknown step";
}

std::string describe(const MountStep& step) {
  switch (step.kind) {
    case MountStep::Kind::MakePrivate:
      return "making mounts private";
    case MountStep::Kind::BindReadOnly:
      return fmt::format("read-only bind of {} on {}", step.source, step.target);
    case MountStep::Kind::BindWritable:
      return fmt::format("writable bind of {} on {}", step.source, step.target);
    case MountStep::Kind::RemountReadOnly:
      return fmt::format("making {} read-only", step.target);
    case MountStep::Kind::Tmpfs:
      return fmt::format("tmpfs on {}", step.target);
    case MountStep::Kind::MaskDirectory:
    case MountStep::Kind::MaskFile:
      return fmt::format("hiding {}", step.target);
    case MountStep::Kind::Proc:
      return fmt::format("proc on {}", step.target);
    case MountStep::Kind::Devices:
      return "a private /dev";
    case MountStep::Kind::MakeDirectory:
      return fmt::format("directory {}", step.target);
    case MountStep::Kind::WriteFile:
      return fmt::format("writing {}", step.target);
    case MountStep::Kind::HoldPath:
      return fmt::format("holding {}", step.source);
    case MountStep::Kind::BindHeld:
      return fmt::format("bind of a held path on {}", step.target);
    case MountStep::Kind::Chdir:
      return fmt::format("entering {}", step.target);
    case MountStep::Kind::MakeSymlink:
      return fmt::format("symlink {}", step.target);
  }
  return "an unknown mount step";
}

}  // namespace bawn::sandbox::wire
