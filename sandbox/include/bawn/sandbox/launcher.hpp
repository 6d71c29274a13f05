/// \file
/// A launcher for Boost.Process v2: commands behind a wall as `basic_process` handles.
///
/// Boost 1.81's own launchers start nothing here: they leak descriptors across gaps, run the
/// parent's exit handlers when exec fails, and throw from the overloads that take an error_code.
/// `basic_process` itself is only the handle: wait, async_wait, interrupt, request_exit, terminate.
///
/// The only header here that includes Boost. Programs that use it need the headers of Boost 1.81 or
/// newer, and Boost.Filesystem or BOOST_PROCESS_USE_STD_FS.
#pragma once

#include "bawn/sandbox/launch.hpp"

#include <boost/asio/execution_context.hpp>
// clang-format off: with BOOST_PROCESS_USE_STD_FS, Boost 1.81's headers need these before them
#include <boost/io/quoted.hpp>
#include <boost/optional.hpp>
#include <boost/type_traits.hpp>
// clang-format on
#include <boost/process/v2/environment.hpp>
#include <boost/process/v2/process.hpp>
#include <boost/process/v2/start_dir.hpp>
#include <boost/process/v2/stdio.hpp>
#include <boost/system/error_code.hpp>
#include <boost/system/system_error.hpp>

#include <fcntl.h>

#include <cerrno>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace bawn::sandbox {

/// An initializer: gets the confirmed report of the command that was started.
struct ConfinementInto {
  contract::Confinement& report;
};
/// An initializer: gets the sentence and the causes of what an error_code says with one number.
struct ErrorInto {
  contract::Error& error;
};

/// Starts each command behind a wall of its own. Everything about walls, lifetime, signals and
/// threads is as CommandLauncher says.
///
/// Initializers: boost::process::v2::process_stdio, process_environment, process_start_dir, and the
/// two above. Without process_stdio the command has this process's standard streams.
///
/// Errors go into the error_code: the errno of what failed (execve, chdir, ...), not_supported
/// where the policy cannot be held here, invalid_argument. The overload without one throws
/// boost::system::system_error, as Boost.Process's own do.
class Launcher {
 public:
  using Options = CommandLauncher::Options;
  explicit Launcher(Options options) : launcher_(std::move(options)) {}

  /// `launcher(executor, error, "/usr/bin/make", {"-k"}, process_stdio{...})`. A name without a
  /// slash is looked up in the PATH inside.
  template <class Executor, class Arguments, class... Initializers>
    requires(!std::is_convertible_v<Executor&, boost::asio::execution_context&>)
  boost::process::v2::basic_process<Executor> operator()(Executor executor,
                                                         boost::system::error_code& error,
                                                         const std::string& program,
                                                         const Arguments& arguments,
                                                         Initializers&&... initializers) {
    LaunchSpec spec;
    spec.argv.push_back(program);
    for (const auto& argument : arguments) {
      spec.argv.emplace_back(argument);
    }
    error.clear();
    (prepare(spec, initializers, error), ...);
    if (error) {
      return boost::process::v2::basic_process<Executor>(std::move(executor));
    }
    auto started = launcher_.start(spec);
    if (!started) {
      error = to_error_code(started.error());
      (tell(started.error(), initializers), ...);
      return boost::process::v2::basic_process<Executor>(std::move(executor));
    }
    (tell(started->report, initializers), ...);
    return boost::process::v2::basic_process<Executor>(std::move(executor), started->pid,
                                                       started->pidfd.release());
  }

  template <class Executor, class Text = std::string_view, class... Initializers>
    requires(!std::is_convertible_v<Executor&, boost::asio::execution_context&>)
  boost::process::v2::basic_process<Executor> operator()(Executor executor,
                                                         boost::system::error_code& error,
                                                         const std::string& program,
                                                         std::initializer_list<Text> arguments,
                                                         Initializers&&... initializers) {
    return operator()<Executor, std::initializer_list<Text>>(
        std::move(executor), error, program, arguments,
        std::forward<Initializers>(initializers)...);
  }

