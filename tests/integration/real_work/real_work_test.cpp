#include "inside.hpp"
#include "support/requirements.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

namespace bawn::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string all_of(const ProgramResult& result) {
  return "exit " + std::to_string(result.exit_code) + "\n" + result.out + result.err;
}

class RealWork : public testing::TestWithParam<Starter> {
 protected:
  void SetUp() override {
    if (const std::string missing = inside_.missing(); !missing.empty()) {
      GTEST_SKIP() << missing;
    }
  }

  Inside inside_{GetParam()};
};

TEST_P(RealWork, GitClonesALocalRepositoryAndCommits) {
  BAWN_REQUIRE("git");
  const auto result = inside_.run(R"sh(
    export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
    git init -q -b main origin
    echo one > origin/file && git -C origin add file && git -C origin commit -qm first
    git clone -q origin copy
    cd copy && echo two >> file && git commit -qam second
    git status --porcelain && git log --format=%s
  )sh");
  EXPECT_EQ(result.exit_code, 0) << all_of(result);
  EXPECT_EQ(result.out, "second\nfirst\n");
  EXPECT_EQ(read_file(inside_.workspace() / "copy/file"), "one\ntwo\n");
}

TEST_P(RealWork, GitCommitsInAWorkspaceThatIsARepository) {
  BAWN_REQUIRE("git");
  const auto made =
      inside_.run("git init -q -b main . && git config user.name a && git config user.email a@b");
  ASSERT_EQ(made.exit_code, 0) << all_of(made);
  ASSERT_TRUE(std::filesystem::exists(inside_.workspace() / ".git/config"));
  // Now .git/config and .git/hooks exist when the wall is built, and are held read-only.
  const auto result = inside_.run(
      "echo one > file && git add file && git commit -qm first && git switch -qc topic && "
      "echo two > file && git stash -q && git stash pop -q && git commit -qam second && "
      "git rebase -q main && git log --format=%s");
  EXPECT_EQ(result.exit_code, 0) << all_of(result);
  EXPECT_EQ(result.out, "second\nfirst\n");
}

TEST_P(RealWork, PythonRunsAVenvWithAsyncioAndMultiprocessing) {
  BAWN_REQUIRE("python3");
  inside_.write("work.py", R"py(
import asyncio, multiprocessing, sys

def square(n):
    return n * n

async def child(word):
    run = await asyncio.create_subprocess_exec("echo", word, stdout=asyncio.subprocess.PIPE)
    return (await run.communicate())[0].decode().strip()

async def children():
    return await asyncio.gather(*(child(f"child-{n}") for n in range(3)))

if __name__ == "__main__":
    print("venv", sys.prefix != sys.base_prefix)
    print("asyncio", asyncio.run(children()))
    for method in ("fork", "forkserver", "spawn"):
        with multiprocessing.get_context(method).Pool(2) as pool:
            print(method, pool.map(square, range(4)))
)py");
  const auto result = inside_.run(
      "/usr/bin/python3 -m venv venv && venv/bin/python3 work.py && venv/bin/pip --version");
  EXPECT_EQ(result.exit_code, 0) << all_of(result);
  EXPECT_THAT(result.out, StartsWith("venv True\n"
                                     "asyncio ['child-0', 'child-1', 'child-2']\n"
                                     "fork [0, 1, 4, 9]\n"
                                     "forkserver [0, 1, 4, 9]\n"
                                     "spawn [0, 1, 4, 9]\n"
                                     "pip "))
      << all_of(result);
}

TEST_P(RealWork, NodeRunsAScriptWithAChildAndAWorker) {
  BAWN_REQUIRE("node");
  inside_.write("work.js", R"js(
const { execFileSync } = require('node:child_process');
const { writeFileSync } = require('node:fs');
const { Worker } = require('node:worker_threads');
console.log('child', execFileSync('echo', ['hello'], { encoding: 'utf8' }).trim());
writeFileSync('made-by-node', 'text\n');
const source = 'require("node:worker_threads").parentPort.postMessage(6 * 7)';
new Worker(source, { eval: true }).on('message', (answer) => console.log('worker', answer));
)js");
  const auto result = inside_.run("node work.js");
  EXPECT_EQ(result.exit_code, 0) << all_of(result);
  EXPECT_EQ(result.out, "child hello\nworker 42\n");
  EXPECT_EQ(read_file(inside_.workspace() / "made-by-node"), "text\n");
}

