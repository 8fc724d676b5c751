#include "tests/pktgen/free_pages.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

namespace sluice::pktgen::free_pages_test {
namespace {

class FreePages : public testing::Test {
protected:
    FreePages()
        : folder_{std::filesystem::path{testing::TempDir()} /
                  ("pages-" + std::to_string(::testing::UnitTest::GetInstance()->random_seed()) +
                   "-" + ::testing::UnitTest::GetInstance()->current_test_info()->name())} {
        std::filesystem::create_directories(folder_);
    }
    ~FreePages() override { std::filesystem::remove_all(folder_); }

    void add(const std::string& name, const std::string& free) const {
        std::filesystem::create_directory(folder_ / name);
        std::ofstream{folder_ / name / "free_hugepages"} << free << '\n';
    }

    std::filesystem::path folder_;
};

TEST_F(FreePages, CountPagesOfEverySize) {
    EXPECT_EQ(free_huge_megabytes(folder_), 0U);
    add("hugepages-2048kB", "100");
    EXPECT_EQ(free_huge_megabytes(folder_), 200U);
    add("hugepages-1048576kB", "3");
    EXPECT_EQ(free_huge_megabytes(folder_), 3272U);
}

TEST_F(FreePages, WhatIsNoSizeCountsForNothing) {
    add("hugepages-", "7");
    add("hugepages-2048", "7");
    add("other-2048kB", "7");
    add("hugepages-2048kB", "none");
    EXPECT_EQ(free_huge_megabytes(folder_), 0U);
    EXPECT_EQ(free_huge_megabytes(folder_ / "missing"), 0U);
}

}  // namespace
}  // namespace sluice::pktgen::free_pages_test
