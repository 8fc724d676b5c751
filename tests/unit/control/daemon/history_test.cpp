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
        folder_.write("rules.json", file_text(set(generation)));
    }
    static StoredRules set(std::uint64_t generation) {
        return {.file = "f",
                .text = std::to_string(generation),
                .modes = {},
                .generation = generation,
                .note = "apply",
                .on = generation};
    }
    std::optional<History::Former> newest_but(std::uint64_t generation) {
        const StoredRules current = set(generation);
        auto former = history_.newest_but(&current);
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

TEST_F(Past, AnotherTextOfTheSameGenerationIsAnotherSet) {
    replace(1);
    replace(2);
    StoredRules current = set(1);
    EXPECT_FALSE(newest_but(1)) << "left behind by a kill";
    current.text += " # a comment";
    const auto former = history_.newest_but(&current);
    ASSERT_TRUE(former && *former);
    EXPECT_EQ((*former)->rules.text, "1");
    current = set(1);
    current.slices = {{"a.yaml", "/etc", 1}};
    EXPECT_EQ((*history_.newest_but(&current))->path, (*history_.newest_but(nullptr))->path);
}

TEST_F(Past, NumbersStayAndNameASet) {
    for (std::uint64_t generation = 1; generation <= History::kMost + 4; ++generation) {
        replace(generation);
    }
    const auto notes = history_.notes();
    ASSERT_EQ(notes.size(), History::kMost);
    EXPECT_EQ(notes.front().number, History::kMost + 3);
    EXPECT_EQ(notes.front().rules.generation, History::kMost + 3);
    EXPECT_EQ(notes.front().rules.on, History::kMost + 3);
    EXPECT_EQ(notes.front().rules.note, "apply");
    EXPECT_EQ(notes.back().number, 4U);
    EXPECT_EQ((*history_.numbered(5))->rules.text, "5");
    EXPECT_FALSE(*history_.numbered(3));
    EXPECT_FALSE(*history_.numbered(0));
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
    EXPECT_EQ(history_.notes().size(), 1U) << "what cannot be read is left out, and where it was";
    const StoredRules current = set(3);
    const auto damaged = history_.newest_but(&current);
    ASSERT_FALSE(damaged);
    EXPECT_NE(damaged.error().what.find(path + ".bad-"), std::string::npos);
    EXPECT_EQ(newest_but(3)->rules.generation, 1U);
}

}  // namespace
}  // namespace sluice::history_test