TEST_P(RealWork, MakeBuildsAProgramWithTwoJobs) {
  BAWN_REQUIRE("make");
  BAWN_REQUIRE("gcc");
  inside_.write(
      "Makefile",
      "all: program\nprogram: a.o b.o main.o\n\t$(CC) -o $@ $^\n%.o: %.c\n\t$(CC) -c -o $@ $<\n");
  inside_.write("a.c", "int a(void) { return 40; }\n");
  inside_.write("b.c", "int b(void) { return 2; }\n");
  inside_.write("main.c",
                "#include <stdio.h>\nint a(void); int b(void);\n"
                "int main(void) { printf(\"%d\\n\", a() + b()); return 0; }\n");
  const auto result = inside_.run("make -s -j2 && ./program");
  EXPECT_EQ(result.exit_code, 0) << all_of(result);
  EXPECT_EQ(result.out, "42\n");
  EXPECT_TRUE(std::filesystem::exists(inside_.workspace() / "program"));
}

TEST_P(RealWork, StraceTracesAProgram) {
  BAWN_REQUIRE("strace");
  const auto result = inside_.run("strace -f -o trace true && grep -c execve trace");
  EXPECT_EQ(result.exit_code, 0) << all_of(result);
  EXPECT_THAT(read_file(inside_.workspace() / "trace"), HasSubstr("+++ exited with 0 +++"));
}

// The positive control of all of the above: the same wall does hold.
TEST_P(RealWork, AndTheWallHoldsMeanwhile) {
  const auto outside = inside_.workspace().parent_path() / "home/outside";
  const auto result = inside_.run("echo x > made-inside; echo x > ../home/outside || echo refused");
  EXPECT_EQ(result.exit_code, 0) << all_of(result);
  EXPECT_EQ(result.out, "refused\n");
  EXPECT_EQ(read_file(inside_.workspace() / "made-inside"), "x\n");
  EXPECT_FALSE(std::filesystem::exists(outside));
}

INSTANTIATE_TEST_SUITE_P(By, RealWork, testing::Values(Starter::Caller, Starter::OrdinaryUser),
                         [](const auto& test) { return to_string(test.param); });

TEST(RealWorkBuild, ThisProjectsContractIsConfiguredAndBuilt) {
  BAWN_REQUIRE("cmake");
  BAWN_REQUIRE("ninja");
  const Inside inside(Starter::Caller);
  // Copied, not read in place: a checkout below /tmp is not visible inside.
  inside.copy(std::filesystem::path(BAWN_SOURCE_DIR) / "contract", "contract");
  inside.copy(std::filesystem::path(BAWN_SOURCE_DIR) / "cmake", "cmake");
  inside.write("CMakeLists.txt", R"cmake(
cmake_minimum_required(VERSION 3.25)
project(inside LANGUAGES CXX)
set(CMAKE_CXX_STANDARD 23)
list(APPEND CMAKE_MODULE_PATH ${CMAKE_SOURCE_DIR}/cmake)
include(GNUInstallDirs)
include(Warnings)
include(BawnLibrary)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(fmt 9 REQUIRED)
find_package(Threads REQUIRED)
find_package(OpenSSL 3 REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(re2 REQUIRED IMPORTED_TARGET re2)
add_subdirectory(contract)
# Half the time, and a precompiled header is real work too.
target_precompile_headers(bawn_contract PRIVATE <nlohmann/json.hpp> <fmt/format.h>)
)cmake");
  const auto result = inside.run(
      "cmake -G Ninja -S . -B build -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-O0 && "
      "ninja -j2 -C build bawn_contract");
  EXPECT_EQ(result.exit_code, 0) << all_of(result);
  EXPECT_TRUE(std::filesystem::exists(inside.workspace() / "build/contract/libbawn_contract.a"));
}

}  // namespace
}  // namespace bawn::test
