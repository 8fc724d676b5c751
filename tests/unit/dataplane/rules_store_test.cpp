#include "dataplane/rules_store.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace sluice::rules_store_test {
namespace {

class RulesStoreTest : public testing::Test {
protected:
    void SetUp() override {
        directory = testing::TempDir() + "rules_store_" + std::to_string(::getpid());
        std::filesystem::remove_all(directory);
    }
    void TearDown() override { std::filesystem::remove_all(directory); }

    ApplyRules example() {
        ApplyRules rules;
        Rule rule;
        rule.id = "deny";
        rule.mode = Mode::Enforce;
        rule.on_match = OnMatch::Drop;
        rules.rules.rules = {rule};
        rules.source = "version: 1\n";
        return rules;
    }
    std::string directory;
};

TEST_F(RulesStoreTest, GivesBackWhatWasSaved) {
    const RulesStore store{directory};
    EXPECT_FALSE(store.load()->has_value());
    ASSERT_TRUE(store.save(example()).has_value());
    const auto loaded = store.load();
    ASSERT_TRUE(loaded.has_value() && loaded->has_value());
    EXPECT_EQ((*loaded)->source, "version: 1\n");
    EXPECT_EQ((*loaded)->rules.rules[0].id, "deny");
    EXPECT_FALSE(std::filesystem::exists(directory + "/ruleset.bin.new"));
}

TEST_F(RulesStoreTest, KeepsABrokenFileAside) {
    const RulesStore store{directory};
    ASSERT_TRUE(store.save(example()).has_value());
    std::ofstream{directory + "/ruleset.bin", std::ios::binary | std::ios::trunc} << "rubbish";
    EXPECT_FALSE(store.load().has_value());
    EXPECT_FALSE(std::filesystem::exists(directory + "/ruleset.bin"));
    std::size_t aside = 0;
    for (const auto& entry : std::filesystem::directory_iterator{directory}) {
        aside += entry.path().filename().string().starts_with("ruleset.bin.bad-") ? 1U : 0U;
    }
    EXPECT_EQ(aside, 1U);
    EXPECT_FALSE(store.load()->has_value());
}

TEST_F(RulesStoreTest, SaysWhenItCannotSave) {
    std::ofstream{directory} << "a file where the directory should be";
    EXPECT_FALSE(RulesStore{directory}.save(example()).has_value());
}

}  // namespace
}  // namespace sluice::rules_store_test
