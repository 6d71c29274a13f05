#include "undo_store.hpp"

#include "support/temp_dir.hpp"

#include <gmock/gmock.h>

#include <filesystem>

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
  const std::string one = store_->keep(change("a", "first"));
  const std::string two = store_->keep(change("a", std::string("sec\0nd", 6)));
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
  const std::string one = store_->keep(change("a", "1234"));
  const std::string two = store_->keep(change("a", "5678"));
  const std::string three = store_->keep(change("a", "90"));  // the number is full
  EXPECT_FALSE(store_->find("a", one));
  EXPECT_EQ(store_->find("a", two)->files[0].before->bytes, "5678");
  const std::string four = store_->keep(change("a", "abcdefgh"));  // the bytes are full
  EXPECT_FALSE(store_->find("a", two));
  EXPECT_EQ(store_->find("a", three)->files[0].before->bytes, "90");
  EXPECT_EQ(store_->find("a", four)->files[0].before->bytes, "abcdefgh");
  EXPECT_EQ(store_->keep(change("a", "more than all of it")), "");
  EXPECT_TRUE(store_->find("a", four)) << "what is too large pushes nothing out";
}

TEST_F(UndoStoreTest, ForgetsWhatWasUndone) {
  make(1000, 10);
  const std::string one = store_->keep(change("a", "x"));
  store_->drop("a", one);
  const auto gone = store_->find("a", one);
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().code(), contract::ErrorCode::NotFound);
}

}  // namespace
}  // namespace bawn::files
