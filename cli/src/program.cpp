#include "program.hpp"

#include "commands.hpp"

#include <CLI/CLI.hpp>

#include <cstdio>
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
    std::fprintf(stderr, "%s: %s\n", name.c_str(), status.error().message().c_str());
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {
      return app.exit(error);
    }
    std::fprintf(stderr, "%s: %s; `%s --help` lists what there is\n", name.c_str(), error.what(),
                 name.c_str());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", name.c_str(), error.what());
  }
  return kOwnFailure;
}

}  // namespace bawn::cli
