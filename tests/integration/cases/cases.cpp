#include "cases.hpp"

namespace bawn::test {

using contract::Json;

Json CasesTest::result(std::string_view tool, const Json& arguments) {
  const auto began = std::chrono::steady_clock::now();
  const Json answer = call(tool, contract::dump_json(arguments));
  took = std::chrono::duration_cast<Milliseconds>(std::chrono::steady_clock::now() - began);
  if (!answer.contains("result") || !answer["result"].contains("structuredContent")) {
    ADD_FAILURE() << contract::dump_json(answer);
    return Json::object();
  }
  const Json& structured = answer["result"]["structuredContent"];
  return structured.contains("result") ? structured["result"] : structured;
}

Json CasesTest::sh(const std::string& command, Json arguments) {
  arguments["command"] = command;
  return result("bash", arguments);
}

Json CasesTest::exec(std::vector<std::string> argv, Json arguments) {
  arguments["argv"] = std::move(argv);
  return result("exec", arguments);
}

Json CasesTest::to_end(const Json& begun) {
  Json now = begun;
  while (now.value("state", "") == "running") {
    now = result(
        "bash_output",
        {{"call", begun["call"]}, {"stdout_from", 0}, {"stderr_from", 0}, {"yield_ms", 20000}});
  }
  return now;
}

Json CasesTest::cancelled(const std::string& command) {
  const Json begun = sh(command, {{"yield_ms", 0}});
  const Json shown =
      result("bash_output",
             {{"call", begun["call"]}, {"stdout_from", 0}, {"yield_ms", 20000}, {"follow", true}});
  EXPECT_EQ(shown.value("state", ""), "running");
  return result("bash_kill", {{"call", begun["call"]}});
}

std::vector<std::string> survivors(const Json& result) {
  std::vector<std::string> names;
  for (const Json& process : result.value("survivors", Json::array())) {
    names.push_back(process.value("name", ""));
  }
  return names;
}

}  // namespace bawn::test
