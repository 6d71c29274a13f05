#include "warden_launch.hpp"
#include "wire_encode.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

namespace {

using namespace bawn::sandbox;
using bawn::contract::ErrorCode;
using testing::HasSubstr;
using testing::Not;

struct Missing {
  wire::Step step;
  int errnum;
  std::uint32_t index;
};

Frame ready(std::uint32_t layers, std::uint32_t version = wire::kVersion, std::uint32_t skipped = 0,
            const std::vector<Missing>& missing = {}, std::uint32_t more_missing = 0) {
  wire::Writer out;
  out.u32(version).u32(7).u64(0).u32(layers).u32(skipped).u32(more_missing);
  out.u32(static_cast<std::uint32_t>(missing.size()));
  for (const Missing& entry : missing) {
    out.u32(static_cast<std::uint32_t>(entry.step)).u32(static_cast<std::uint32_t>(entry.errnum));
    out.u32(entry.index);
  }
  return {wire::Type::Ready, 0, out.data(), {}};
}

SessionPlan plan() {
  SessionPlan result;
  result.landlock.abi = 5;
  for (const char* name : {"landlock", "seccomp", "namespaces"}) {
    bawn::contract::Layer layer;
    layer.name = name;
    layer.applied = std::string_view(name) != "seccomp";
    result.forecast.layers.push_back(layer);
  }
  result.namespaces.mounts = {{MountStep::Kind::Tmpfs, "tmpfs", "/run", "", true}};
  return result;
}

TEST(WardenReportTest, ConfirmedLayersMakeTheReport) {
  const auto report = confirm(plan(), ready(wire::kLayerLandlock | wire::kLayerNamespaces));
  ASSERT_TRUE(report) << report.error().message();
  EXPECT_TRUE(report->confirmed);
  EXPECT_EQ(report->layers[0].abi, 5);
  EXPECT_FALSE(report->layers[1].applied);
  EXPECT_TRUE(report->notes.empty());
}

TEST(WardenReportTest, OneLandlockLayerTooManyHasASentenceOfItsOwn) {
  const Error error = setup_error(plan(), wire::Step::LandlockRestrict, E2BIG, 0);
  EXPECT_EQ(error.code(), ErrorCode::Unsupported);
  EXPECT_THAT(error.message(), HasSubstr("16 Landlock layers"));
  EXPECT_THAT(setup_error(plan(), wire::Step::LandlockRestrict, EPERM, 0).message(),
              Not(HasSubstr("16 Landlock layers")));
}

TEST(WardenReportTest, PromisedLayerWithoutConfirmationIsAnError) {
  const auto report = confirm(plan(), ready(wire::kLayerLandlock));
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code(), ErrorCode::Unsupported);
  EXPECT_THAT(report.error().message(), HasSubstr("namespaces"));
}

TEST(WardenReportTest, MissingScopeLayerIsAnError) {
  SessionPlan scoped = plan();
  scoped.child_scope_layer = true;
  EXPECT_FALSE(confirm(scoped, ready(wire::kLayerLandlock | wire::kLayerNamespaces)));
  EXPECT_TRUE(confirm(
      scoped, ready(wire::kLayerLandlock | wire::kLayerNamespaces | wire::kLayerChildScope)));
}

TEST(WardenReportTest, FailedOptionalStepsAndSkippedRulesAreSaid) {
  const auto report = confirm(plan(), ready(wire::kLayerLandlock | wire::kLayerNamespaces,
                                            wire::kVersion, 3, {{wire::Step::Mount, ENOSPC, 0}}));
  ASSERT_TRUE(report);
  EXPECT_THAT(
      report->layers[2].missing,
      testing::ElementsAre(testing::AllOf(HasSubstr("tmpfs on /run"), HasSubstr("No space left"))));
  EXPECT_THAT(report->notes, testing::ElementsAre(HasSubstr("3 Landlock rule")));
}

TEST(WardenReportTest, StepsBeyondTheListAreCounted) {
  const auto report =
      confirm(plan(), ready(wire::kLayerLandlock | wire::kLayerNamespaces, wire::kVersion, 0,
                            {{wire::Step::Mount, ENOSPC, 0}}, 7));
  ASSERT_TRUE(report);
  EXPECT_THAT(report->notes, testing::ElementsAre(HasSubstr("7 more step")));
}

TEST(WardenReportTest, UnopenedRulesAndHygieneStepsAreNamed) {
  SessionPlan walled = plan();
  walled.landlock.rules = {{"/one", 1}, {"/two", 1}};
  bawn::contract::Layer hygiene;
  hygiene.name = "hygiene";
  walled.forecast.layers.push_back(hygiene);
  const auto report =
      confirm(walled, ready(wire::kLayerLandlock | wire::kLayerNamespaces, wire::kVersion, 0,
                            {{wire::Step::LandlockRule, EACCES, 1},
                             {wire::Step::BoundingSet, EPERM, 0},
                             {wire::Step::Session, EPERM, 0}}));
  ASSERT_TRUE(report);
  EXPECT_THAT(report->layers[0].missing, testing::ElementsAre(testing::AllOf(
                                             HasSubstr("/two"), HasSubstr("Permission denied"))));
  EXPECT_THAT(report->layers[3].missing,
              testing::ElementsAre(HasSubstr("bounding set"), HasSubstr("terminal")));
}

TEST(WardenReportTest, OtherVersionAndTornFramesAreRefused) {
  const std::uint32_t layers = wire::kLayerLandlock | wire::kLayerNamespaces;
  EXPECT_EQ(confirm(plan(), ready(layers, wire::kVersion + 1)).error().code(), ErrorCode::Internal);
  Frame torn = ready(layers);
  torn.payload.resize(torn.payload.size() - 4);
  EXPECT_EQ(confirm(plan(), torn).error().code(), ErrorCode::Internal);
}

TEST(WardenReportTest, SetupErrorNamesStepAndErrno) {
  const Error error = setup_error(plan(), wire::Step::Mount, EPERM, 0);
  EXPECT_EQ(error.code(), ErrorCode::Unsupported);
  EXPECT_THAT(error.message(),
              testing::AllOf(HasSubstr("tmpfs on /run"), HasSubstr("Operation not permitted")));
  EXPECT_EQ(setup_error(plan(), wire::Step::Clone, EAGAIN, 0).code(), ErrorCode::ResourceExhausted);
}

}  // namespace
