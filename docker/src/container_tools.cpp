#include "bawn/container/tools.hpp"
#include "bawn/contract/make_tool.hpp"
#include "bawn/contract/record.hpp"
#include "place_directory.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <utility>

namespace bawn::container {
namespace {

using contract::field;

struct MountArg {
  std::string source;
  std::string target;
  bool read_only = false;

  static constexpr auto describe() {
    return contract::fields(
        field("source", &MountArg::source)
            .desc("Directory or file in the workspace, absolute or relative to it"),
        field("target", &MountArg::target).desc("Absolute path inside"),
        field("read_only", &MountArg::read_only)
            .desc("Nothing can be changed there")
            .with_default());
  }
};

struct OpenArgs {
  std::optional<std::string> image;
  std::optional<std::string> attach;
  std::optional<std::string> name;
  std::vector<MountArg> mounts;
  std::string network = "none";
  std::optional<std::string> user;
  bool read_only_root = true;
  std::optional<std::string> workspace;
  std::optional<std::int64_t> memory_bytes;
  std::optional<std::int64_t> processes;
  std::optional<double> cpus;
  std::optional<std::int64_t> tmp_bytes;
  std::vector<std::string> capabilities;
  std::optional<std::string> seccomp_profile;
  std::map<std::string, std::string> env;
  std::map<std::string, std::string> labels;
  std::optional<std::string> engine;

  static constexpr auto describe() {
    return contract::fields(
        field("image", &OpenArgs::image)
            .desc(
                "An image that the engine has already; nothing is pulled. Needed but with attach"),
        field("attach", &OpenArgs::attach)
            .desc("Instead of an image: name of a running container that this server may join. It "
                  "keeps what it has, and stays when the place is closed"),
        field("name", &OpenArgs::name)
            .desc("Name of the place and of the container. Left out: a new one"),
        field("mounts", &OpenArgs::mounts)
            .desc("What of the workspace the container sees. Left out: nothing")
            .optional(),
        field("network", &OpenArgs::network)
            .desc("none: its own loopback only; bridge: the engine's default network, where the "
                  "server's policy opens the network")
            .one_of("none,bridge")
            .with_default(),
        field("user", &OpenArgs::user)
            .desc("UID or UID:GID of commands inside. Left out: 1000, or with an engine that runs "
                  "as you: 0, which is you"),
        field("read_only_root", &OpenArgs::read_only_root)
            .desc("Only mounts, /tmp, /var/tmp and the workspace can be written")
            .with_default(),
        field("workspace", &OpenArgs::workspace)
            .desc(
                "Where shells start inside; a temporary file system unless it is a mount's target. "
                "Left out: /workspace, or with attach the container's own directory"),
        field("memory_bytes", &OpenArgs::memory_bytes).desc("Left out: 2 GiB").at_least(1),
        field("processes", &OpenArgs::processes)
            .desc("Processes and threads. Left out: 512")
            .at_least(1),
        field("cpus", &OpenArgs::cpus).desc("Processors, also parts of one. Left out: 2"),
        field("tmp_bytes", &OpenArgs::tmp_bytes)
            .desc("Size of each temporary file system. Left out: 512 MiB")
            .at_least(1),
        field("capabilities", &OpenArgs::capabilities)
            .desc("Capabilities to keep, as CHOWN or SETUID; all others are dropped")
            .optional(),
        field("seccomp_profile", &OpenArgs::seccomp_profile)
            .desc("File of a seccomp profile for the engine. Left out: the engine's default"),
        field("env", &OpenArgs::env).desc("Environment variables for all calls inside").optional(),
        field("labels", &OpenArgs::labels).desc("Labels of the container").optional(),
        field("engine", &OpenArgs::engine)
            .desc("Which engine. Left out: the first that is there")
            .one_of("podman,docker"));
  }
};

struct CloseArgs {
  std::string place;

