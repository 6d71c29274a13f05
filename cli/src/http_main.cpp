/// \file
/// The program `bawn-http`: the tools of `bawn mcp` over streamable HTTP. A program of its own, so
/// that `bawn` stays small.

#include "bawn/mcp/http.hpp"
#include "bawn/sandbox/own_state.hpp"
#include "commands.hpp"
#include "http_check.hpp"
#include "limit_options.hpp"
#include "listen_path.hpp"
#include "own_tools.hpp"
#include "policy_choice.hpp"
#include "program.hpp"
#include "serving.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <sys/stat.h>

#include <charconv>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <system_error>

namespace bawn::cli {
namespace {

using contract::ErrorCode;
using contract::fail;
using contract::Result;

struct Options {
  WallOptions wall;
  LimitOptions limits;
  bool login_environment = false;
  std::string listen = "127.0.0.1:8808";
  std::string token_file;
  bool check = false;
  mcp::HttpOptions http;
};

/// Reads `unix:PATH`, `ADDRESS:PORT`, `[ADDRESS]:PORT`, `ADDRESS` or `:PORT`.
Result<> read_address(const std::string& text, mcp::HttpOptions& http) {
  constexpr std::string_view kUnix = "unix:";
  if (text.starts_with(kUnix)) {
    http.unix_path = text.substr(kUnix.size());
    return http.unix_path.empty()
               ? fail(ErrorCode::InvalidArgument, "--listen unix: the path is missing")
               : Result<>();
  }
  const auto colon = text.rfind(':');
  const bool bracketed = text.starts_with('[');
  const auto bracket = bracketed ? text.find(']') : std::string::npos;
  const bool port_given = colon != std::string::npos && (!bracketed || colon == bracket + 1);
  std::string address = port_given ? text.substr(0, colon) : text;
  if (bracketed && address.ends_with(']')) {
    address = address.substr(1, address.size() - 2);
  }
  if (!address.empty()) {
    http.address = address;
  }
  constexpr std::uint16_t kPort = 8808;
  http.port = kPort;
  if (port_given) {
    const char* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data() + colon + 1, end, http.port);
    if (read.ec != std::errc() || read.ptr != end) {
      return fail(ErrorCode::InvalidArgument,
                  fmt::format("--listen {}: the port must be a number from 0 to 65535", text));
    }
  }
  return {};
}

/// Without tokens whoever reaches the address is a client: another user of this machine, or a
/// command of this or another wall, could be the one that is asked whether it may have more. True
/// when therefore nobody is asked.
bool ask_no_strangers(Options& options) {
  const bool strangers =
      options.http.unix_path.empty() && options.http.tokens.empty() && options.wall.grant == "ask";
  if (strangers) {
    options.wall.grant = "never";
  }
  return strangers;
}

void tell_that_nobody_is_asked() {
  std::fputs(
      "bawn-http: calls that ask for more are declined, because without tokens anybody here could "
      "answer for the user; give --token-file, or --listen unix:PATH, to have the user asked\n",
      stderr);
}

/// A file that takes another one's name is not hidden from sessions that are there already: the
/// kernel takes their mask off with the old one. From then on a command may have a token.
std::function<std::string()> if_replaced(const std::string& file) {
  struct stat first{};
  const bool there = ::stat(file.c_str(), &first) == 0;
  return [=]() -> std::string {
    struct stat now{};
    const bool same = there && ::stat(file.c_str(), &now) == 0 && now.st_dev == first.st_dev &&
                      now.st_ino == first.st_ino;
    return same ? "" : "this server, whose token file was replaced while it ran: start it again";
  };
}

/// Reads the tokens, and hides their file from all that will run here.
Result<> read_tokens(Options& options) {
  if (options.token_file.empty()) {
    return {};
  }
  std::error_code failed;
  const auto file = std::filesystem::canonical(options.token_file, failed);
  if (failed) {
    return std::unexpected(contract::Error::from_errno(failed.value(), "realpath",
                                                       "token file " + options.token_file));
  }
  const auto tokens =
      std::make_shared<mcp::BearerTokenFile>(BAWN_TRY(mcp::BearerTokenFile::open(file)));
  options.http.tokens = tokens->tokens();
  options.http.changed_tokens = [tokens] { return tokens->changed(); };
  sandbox::keep_hidden(file);
  options.wall.no_answer = if_replaced(file);
  options.token_file = file;
  return {};
}

Result<int> serve(Options& options) {
  BAWN_TRY(read_address(options.listen, options.http));
  if (options.check) {
    if (!options.http.unix_path.empty()) {
      return fail(ErrorCode::InvalidArgument, "--check asks an address and no path");
    }
    BAWN_TRY(check_health(options.http.address, options.http.port));
    return 0;
  }
  BAWN_TRY(read_tokens(options));
  const bool nobody_is_asked = ask_no_strangers(options);
  OwnTools own = BAWN_TRY(
      make_own_tools(options.wall, options.limits,
                     options.login_environment ? LoginEnvironment::Yes : LoginEnvironment::No));
  if (!options.token_file.empty()) {
    BAWN_TRY(check_outside("the token file", options.token_file, own.pool->config(),
                           "where commands could replace it and containers have it mounted"));
  }
  if (!options.http.unix_path.empty()) {
    options.http.unix_path =
        BAWN_TRY(socket_path_outside(options.http.unix_path, own.pool->config()));
  }
  const auto server = BAWN_TRY(make_server(own));
  options.http.context = own.context;
  options.http.on_ready = [&](std::uint16_t port) {
    if (!options.http.unix_path.empty()) {
      std::fprintf(stderr, "bawn-http: serving at unix:%s#%s\n", options.http.unix_path.c_str(),
                   options.http.path.c_str());
      return;
    }
    const bool six = options.http.address.find(':') != std::string::npos;
    std::fprintf(stderr, "bawn-http: serving at http://%s%s%s:%u%s\n", six ? "[" : "",
                 options.http.address.c_str(), six ? "]" : "", static_cast<unsigned>(port),
                 options.http.path.c_str());
    if (nobody_is_asked) {
      tell_that_nobody_is_asked();
    }
  };
  const auto end = BAWN_TRY(mcp::serve_http(server, options.http));
  return finish_serving(own, end.abandoned_calls);
}

int run(int argc, char** argv) {
  Options options;
  CLI::App app("The tools of bawn over MCP's streamable HTTP.", "bawn-http");
  app.set_version_flag("--version", std::string("bawn-http ") + BAWN_VERSION);
  add_wall_options(app, options.wall);
  add_grant_option(app, options.wall);
  add_limit_options(app, options.limits);
  app.add_flag("--login-environment", options.login_environment,
               "Sessions begin with what the user's profile exports, taken once inside the wall");
  app.add_option("--listen", options.listen,
                 "Address and port to listen at, or a unix socket for this user")
      ->type_name("ADDRESS:PORT|unix:PATH")
      ->capture_default_str();
  app.add_option("--path", options.http.path, "Path of the endpoint")->capture_default_str();
  app.add_option("--token-file", options.token_file,
                 "File of bearer tokens, one a line with an optional name behind it; mode 0600")
      ->type_name("FILE");
  app.add_option("--accept-host", options.http.allowed_hosts,
                 "Host that a request may name, beside this machine's own names");
  app.add_option("--accept-origin", options.http.allowed_origins,
                 "Origin that a browser's request may come from");
  app.add_flag("--open-to-all", options.http.open_to_all,
               "Listen without tokens at an address that other machines reach");
  app.add_flag("--check", options.check,
               "Serve nothing: ask whether a server at the address of --listen does");
  return run_program(app, argc, argv, [&] { return serve(options); });
}

}  // namespace
}  // namespace bawn::cli

int main(int argc, char** argv) {
  return bawn::cli::run(argc, argv);
}
