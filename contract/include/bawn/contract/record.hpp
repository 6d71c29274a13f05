/// \file
/// Records: what must be known about a call even if this process dies in the middle of it, such as
/// the process group that it started. The host decides where they go.
#pragma once

#include "bawn/contract/context.hpp"
#include "bawn/contract/error.hpp"
#include "bawn/contract/json.hpp"
#include "bawn/contract/result.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace bawn::contract {

struct Record {
  std::string name_space{};  ///< "owner:kind", e.g. "shell:process-group"
  Json data{};
};

/// Details that are one record and nothing else.
class RecordDetails final : public Details {
 public:
  explicit RecordDetails(Record record) : record_(std::move(record)) {}
  [[nodiscard]] std::string record_namespace() const override { return record_.name_space; }
  [[nodiscard]] Result<Json> record_json() const override { return record_.data; }

 private:
  Record record_;
};

/// The record in a result's details; none for no details and for details that are not recordable.
///
/// Errors: `bawn: record <type>: empty namespace` for a RecordDetails without one, and
/// `bawn: record <ns>: …` when it cannot be written as JSON.
[[nodiscard]] Result<std::optional<Record>> record_of(const Details* details);

/// Stores a record and returns once it is as durable as the host wants. The call is on `context`.
/// Threads: called from many threads, many times per call.
using Recorder = std::function<Result<>(const Context& context, const Record& record)>;

/// Carries `recorder` for all calls below; an empty one removes what an outer context carries.
[[nodiscard]] Context with_recorder(const Context& context, Recorder recorder);

/// True when a record written under `context` goes anywhere.
[[nodiscard]] bool has_recorder(const Context& context) noexcept;

/// Records now, before it returns. Without a recorder, details or a recordable form nothing
/// happens.
///
/// Blocking: as long as the host's recorder does; it is not interrupted.
/// Errors: those of `record_of` (the recorder is not called then) and the recorder's own.
[[nodiscard]] Result<> write_record(const Context& context, const Details* details);
[[nodiscard]] Result<> write_record(const Context& context, Record record);

}  // namespace bawn::contract
