#include "audit_record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <utility>

namespace bawn::sandbox {
namespace {

int number_in(const AuditText& text, const std::string& key) {
  const auto found = text.fields.find(key);
  int value = 0;
  if (found != text.fields.end()) {
    const std::string& digits = found->second;
    std::from_chars(digits.data(), digits.data() + digits.size(), value);
  }
  return value;
}

std::string text_in(const AuditText& text, const std::string& key) {
  const auto found = text.fields.find(key);
  return found == text.fields.end() ? std::string() : found->second;
}

int hex_digit(char letter) {
  return letter >= '0' && letter <= '9'   ? letter - '0'
         : letter >= 'A' && letter <= 'F' ? letter - 'A' + 10
                                          : -1;
}

/// The kernel writes what it does not trust in quotes, or in hexadecimal when it holds a quote, a
/// blank or a control character (audit_log_untrustedstring). Other fields are never decoded: a
/// number may look like such a text.
std::string untrusted(std::string_view word) {
  if (word.size() % 2 != 0 || word.empty()) {
    return std::string(word);
  }
  std::string bytes;
  for (std::size_t at = 0; at < word.size(); at += 2) {
    const int high = hex_digit(word[at]);
    const int low = hex_digit(word[at + 1]);
    if (high < 0 || low < 0) {
      return std::string(word);
    }
    bytes += static_cast<char>(high * 16 + low);
  }
  return bytes;
}

constexpr std::string_view kUntrusted[] = {"path", "exe", "comm", "ocomm"};

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> words;
  std::size_t begin = 0;
  while (begin <= list.size() && !list.empty()) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    words.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

/// Of a connection the destination counts, of a bind the source.
std::string address_in(const AuditText& text) {
  for (const auto& [host, port] : {std::pair{"daddr", "dest"}, std::pair{"saddr", "src"}}) {
    if (text.fields.contains(port) || text.fields.contains(host)) {
      const std::string name = text_in(text, host);
      const bool v6 = name.find(':') != std::string::npos;
      return fmt::format("{}{}{}:{}", v6 ? "[" : "", name, v6 ? "]" : "", text_in(text, port));
    }
  }
  return {};
}

}  // namespace

std::string_view AuditDenial::op() const noexcept {
  const std::string_view blocker = blockers.empty() ? std::string_view() : blockers.front();
  if (blocker == "fs.read_file" || blocker == "fs.read_dir") {
    return "read";
  }
  if (blocker == "fs.execute") {
    return "execute";
  }
  if (blocker == "fs.change_topology") {
    return "mount";
  }
  if (blocker == "net.bind_tcp") {
    return "bind";
  }
  if (blocker.starts_with("net.") || blocker == "scope.abstract_unix_socket" ||
      blocker == "fs.resolve_unix") {
    return "connect";
  }
  return blocker == "scope.signal" ? "signal" : blocker == "ptrace" ? "trace" : "write";
}

std::optional<AuditText> parse_audit_text(std::string_view text) {
  constexpr std::string_view kBegin = "audit(";
  const std::size_t close = text.find("):");
  if (!text.starts_with(kBegin) || close == std::string_view::npos) {
    return std::nullopt;
  }
  AuditText read;
  read.event = text.substr(kBegin.size(), close - kBegin.size());
  if (read.event.empty() || read.event.find_first_not_of("0123456789.:") != std::string::npos) {
    return std::nullopt;
  }
  text.remove_prefix(close + 2);
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(std::string_view(" \0\n", 3)), text.size()));
    const std::size_t equals = text.find('=');
    if (text.empty() || equals == std::string_view::npos) {
      return read;
    }
    const std::string key(text.substr(0, equals));
    text.remove_prefix(equals + 1);
    const bool quoted = text.starts_with('"');
    text.remove_prefix(quoted ? 1 : 0);
    const std::size_t end =
        std::min(text.find_first_of(quoted ? std::string_view("\"") : std::string_view(" \0\n", 3)),
                 text.size());
    const std::string_view word = text.substr(0, end);
    const bool decode = !quoted && std::ranges::find(kUntrusted, key) != std::end(kUntrusted);
    read.fields[key] = decode ? untrusted(word) : std::string(word);
    text.remove_prefix(std::min(end + (quoted ? 1 : 0), text.size()));
  }
}

AuditEvents::Open& AuditEvents::open_event(const std::string& event) {
  const auto found = std::ranges::find(open_, event, &Open::event);
  if (found != open_.end()) {
    return *found;
  }
  if (open_.size() == kMostOpen) {
    close(open_.front());
    open_.pop_front();
  }
  open_.push_back({.event = event, .denials = {}, .program = {}});
  return open_.back();
}

void AuditEvents::close(Open& event) {
  for (AuditDenial& denial : event.denials) {
    if (std::ranges::find(domains_, denial.domain) == domains_.end()) {
      continue;
    }
    denial.pid = event.pid;
    denial.parent_pid = event.parent_pid;
    denial.program = event.program;
    denial.number = ++last_;
    kept_.push_back(std::move(denial));
    if (kept_.size() > kMostKept) {
      kept_.pop_front();
    }
  }
  event.denials.clear();
}

void AuditEvents::take(AuditType type, std::string_view bytes) {
  const auto text = parse_audit_text(bytes);
  if (!text) {
    return;
  }
  switch (type) {
    case AuditType::LandlockDomain:
      // "status=allocated" comes with the domain's first denial, "deallocated" with its end.
      if (text_in(*text, "status") == "allocated" && maker_ != 0 &&
          number_in(*text, "pid") == maker_) {
        domains_.push_back(text_in(*text, "domain"));
      } else if (text_in(*text, "status") == "deallocated") {
        close_all();  // while its name is known
        std::erase(domains_, text_in(*text, "domain"));
      }
      break;
    case AuditType::LandlockAccess:
      open_event(text->event)
          .denials.push_back({.number = 0,
                              .domain = text_in(*text, "domain"),
                              .blockers = split(text_in(*text, "blockers")),
                              .path = text_in(*text, "path"),
                              .address = address_in(*text),
                              .target_pid = number_in(*text, "opid"),
                              .program = {}});
      break;
    case AuditType::SystemCall: {
      // One comes with every recorded call of the machine: only those of open events are of use.
      const auto found = std::ranges::find(open_, text->event, &Open::event);
      if (found != open_.end()) {
        found->pid = number_in(*text, "pid");
        found->parent_pid = number_in(*text, "ppid");
        found->program = text_in(*text, "exe");
      }
      break;
    }
    case AuditType::EndOfEvent:
      if (const auto found = std::ranges::find(open_, text->event, &Open::event);
          found != open_.end()) {
        close(*found);
        open_.erase(found);
      }
      break;
  }
}

void AuditEvents::close_all() {
  for (Open& event : open_) {
    close(event);
  }
  open_.clear();
}

std::vector<AuditDenial> AuditEvents::after(std::uint64_t number) {
  close_all();
  std::vector<AuditDenial> news;
  std::ranges::copy_if(kept_, std::back_inserter(news),
                       [&](const AuditDenial& denial) { return denial.number > number; });
  return news;
}

}  // namespace bawn::sandbox
