/// \file
/// What may be done about a call whose outcome is not known, because its other side was lost after
/// the call may have reached it (C-104, C-105).
#pragma once

#include "bawn/contract/error.hpp"
#include "bawn/contract/properties.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace bawn::contract {

/// Whether somebody knows what became of a call.
enum class OutcomeClass {
  Known,   ///< it failed, and that is all: refused, never sent, answered with an error, too large
  Unknown  ///< it may have taken effect: the deadline passed or the connection broke after sending
};

/// The same failure as an unknown outcome; wrapping keeps that.
[[nodiscard]] Error as_unknown_outcome(const Error& error);

/// Every error is Known that nobody marked, in itself or its visible causes.
[[nodiscard]] OutcomeClass outcome_class(const Error& error);

/// What a second run of a tool would do. Decides nothing about permission.
enum class Safety {
  SideEffect,  ///< run at most once; the default for everything remote
  Idempotent,  ///< a second run has no further effect
  ReadOnly     ///< no effect at all
};

/// A remote tool's safety by its hints, which count only from a server that the host trusts.
/// `read_only` wins over `idempotent`; a host's own word, `stated`, wins over both.
[[nodiscard]] Safety safety_of(const std::optional<Annotations>& hints, bool trusted,
                               std::optional<Safety> stated = {}) noexcept;

/// How a harness settles a failed call.
enum class Settlement {
  Failure,  ///< an ordinary failure that the model sees and may react to
  Halt      ///< record no result, stop, and ask somebody: it must not be run again by itself
};

/// Halt exactly for an unknown outcome of a tool with side effects.
[[nodiscard]] Settlement settle(const Error& error, Safety safety);

/// Whether a harness may run a call again whose first run has an unknown outcome.
enum class Rerun {
  Allowed,
  WithFirstKey,  ///< only with the idempotency key of the first attempt
  Forbidden      ///< complete it with `outcome_unknown_error`
};

/// Of `replay_of`'s answer for the first attempt and its key. Annotations never count.
[[nodiscard]] Rerun rerun_of(Replay replay) noexcept;

/// What completes a call that must not run again: the sentence says that the outcome is unknown.
[[nodiscard]] Error outcome_unknown_error(std::string_view tool);

}  // namespace bawn::contract