  /// The same on the executor of `context`.
  template <class Context, class... Rest>
    requires std::is_convertible_v<Context&, boost::asio::execution_context&>
  auto operator()(Context& context, boost::system::error_code& error, const std::string& program,
                  std::initializer_list<std::string_view> arguments, Rest&&... initializers) {
    return operator()(context.get_executor(), error, program, arguments,
                      std::forward<Rest>(initializers)...);
  }
  template <class Context, class Arguments, class... Rest>
    requires std::is_convertible_v<Context&, boost::asio::execution_context&>
  auto operator()(Context& context, boost::system::error_code& error, const std::string& program,
                  const Arguments& arguments, Rest&&... initializers) {
    return operator()(context.get_executor(), error, program, arguments,
                      std::forward<Rest>(initializers)...);
  }

  /// Throws boost::system::system_error with the whole sentence.
  template <class Executor, class... Rest>
  auto operator()(Executor&& executor, const std::string& program,
                  std::initializer_list<std::string_view> arguments, Rest&&... initializers) {
    boost::system::error_code error;
    contract::Error reason(ErrorCode::InvalidArgument, "a standard stream cannot be used");
    auto process = operator()(std::forward<Executor>(executor), error, program, arguments,
                              std::forward<Rest>(initializers)..., ErrorInto{reason});
    if (error) {
      throw boost::system::system_error(error, reason.message());
    }
    return process;
  }

  /// The errno behind an Error, or the nearest one.
  static boost::system::error_code to_error_code(const contract::Error& error) {
    if (error.errnum() != 0) {
      return {error.errnum(), boost::system::system_category()};
    }
    switch (error.code()) {
      case ErrorCode::InvalidArgument:
        return {EINVAL, boost::system::system_category()};
      case ErrorCode::NotFound:
        return {ENOENT, boost::system::system_category()};
      case ErrorCode::PermissionDenied:
        return {EACCES, boost::system::system_category()};
      case ErrorCode::ResourceExhausted:
        return {EAGAIN, boost::system::system_category()};
      case ErrorCode::DeadlineExceeded:
        return {ETIMEDOUT, boost::system::system_category()};
      case ErrorCode::Unsupported:
        return {ENOTSUP, boost::system::system_category()};
      default:
        return {EIO, boost::system::system_category()};
    }
  }

 private:
  /// Boost's binding leaves the command's end of a pipe inheritable; nobody shall have it but the
  /// command.
  template <class Binding>
  static int take_stream(const Binding& binding, boost::system::error_code& error) {
    if (binding.ec) {
      error = binding.ec;
    } else if (binding.fd < 0 ||
               (binding.fd_needs_closing && ::fcntl(binding.fd, F_SETFD, FD_CLOEXEC) != 0)) {
      error.assign(EBADF, boost::system::system_category());
    }
    return binding.fd;
  }

  static void prepare(LaunchSpec& spec, const boost::process::v2::process_stdio& streams,
                      boost::system::error_code& error) {
    spec.standard_input = take_stream(streams.in, error);
    spec.standard_output = take_stream(streams.out, error);
    spec.standard_error = take_stream(streams.err, error);
  }
  static void prepare(LaunchSpec& spec, const boost::process::v2::process_environment& environment,
                      boost::system::error_code& /*error*/) {
    auto& entries = spec.env.emplace();
    for (const char* entry : environment.env) {
      if (entry != nullptr) {
        entries.emplace_back(entry);
      }
    }
  }
  static void prepare(LaunchSpec& spec, const boost::process::v2::process_start_dir& directory,
                      boost::system::error_code& /*error*/) {
    spec.cwd = directory.start_dir.string();
  }
  static void prepare(LaunchSpec& /*spec*/, const ConfinementInto& /*into*/,
                      boost::system::error_code& /*error*/) {}
  static void prepare(LaunchSpec& /*spec*/, const ErrorInto& /*into*/,
                      boost::system::error_code& /*error*/) {}

  static void tell(const contract::Confinement& report, const ConfinementInto& into) {
    into.report = report;
  }
  static void tell(const contract::Error& error, const ErrorInto& into) { into.error = error; }
  template <class Value, class Other>
  static void tell(const Value& /*value*/, const Other& /*other*/) {}

  CommandLauncher launcher_;
};

}  // namespace bawn::sandbox
