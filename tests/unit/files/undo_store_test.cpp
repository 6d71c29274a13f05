#include "undo_store.hpp"

#include "support/temp_dir.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <thread>
#include <vector>

namespace bawn::files {
namespace {

UndoChange change(const std::string& session, std::string bytes) {
  UndoChange change{.call = {}, .session = session, .tool = "edit_file", .files = {}};
  change.files.push_back({.path = "/x",
                          .target = "/y",
                          .before = LoadedFile{.bytes = std::move(bytes), .status = {}},
                          .after = UndoFile::New{.etag = "e", .status = {}}});
  change.files.push_back(
      {.path = "/new", .target = "/new", .after = UndoFile::New{.etag = "f", .status = {}}});
  return change;
}

/// Stores and keeps it in one; empty when it is not stored.
std::string keep(UndoStore& store, UndoChange change) {
  std::vector<std::string_view> contents;
  for (const UndoFile& file : change.files) {
    contents.push_back(file.before ? std::string_view(file.before->bytes) : std::string_view());
  }
  auto stored = store.store(contents);
  return stored ? store.keep(*std::move(stored), std::move(change)) : std::string();
}

class UndoStoreTest : public testing::Test {
 protected:
  void make(std::size_t bytes, std::size_t changes) {
    auto store = UndoStore::make(directory_.path(), {.bytes = bytes, .changes = changes});
    ASSERT_TRUE(store) << store.error().message();
    store_ = *store;
  }
  test::TempDir directory_;
  std::shared_ptr<UndoStore> store_;
};

TEST_F(UndoStoreTest, GivesBackWhatWasKeptToItsSessionOnly) {
  make(1000, 10);
  const std::string one = keep(*store_, change("a", "first"));
  const std::string two = keep(*store_, change("a", std::string("sec\0nd", 6)));
  EXPECT_NE(one, two);
  EXPECT_EQ(store_->find("a", one)->files[0].before->bytes, "first");
  EXPECT_EQ(store_->find("a", two)->files[0].before->bytes, std::string("sec\0nd", 6));
  EXPECT_FALSE(store_->find("a", two)->files[1].before);
  EXPECT_FALSE(store_->find("b", one));
  EXPECT_THAT(store_->paths_of(one), testing::UnorderedElementsAre("/x", "/x", "/new", "/new"));
  EXPECT_TRUE(store_->paths_of("change-99").empty());
  EXPECT_TRUE(std::filesystem::is_empty(directory_.path())) << "the file has a name";
}

TEST_F(UndoStoreTest, DropsTheOldestFirst) {
  make(10, 2);
  const std::string one = keep(*store_, change("a", "1234"));
  const std::string two = keep(*store_, change("a", "5678"));
  const std::string three = keep(*store_, change("a", "90"));  // the number is full
  EXPECT_FALSE(store_->find("a", one));
  EXPECT_EQ(store_->find("a", two)->files[0].before->bytes, "5678");
  const std::string four = keep(*store_, change("a", "abcdefgh"));  // the bytes are full
  EXPECT_FALSE(store_->find("a", two));
  EXPECT_EQ(store_->find("a", three)->files[0].before->bytes, "90");
  EXPECT_EQ(store_->find("a", four)->files[0].before->bytes, "abcdefgh");
  EXPECT_EQ(keep(*store_, change("a", "more than all of it")), "");
  EXPECT_TRUE(store_->find("a", four)) << "what is too large pushes nothing out";
}

TEST_F(UndoStoreTest, ForgetsWhatWasUndone) {
  make(1000, 10);
  const std::string one = keep(*store_, change("a", "x"));
  store_->undone("a", one, "");
  const auto gone = store_->find("a", one);
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().code(), contract::ErrorCode::NotFound);
}

TEST_F(UndoStoreTest, GivesBackTheRoomOfAChangeThatWasNotMade) {
  make(10, 3);
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(store_->store({"1234", "5678"})) << i;
  }
  const std::string one = keep(*store_, change("a", "12345678"));
  ASSERT_TRUE(store_->find("a", one));
  EXPECT_EQ(store_->find("a", one)->files[0].before->bytes, "12345678");
}

TEST_F(UndoStoreTest, HoldsWhatIsBeingStoredAgainstItsLimits) {
  make(10, 2);
  const std::string kept = keep(*store_, change("a", "12"));
  auto pending = store_->store({"3456"});
  ASSERT_TRUE(pending);
  EXPECT_TRUE(store_->find("a", kept));
  EXPECT_FALSE(store_->store({"7890123"})) << "there is no room beside the one that is stored";
  auto other = store_->store({"789"});
  ASSERT_TRUE(other);
  const std::string second = store_->keep(*std::move(other), change("a", "789"));
  const std::string first = store_->keep(*std::move(pending), change("a", "3456"));
  EXPECT_EQ(store_->find("a", first)->files[0].before->bytes, "3456");
  EXPECT_EQ(store_->find("a", second)->files[0].before->bytes, "789");
}

TEST_F(UndoStoreTest, KeepsEachThreadsContentsApart) {
  make(4000, 40);
  const auto work = [&](int thread) {
    for (int i = 0; i < 200; ++i) {
      const std::string session = std::to_string(thread);
      const std::string bytes(static_cast<std::size_t>(thread * 7 + i % 50),
                              static_cast<char>('a' + thread));
      if (i % 3 == 0) {
        static_cast<void>(store_->store({bytes}));  // a change that was not made
        continue;
      }
      const std::string call = keep(*store_, change(session, bytes));
      const auto found = store_->find(session, call);
      if (found) {  // others may have pushed it out
        EXPECT_EQ(found->files[0].before->bytes, bytes);
      }
      if (i % 5 == 0) {
        store_->undone(session, call, "");
      }
    }
  };
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back(work, thread);
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(store_->find("0", keep(*store_, change("0", "whole")))->files[0].before->bytes,
            "whole");
}

}  // namespace
}  // namespace bawn::files
