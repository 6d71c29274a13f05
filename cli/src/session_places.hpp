/// \file
/// The shell's sessions as places of the file tools: both act in one wall.
#pragma once

#include "bawn/files/place.hpp"
#include "bawn/shell/session_pool.hpp"

#include <memory>
#include <optional>
#include <string>

namespace bawn::cli {

/// Threads: thread-safe.
class SessionPlaces final : public files::Places {
 public:
  /// `default_session` is meant by calls that name none; empty = a name is required.
  SessionPlaces(std::shared_ptr<shell::SessionPool> pool, std::string default_session);

  [[nodiscard]] contract::Result<files::Place> place(
      const contract::Context& context, const std::optional<std::string>& name) override;
  [[nodiscard]] contract::Confinement confinement(
      const contract::Context& context, const std::optional<std::string>& name) const override;
  [[nodiscard]] std::string workspace(const contract::Context& context,
                                      const std::optional<std::string>& name) const override;

 private:
  std::shared_ptr<shell::SessionPool> pool_;
  std::string default_session_;
};

}  // namespace bawn::cli
