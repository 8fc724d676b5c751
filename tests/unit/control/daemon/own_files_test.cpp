#include "control/daemon/own_files.hpp"

#include "tests/unit/control/daemon/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include <sys/stat.h>
#include <unistd.h>

namespace sluice::own_files_test {
namespace {

namespace fs = std::filesystem;

constexpr uid_t kUser = 65'534;

class OwnFiles : public testing::Test {
protected:
    void SetUp() override {
        if (::geteuid() != 0) {
            GTEST_SKIP() << "only root may give a file away";
        }
        for (const char* inner : {"history", "lists", "tables"}) {
            fs::create_directory(state / inner);
        }
    }
    [[nodiscard]] uid_t owner(const std::string& name) const {
        struct stat info{};
        EXPECT_EQ(::lstat((state / name).c_str(), &info), 0) << name;
        return info.st_uid;
    }
    [[nodiscard]] Result<Done> hand_over() const {
        return hand_over_own_files(state.path(), kUser, kUser);
    }

    TemporaryFolder state;
};

TEST_F(OwnFiles, AllThatSluicedKeepsChangesHandsAndNothingElse) {
    const auto own = {"audit.log",
                      "audit.log.1",
                      "rules.json",
                      "rules.json.new",
                      "rules.journal",
                      "rules.json.bad-1700000000",
                      "rules.unconfirmed.json",
                      "history/000000000001.json",
                      "lists/0123456789abcdef"};
    const auto others = {
        "snapshot",          "snapshot.new", "ruleset.bin",  "ruleset.bin.before", "slots.bin",
        "rss-key",           "lock",         "database-key", "tables/header",      "rules.yaml",
        "rules.json.backup", "sluice.yaml"};
    for (const auto& names : {own, others}) {
        for (const char* name : names) {
            state.write(name, "x");
        }
    }
    const Result<Done> done = hand_over();
    ASSERT_TRUE(done) << done.error().what;
    for (const char* name : own) {
        EXPECT_EQ(owner(name), kUser) << name;
    }
    for (const char* name : others) {
        EXPECT_EQ(owner(name), 0U) << name;
    }
    EXPECT_EQ(owner("history"), kUser);
    EXPECT_EQ(owner("lists"), kUser);
    EXPECT_EQ(owner("tables"), 0U);
}

// The history holds the file in force, under a second name.
TEST_F(OwnFiles, AFileWithTwoNamesThatAreBothItsOwnChangesHands) {
    state.write("rules.json", "x");
    fs::create_hard_link(state / "rules.json", state / "history/000000000001.json");
    ASSERT_TRUE(hand_over());
    EXPECT_EQ(owner("rules.json"), kUser);
}

TEST_F(OwnFiles, NoNameLeadsElsewhere) {
    state.write("ruleset.bin", "x");
    fs::create_symlink(state / "ruleset.bin", state / "rules.json");
    fs::remove(state / "lists");
    fs::create_directory_symlink(state / "tables", state / "lists");
    state.write("tables/header", "x");
    ASSERT_TRUE(hand_over());
    EXPECT_EQ(owner("ruleset.bin"), 0U);
    EXPECT_EQ(owner("tables/header"), 0U);
    fs::create_hard_link(state / "ruleset.bin", state / "history/000000000001.json");
    const Result<Done> done = hand_over();
    ASSERT_FALSE(done);
    EXPECT_NE(done.error().what.find("a name elsewhere"), std::string::npos) << done.error().what;
    EXPECT_EQ(owner("ruleset.bin"), 0U);
}

}  // namespace
}  // namespace sluice::own_files_test
