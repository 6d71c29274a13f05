#include "program.hpp"

#include "bawn/contract/visible_text.hpp"
#include "commands.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>

namespace bawn::cli {

int run_program(CLI::App& app, int argc, char** argv,
                const std::function<contract::Result<int>()>& serve) {
  const std::string name = app.get_name();
  try {
    app.parse(argc, argv);
    const auto status = serve();
    if (status) {
      return *status;
    }
    tell_failure(name, status.error().message());
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {
      return with_output_written(app.exit(error), name);
    }
    tell_failure(name, fmt::format("{}; `{} --help` lists what there is", error.what(), name));
  } catch (const std::exception& error) {
    tell_failure(name, error.what());
  }
  return kOwnFailure;
}

void tell_failure(std::string_view program, std::string_view sentence) {
  fmt::print(stderr, "{}: {}\n", program, contract::visible_text(sentence));
}

int with_output_written(int status, const std::string& program) {
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) {
    return status;
  }
  std::fprintf(stderr, "%s: cannot write standard output%s%s\n", program.c_str(),
               errno != 0 ? ": " : "", errno != 0 ? std::strerror(errno) : "");
  return status == 0 ? kOwnFailure : status;
}

}  // namespace bawn::cli
