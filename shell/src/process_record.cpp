#include "process_record.hpp"

#include "bawn/contract/record.hpp"
#include "bawn/os/procfs.hpp"

#include <utility>

namespace bawn::shell {

Result<> write_process_record(const contract::Context& context, const ProcessRecord& record) {
  if (!contract::has_recorder(context)) {
    return {};
  }
  Json data = Json::object();
  data["session"] = record.session;
  data["call"] = record.call;
  data["boot_id"] = BAWN_TRY(os::boot_id());
  data["pid"] = record.child->pid();
  data["inside_pid"] = record.child->inside_pid();
  data["start_time"] = record.child->start_time();
  // The shell leads a session and gives each pipeline a group of its own; a program leads its
  // group.
  data[record.is_shell ? "sid" : "pgid"] = record.child->inside_pid();
  data["warden_pid"] = record.warden->pid();
  data["warden_start_time"] = record.warden->start_time();
  data["pid_namespace"] = record.warden->pid_namespace();
  if (!record.groups.empty()) {
    data["groups"] = record.groups;
  }
  return contract::write_record(
      context, contract::Record{.name_space = "shell:process-group", .data = std::move(data)});
}

}  // namespace bawn::shell
