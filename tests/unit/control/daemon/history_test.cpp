#include "control/daemon/history.hpp"

#include "temporary_folder.hpp"

#include <gtest/gtest.h>

#include <filesystem>

namespace sluice::history_test {
namespace {

// A folder with one file in force, whose generations come and go.
class Past : public testing::Test {
protected:
    // As the store does: the file in force is remembered, then replaced.
    void replace(std::uint64_t generation) {
        ASSERT_TRUE(history_.add(folder_ / "rules.json"));
        std::filesystem::remove(folder_ / "rules.json");
        folder_.write("rules.json", file_text(StoredRules{.file = "f",
                                                          .text = std::to_string(generation),
                                                          .modes = {},
                                                          .generation = generation}));
    }
    std::optional<History::Former> newest_but(std::uint64_t generation) {
        auto former = history_.newest_but(generation);
        EXPECT_TRUE(former);
        return *former;
    }
    std::size_t files() {
        const std::filesystem::directory_iterator all{folder_ / "history"};
        return static_cast<std::size_t>(std::distance(begin(all), end(all)));
    }
    TemporaryFolder folder_;
    History history_{folder_ / "history", ListCopies{folder_.path()}};
};

TEST_F(Past, NothingAtFirst) {
    EXPECT_FALSE(newest_but(1));
    EXPECT_TRUE(history_.add(folder_ / "rules.json")) << "nothing there: nothing to remember";
    EXPECT_FALSE(newest_but(1));
}

TEST_F(Past, TheNewestOfAnotherGeneration) {
    for (const std::uint64_t generation : {1, 2, 3, 4}) {
        replace(generation);
    }
    EXPECT_EQ(newest_but(4)->rules.generation, 3U);
    EXPECT_EQ(newest_but(4)->rules.text, "3");
    EXPECT_EQ(newest_but(3)->rules.generation, 2U) << "left behind by a kill";
}

TEST_F(Past, WhatIsInForceAgainIsTakenOut) {
    for (const std::uint64_t generation : {1, 2, 3, 4}) {
        replace(generation);
    }
    ASSERT_TRUE(history_.take_out(*newest_but(3)));
    EXPECT_EQ(newest_but(2)->rules.generation, 1U);
    EXPECT_EQ(files(), 1U) << "what is newer goes too";
    replace(5);
    EXPECT_EQ(newest_but(5)->rules.generation, 4U);
}

TEST_F(Past, IsBounded) {
    for (std::uint64_t generation = 1; generation <= 3 * History::kMost; ++generation) {
        replace(generation);
    }
    EXPECT_EQ(files(), History::kMost);
    EXPECT_EQ(newest_but(0)->rules.generation, 3 * History::kMost - 1);
}

TEST_F(Past, WhatIsDamagedIsKeptAsideAndReportedOnce) {
    for (const std::uint64_t generation : {1, 2, 3}) {
        replace(generation);
    }
    const std::string path = newest_but(3)->path;
    std::filesystem::resize_file(path, 20);
    const auto damaged = history_.newest_but(3);
    ASSERT_FALSE(damaged);
    EXPECT_NE(damaged.error().what.find(path + ".bad-"), std::string::npos);
    EXPECT_EQ(newest_but(3)->rules.generation, 1U);
}

}  // namespace
}  // namespace sluice::history_test
