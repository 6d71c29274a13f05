#include "report.hpp"

#include <fmt/format.h>

#include <sys/utsname.h>
#include <unistd.h>

#include <cstdlib>

namespace bawn::bench {
namespace {

using contract::Json;

std::string amount(double value, const std::string& unit) {
  if (unit != "us") {
    return fmt::format("{:.2f} {}", value, unit);
  }
  return value < 1000 ? fmt::format("{:.1f} us", value) : fmt::format("{:.2f} ms", value / 1000);
}

std::string verdict(const Row& row) {
  if (!row.target) {
    return "";
  }
  const bool met = row.absolute ? row.quantile(0.5) <= *row.target
                                : row.ratio && row.quantile(0.5) <=
                                                   *row.target * row.floor_median + row.allowance;
  const std::string allowance =
      row.allowance > 0 ? fmt::format(" + {:.0f} ms", row.allowance / 1000) : "";
  return fmt::format("<= {:.2f}{}{}  {}", *row.target, row.absolute ? " " + row.unit : "x",
                     allowance, met ? "met" : "MISSED");
}

std::string line_of(const Row& row) {
  const std::string name = row.peer ? row.name + " (peer)" : row.name;
  if (!row.failure.empty()) {
    return fmt::format("  {:<44} not measured: {}\n", name, row.failure);
  }
  return fmt::format("  {:<44} {:>6} {:>11} {:>11} {:>11} {:>8}  {}\n", name, row.samples.size(),
                     amount(row.quantile(0), row.unit), amount(row.quantile(0.5), row.unit),
                     amount(row.quantile(0.99), row.unit),
                     row.ratio ? fmt::format("{:.2f}x", *row.ratio) : "", verdict(row));
}

Json row_json(const Row& row) {
  Json json = {{"group", row.group}, {"name", row.name}, {"unit", row.unit}, {"peer", row.peer}};
  if (!row.failure.empty()) {
    json["failure"] = row.failure;
    return json;
  }
  json["n"] = row.samples.size();
  json["min"] = row.quantile(0);
  json["p50"] = row.quantile(0.5);
  json["p90"] = row.quantile(0.9);
  json["p99"] = row.quantile(0.99);
  json["floor"] = row.floor.empty() ? Json() : Json(row.floor);
  json["ratio"] = row.ratio ? Json(*row.ratio) : Json();
  json["target"] = row.target ? Json(*row.target) : Json();
  json["allowance"] = row.allowance;
  json["target_is"] = row.absolute ? "absolute" : "ratio";
  return json;
}

}  // namespace

std::string to_table(const std::vector<Row>& rows) {
  std::string table;
  std::string group;
  for (const Row& row : rows) {
    if (row.group != group) {
      group = row.group;
      table +=
          fmt::format("{}{:<46} {:>6} {:>11} {:>11} {:>11} {:>8}  {}\n", table.empty() ? "" : "\n",
                      group, "n", "min", "p50", "p99", "ratio", "target");
    }
    table += line_of(row);
  }
  return table;
}

Json to_json(const std::vector<Row>& rows) {
  utsname system{};
  ::uname(&system);
  double load[1] = {-1};
  ::getloadavg(load, 1);
  Json json;
  json["machine"] = {{"kernel", system.release},
                     {"architecture", system.machine},
                     {"processors", ::sysconf(_SC_NPROCESSORS_ONLN)},
                     {"load", load[0]}};
  json["rows"] = Json::array();
  for (const Row& row : rows) {
    json["rows"].push_back(row_json(row));
  }
  return json;
}

}  // namespace bawn::bench
