#include "bawn/shell/session.hpp"

#include "bare_files.hpp"
#include "relay_files.hpp"
#include "session_dir.hpp"
#include "session_impl.hpp"

#include <utility>

namespace bawn::shell {

namespace {
constexpr const char* kReportName = "report";
}

Session::Session(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Session::~Session() = default;

Result<std::shared_ptr<Session>> Session::start_inside(SessionConfig config, std::string directory,
                                                       std::shared_ptr<sandbox::Warden> warden,
                                                       std::vector<std::string> environment) {
  auto dir = std::make_unique<SessionDir>(BAWN_TRY(SessionDir::open(std::move(directory))));
  auto impl = BAWN_TRY(
      make_impl(std::move(config), std::move(dir), std::move(warden), std::move(environment)));
  BAWN_TRY(impl->bring_up());
  return std::shared_ptr<Session>(new Session(std::move(impl)));
}

Result<std::unique_ptr<Session::Impl>> Session::make_impl(SessionConfig config,
                                                          std::unique_ptr<const SessionFiles> files,
                                                          std::shared_ptr<sandbox::Warden> warden,
                                                          std::vector<std::string> environment) {
  ReportChannel reports(BAWN_TRY(files->make_report(kReportName)));
  std::string report_path = files->write_side() + kReportName;
  return std::make_unique<Impl>(std::move(config), std::move(files), std::move(warden),
                                std::move(environment), std::move(reports), std::move(report_path));
}

Result<std::shared_ptr<Session>> Session::start_over(SessionConfig config, RemotePlace place,
                                                     std::vector<std::string> environment) {
  auto files = BAWN_TRY(RelayFiles::open(config.state_dir, place));
  auto impl = BAWN_TRY(make_impl(std::move(config), std::move(files), std::move(place.warden),
                                 std::move(environment)));
  impl->place = std::move(place.name);
  impl->identity.uid = place.uid;
  impl->identity.gid = place.gid;
  BAWN_TRY(impl->bring_up());
  return std::shared_ptr<Session>(new Session(std::move(impl)));
}

Result<std::shared_ptr<Session>> Session::start_bare(SessionConfig config, BarePlace place,
                                                     std::vector<std::string> environment) {
  config.shell = ShellKind::Sh;
  auto files = BAWN_TRY(BareFiles::open(config.state_dir, place));
  auto impl = BAWN_TRY(make_impl(std::move(config), std::move(files), std::move(place.warden),
                                 std::move(environment)));
  impl->place = std::move(place.name);
  impl->identity.uid = place.uid;
  impl->identity.gid = place.gid;
  impl->place_files = std::move(place.files);
  BAWN_TRY(impl->bring_up());
  return std::shared_ptr<Session>(new Session(std::move(impl)));
}

Result<CallResult> Session::run(const contract::Context& context, BashRequest request) {
  return impl_->run(context, std::move(request));
}

Result<CallResult> Session::exec(const contract::Context& context, ExecRequest request) {
  return impl_->exec(context, std::move(request));
}

Result<CallResult> Session::output(const contract::Context& context, const OutputRequest& request) {
  return impl_->output(context, request);
}

Result<> Session::write_input(const InputRequest& request) {
  return impl_->write_input(request);
}

Result<> Session::stop(const std::string& call) {
  const CallPtr record = impl_->calls.find(call);
  if (record == nullptr) {
    return contract::fail(ErrorCode::NotFound, "no call \"" + call + "\" is kept in this session");
  }
  record->request_stop(StopCause::Cancelled);
  return {};
}

std::vector<CallSummary> Session::recent() const {
  std::vector<CallSummary> summaries;
  for (const CallPtr& call : impl_->calls.all()) {
    summaries.push_back(call->summary());
  }
  return summaries;
}

Result<Restored> Session::restart(const contract::Context& context, bool keep_state) {
  return impl_->restart(context, keep_state);
}

void Session::close() {
  impl_->close();
}
const std::string& Session::name() const noexcept {
  return impl_->config.name;
}
const sandbox::Policy& Session::policy() const noexcept {
  return impl_->config.policy;
}
const std::string& Session::workspace() const noexcept {
  return impl_->config.workspace;
}
const contract::Confinement& Session::confinement() const noexcept {
  return impl_->warden->report();
}
const Identity& Session::identity() const noexcept {
  return impl_->identity;
}
const std::vector<std::string>& Session::environment() const noexcept {
  return impl_->environment;
}
const std::shared_ptr<sandbox::Warden>& Session::warden() const noexcept {
  return impl_->warden;
}
std::optional<Milliseconds> Session::idle_for() const {
  return impl_->idle_for();
}
bool Session::elsewhere() const noexcept {
  return impl_->elsewhere();
}
bool Session::alive() const noexcept {
  return impl_->warden->alive();
}

}  // namespace bawn::shell
