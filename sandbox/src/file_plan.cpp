#include "bawn/sandbox/plan.hpp"
#include "guarantees.hpp"

#include <algorithm>
#include <utility>

namespace bawn::sandbox {

namespace {

void add_root(FilePlan& files, const std::string& path, bool writable) {
  const auto found = std::ranges::find(files.roots, path, &FilePlan::Root::path);
  if (found == files.roots.end()) {
    files.roots.push_back({path, writable});
  } else {
    found->writable = found->writable || writable;
  }
}

}  // namespace

FilePlan plan_files(const Policy& policy, const SessionPlan& plan, const Place& place) {
  const LayersInForce layers = layers_of(plan);
  FilePlan files;
  files.hold_attributes = !layers.mounts;
  files.hold_paths = !layers.mounts && layers.landlock_abi == 0;
  for (const std::string& root : place.writable_roots) {
    add_root(files, root, true);
  }
  add_root(files, plan.workspace, !policy.enforce);
  add_root(files, plan.tmp, true);
  files.protected_paths = place.existing_protected;
  files.protected_paths.insert(files.protected_paths.end(), place.missing_protected.begin(),
                               place.missing_protected.end());
  return files;
}

}  // namespace bawn::sandbox