  static constexpr auto describe() {
    return contract::fields(
        field("place", &CloseArgs::place).desc("Name that container_open gave"));
  }
};

constexpr const char* kOpenDescription =
    "Open a container as a place: bash, exec and the file tools then act in it when they are "
    "called with its name as `place`, with the same semantics as outside: a persistent shell, "
    "exact "
    "status, output, cancel and records. By default it has no network, no capability, a read-only "
    "root, an ordinary user, and limits of memory, processes and processors; the result has those "
    "that the engine really set. It is removed by container_close and when this server ends.";

constexpr const char* kCloseDescription =
    "End all that runs in a place and remove its container; one that was joined is left. Files "
    "that were written to mounts "
    "stay; all else in it is gone.";

Result<std::uint32_t> id_of(std::string_view text) {
  std::uint32_t id = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) {
    return contract::fail(ErrorCode::InvalidArgument,
                          "invalid arguments: user is a number or two, as 1000:1000; names are the "
                          "image's and not known outside");
  }
  return id;
}

template <class Number, class Value>
void set_if(Number& to, const std::optional<Value>& from) {
  if (from) {
    to = static_cast<Number>(*from);
  }
}

Result<PlaceSpec> spec_of(OpenArgs args) {
  PlaceSpec spec;
  if (!args.image && !args.attach) {
    return contract::fail(ErrorCode::InvalidArgument,
                          "invalid arguments: give \"image\", or \"attach\" to join a container "
                          "that runs already");
  }
  spec.image = std::move(args.image).value_or("");
  spec.existing = std::move(args.attach).value_or("");
  spec.name = args.name.value_or(spec.existing.empty() ? "box-" + random_word(8) : spec.existing);
  for (MountArg& mount : args.mounts) {
    spec.mounts.push_back({.source = std::move(mount.source),
                           .target = std::move(mount.target),
                           .read_only = mount.read_only});
  }
  spec.network = args.network == "bridge" ? PlaceNetwork::Bridge : PlaceNetwork::None;
  if (args.user) {
    const std::size_t colon = args.user->find(':');
    spec.uid = BAWN_TRY(id_of(std::string_view(*args.user).substr(0, colon)));
    spec.gid = colon == std::string::npos
                   ? *spec.uid
                   : BAWN_TRY(id_of(std::string_view(*args.user).substr(colon + 1)));
  }
  spec.read_only_root = args.read_only_root;
  spec.workspace =
      std::move(args.workspace).value_or(spec.existing.empty() ? "/workspace" : std::string());
  set_if(spec.limits.memory_bytes, args.memory_bytes);
  set_if(spec.limits.processes, args.processes);
  set_if(spec.limits.cpus, args.cpus);
  set_if(spec.limits.tmp_bytes, args.tmp_bytes);
  spec.capabilities = std::move(args.capabilities);
  spec.seccomp_profile = std::move(args.seccomp_profile).value_or("");
  spec.environment = std::move(args.env);
  spec.labels = std::move(args.labels);
  return spec;
}

Json facts_json(const PlaceFacts& facts) {
  const auto number = [](const auto& value) { return value ? Json(*value) : Json(); };
  return {{"memory_bytes", number(facts.memory_bytes)},
          {"processes", number(facts.processes)},
          {"cpus", number(facts.cpus)},
          {"read_only_root", facts.read_only_root},
          {"capabilities", facts.capabilities},
          {"engine_seccomp", facts.engine_seccomp},
          {"no_new_privileges", facts.no_new_privileges},
          {"own_network", facts.own_network}};
}

std::string text_of(const Place& place) {
  const PlaceFacts& facts = place.facts();
  const auto limit = [](const auto& value) {
    return value ? fmt::format("{}", *value) : std::string("none");
  };
  std::string text = fmt::format(
      "Opened {} with {} from {}.\nWorkspace {}, user {}:{}.\nIn force: memory {} bytes, {} "
      "processes, {} processors; root {}; capabilities: {}; network {}.",
      place.spec().name, place.engine_version(),
      place.spec().existing.empty() ? place.spec().image
                                    : "the running container " + place.spec().existing,
      place.spec().workspace, *place.spec().uid, *place.spec().gid, limit(facts.memory_bytes),
      limit(facts.processes), limit(facts.cpus), facts.read_only_root ? "read-only" : "writable",
      facts.capabilities.empty() ? std::string("none")
                                 : fmt::format("{}", fmt::join(facts.capabilities, " ")),
      place.spec().network == PlaceNetwork::None ? "none" : "bridge");
  for (const auto& layer : place.forecast().layers) {
    for (const std::string& missing : layer.missing) {
      if (layer.name == "container") {
        text += "\nNot held: " + missing + ".";
      }
    }
  }
  if (!place.weaker().empty()) {
    text += fmt::format("\nNot held by bawn: {}.", place.weaker());
    for (const std::string& note : place.forecast().notes) {
      text += fmt::format("\nWeaker: {}.", note);
    }
  }
  return text;
}

contract::Outcome open_place(PlacePool& pool, const contract::Context& context, OpenArgs args) {
  const std::string engine = args.engine.value_or("");
  auto spec = spec_of(std::move(args));
  if (!spec) {
    return spec.error();
  }
  const auto opened = pool.open(context, *std::move(spec), engine);
  if (!opened) {
    const Error& error = opened.error();
    return error.is(ErrorCode::InvalidArgument) &&
                   !error.message().starts_with("invalid arguments:")
               ? error.wrap("invalid arguments")
               : error;
  }
  const Place& place = **opened;
  contract::ToolResult result = contract::text_result(text_of(place));
  result.structured = {
      {"place", place.spec().name},          {"container_id", place.handle().value("id", "")},
      {"engine", place.engine_version()},    {"image", place.spec().image},
      {"workspace", place.spec().workspace}, {"in_force", facts_json(place.facts())}};
  if (!place.weaker().empty()) {
    (*result.structured)["weaker"] = place.forecast().notes;
  }
  result.confinement = place.forecast();
  result.details = std::make_shared<contract::RecordDetails>(
      contract::Record{.name_space = kHandleRecord, .data = place.handle()});
  return result;
}

contract::Outcome close_place(PlacePool& pool, const contract::Context& context,
                              const CloseArgs& args) {
  const auto closed = pool.close_place(context, args.place);
  if (!closed) {
    return closed.error();
  }
  const bool removed = *closed;
  contract::ToolResult result = contract::text_result(
      fmt::format("Closed {}; {}.", args.place,
                  removed ? "its container is removed" : "the container that was joined runs on"));
  result.structured = {{"place", args.place}, {"removed", removed}};
  return result;
}

contract::ToolOptions options_of(const char* title, bool destructive, bool idempotent) {
  contract::ToolOptions options;
  options.annotations = contract::Annotations{.title = title,
                                              .read_only = false,
                                              .destructive = destructive,
                                              .idempotent = idempotent,
                                              .open_world = false};
  // The server itself asks the engine: nothing holds it but its own checks.
  options.confined = [](const contract::Context&, std::string_view) {
    contract::Confinement none;
    none.notes.emplace_back("the server asks the container engine; what then runs is confined");
    return none;
  };
  options.additional_properties = false;
  return options;
}

constexpr const char* kOpenOutput =
    R"({"type":"object","properties":{"place":{"type":"string"},"container_id":{"type":"string"},)"
    R"("engine":{"type":"string"},"image":{"type":"string"},"workspace":{"type":"string"},)"
    R"("in_force":{"type":"object"},"weaker":{"type":"array","items":{"type":"string"}}},"required":["place","container_id","engine","image",)"
    R"("workspace","in_force"]})";
constexpr const char* kCloseOutput =
    R"({"type":"object","properties":{"place":{"type":"string"},"removed":{"type":"boolean"}},)"
    R"("required":["place","removed"]})";

}  // namespace

std::vector<contract::ToolPtr> make_container_tools(std::shared_ptr<PlacePool> pool) {
  std::vector<contract::ToolPtr> tools;
  // Names, schemas and options are constants; the tests make both tools.
  contract::ToolOptions open = options_of("Open a container", false, false);
  open.output_schema = kOpenOutput;
  if (auto tool = contract::make_tool<OpenArgs>(
          "container_open", kOpenDescription,
          [pool](const contract::Context& context, OpenArgs args) {
            return open_place(*pool, context, std::move(args));
          },
          std::move(open))) {
    tools.push_back(*std::move(tool));
  }
  contract::ToolOptions close = options_of("Close a container", true, true);
  close.output_schema = kCloseOutput;
  if (auto tool = contract::make_tool<CloseArgs>(
          "container_close", kCloseDescription,
          [pool](const contract::Context& context, const CloseArgs& args) {
            return close_place(*pool, context, args);
          },
          std::move(close))) {
    tools.push_back(*std::move(tool));
  }
  return tools;
}

}  // namespace bawn::container
