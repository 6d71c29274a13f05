#include "process_record.hpp"

#include "bawn/contract/record.hpp"
#include "bawn/os/procfs.hpp"

#include <utility>

namespace bawn::shell {

namespace {

/// The same as long as the machine runs.
const Result<std::string>& this_boot() {
  static const Result<std::string> id = os::boot_id();
  return id;
}

}  // namespace

Result<std::optional<Json>> write_process_record(const contract::Context& context,
                                                 const ProcessRecord& record) {
  if (!contract::has_recorder(context)) {
    return std::nullopt;
  }
  Json data = Json::object();
  data["session"] = record.session;
  data["call"] = record.call;
  // Numbers of another place mean nothing here: nobody may take them for this machine's, and what
  // runs there ends with its relay.
  if (!record.place.empty()) {
    data["place"] = record.place;
  } else {
    data["boot_id"] = BAWN_TRY(this_boot());
  }
  data["pid"] = record.child->pid();
  data["inside_pid"] = record.child->inside_pid();
  data["start_time"] = record.child->start_time();
  // The shell leads a session and gives each pipeline a group of its own; a program leads its
  // group.
  data[record.is_shell ? "sid" : "pgid"] = record.child->pid();
  data[record.is_shell ? "inside_sid" : "inside_pgid"] = record.child->inside_pid();
  data["warden_pid"] = record.warden->pid();
  data["warden_start_time"] = record.warden->start_time();
  data["pid_namespace"] = record.warden->pid_namespace();
  if (!record.groups.empty()) {
    data["inside_groups"] = record.groups;
  }
  BAWN_TRY(contract::write_record(context,
                                  contract::Record{.name_space = kProcessRecord, .data = data}));
  return data;
}

}  // namespace bawn::shell
