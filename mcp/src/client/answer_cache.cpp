#include "client/answer_cache.hpp"

#include <algorithm>

namespace bawn::mcp {
namespace {

/// The member in milliseconds; 0 when it is none of those that count.
std::chrono::milliseconds ttl_in(const Json& result, std::chrono::milliseconds max_age) {
  const Json ttl = result.is_object() ? result.value("ttlMs", Json()) : Json();
  if (!ttl.is_number_unsigned() || max_age.count() <= 0) {
    return std::chrono::milliseconds(0);  // also for those below zero
  }
  const auto longest = static_cast<std::uint64_t>(max_age.count());
  return std::chrono::milliseconds(std::min(ttl.get<std::uint64_t>(), longest));
}

}  // namespace

Freshness::Freshness(const Json& result, std::chrono::milliseconds max_age)
    : until_(Clock::now() + ttl_in(result, max_age)),
      public_(result.is_object() && result.value("cacheScope", Json()) == "public") {}

void Freshness::narrow(const Freshness& other) {
  until_ = std::min(until_, other.until_);
  public_ = public_ && other.public_;
}

std::optional<Json> AnswerCache::find(const AnswerKey& key, std::uint64_t authorization) {
  const std::scoped_lock lock(mutex_);
  const auto found = answers_.find(key);
  if (found == answers_.end()) {
    return std::nullopt;
  }
  const Kept& kept = found->second;
  if (!kept.freshness.fresh() ||
      (!kept.freshness.is_public() && kept.authorization != authorization)) {
    drop(found);
    return std::nullopt;
  }
  return kept.answer;
}

std::uint64_t AnswerCache::generation() const {
  const std::scoped_lock lock(mutex_);
  return generation_;
}

void AnswerCache::keep(const AnswerKey& key, Json answer, const Freshness& freshness,
                       std::uint64_t authorization, std::uint64_t generation) {
  if (!freshness.fresh()) {
    return;
  }
  const std::size_t bytes = contract::dump_json(answer).size();
  const std::scoped_lock lock(mutex_);
  if (generation != generation_ || bytes > kMostBytes) {
    return;
  }
  if (const auto before = answers_.find(key); before != answers_.end()) {
    drop(before);
  }
  while (!answers_.empty() && (bytes_ + bytes > kMostBytes || answers_.size() >= kMostAnswers)) {
    drop(std::ranges::min_element(
        answers_, {}, [](const auto& entry) { return entry.second.freshness.until(); }));
  }
  bytes_ += bytes;
  answers_.emplace(key, Kept{.answer = std::move(answer),
                             .freshness = freshness,
                             .authorization = authorization,
                             .bytes = bytes});
}

void AnswerCache::forget(std::string_view method) {
  const std::scoped_lock lock(mutex_);
  ++generation_;
  for (auto at = answers_.begin(); at != answers_.end();) {
    at = at->first.method == method ? drop(at) : std::next(at);
  }
}

void AnswerCache::forget(const AnswerKey& key) {
  const std::scoped_lock lock(mutex_);
  ++generation_;
  if (const auto found = answers_.find(key); found != answers_.end()) {
    drop(found);
  }
}

/// Under the lock; the next one.
AnswerCache::Answers::iterator AnswerCache::drop(Answers::iterator at) {
  bytes_ -= at->second.bytes;
  return answers_.erase(at);
}

}  // namespace bawn::mcp
