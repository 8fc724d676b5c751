#include "dataplane/state/rules_store.hpp"
#include "dataplane/state/slots_store.hpp"
#include "tests/memory_folder.hpp"
#include "tests/unit/base/little_memory.hpp"
#include "tests/unit/base/no_descriptors.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace sluice::rules_store_test {
namespace {

class RulesStoreTest : public testing::Test {
protected:
    void SetUp() override { directory = test::memory_folder("rules_store"); }
    void TearDown() override { std::filesystem::remove_all(directory); }

    ApplyRules example() {
        ApplyRules rules;
        Rule rule;
        rule.id = "deny";
        rule.mode = Mode::Enforce;
        rule.on_match = OnMatch::Act;
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

ApplyRules called(ApplyRules rules, const std::string& source) {
    rules.source = source;
    return rules;
}

// It is the one that is kept from then on, and the next one's set before.
TEST_F(RulesStoreTest, TheSetBeforeTakesThePlaceOfOneThatCannotBeRead) {
    const RulesStore store{directory};
    const std::string path = directory + "/ruleset.bin";
    for (const char* source : {"first", "second", "third"}) {
        ASSERT_TRUE(store.save(called(example(), source)).has_value());
    }
    std::ofstream{path, std::ios::binary | std::ios::trunc} << "rubbish";
    ASSERT_FALSE(store.load().has_value());
    ASSERT_FALSE(store.load().has_value()) << "gone is not the same as never saved";
    EXPECT_EQ((*store.load_before())->source, "second");
    store.take_back();
    EXPECT_EQ((*store.load())->source, "second");
    ASSERT_TRUE(store.save(called(example(), "fourth")).has_value());
    EXPECT_EQ((*store.load())->source, "fourth");
    EXPECT_EQ((*store.load_before())->source, "second");
}

TEST_F(RulesStoreTest, WhereNoSetWasBeforeNoneIsTakenBack) {
    const RulesStore store{directory};
    ASSERT_TRUE(store.save(example()).has_value());
    std::ofstream{directory + "/ruleset.bin", std::ios::binary | std::ios::trunc} << "rubbish";
    EXPECT_FALSE(store.load().has_value());
    EXPECT_FALSE(store.load_before()->has_value());
    std::ofstream{directory + "/ruleset.bin.before", std::ios::binary} << "rubbish";
    EXPECT_FALSE(store.load_before().has_value());
}

TEST_F(RulesStoreTest, ATakenBackSetReplacesNone) {
    const RulesStore store{directory};
    ASSERT_TRUE(store.save(called(example(), "first")).has_value());
    ASSERT_TRUE(store.save(called(example(), "second")).has_value());
    store.take_back();
    EXPECT_EQ((*store.load())->source, "second");
}

// The set before stays the one before, until a newer one lies there whole.
TEST_F(RulesStoreTest, ASaveThatFailsLeavesBothSetsAsTheyWere) {
    const RulesStore store{directory};
    ASSERT_TRUE(store.save(called(example(), "first")).has_value());
    ASSERT_TRUE(store.save(called(example(), "second")).has_value());
    std::filesystem::create_directory(directory + "/ruleset.bin.new");  // in the way of the third
    ASSERT_FALSE(store.save(called(example(), "third")).has_value());
    EXPECT_EQ((*store.load())->source, "second");
    EXPECT_EQ((*store.load_before())->source, "first");
    std::filesystem::remove(directory + "/ruleset.bin.new");
    ASSERT_TRUE(store.save(called(example(), "fourth")).has_value());
    EXPECT_EQ((*store.load())->source, "fourth");
    EXPECT_EQ((*store.load_before())->source, "second");
    EXPECT_FALSE(std::filesystem::exists(directory + "/ruleset.bin.replaced"));
}

TEST_F(RulesStoreTest, AFolderInItsPlaceIsKeptAside) {
    const RulesStore store{directory};
    const SlotsStore slots{directory};
    for (const char* name : {"/ruleset.bin", "/slots.bin"}) {
        std::filesystem::create_directories(directory + name);
        EXPECT_FALSE(std::string{name} == "/slots.bin" ? slots.load(5).has_value()
                                                       : store.load().has_value());
        EXPECT_FALSE(std::filesystem::exists(directory + name)) << name;
    }
    EXPECT_TRUE(store.save(example()).has_value());
    EXPECT_TRUE(slots.save({.region = 5, .slots = {}}).has_value());
}

// What lies there may be good: EIO, and no descriptor to be had.
TEST_F(RulesStoreTest, AFileThatCannotBeReadNowStays) {
    const RulesStore store{directory};
    const SlotsStore slots{directory};
    ASSERT_TRUE(store.save(example()).has_value());
    ASSERT_TRUE(slots.save({.region = 5, .slots = {}}).has_value());
    const auto fail = [&] {
        const auto rules = store.load();
        ASSERT_FALSE(rules.has_value());
        EXPECT_EQ(rules.error().code, Errc::Unreachable) << rules.error().what;
        const auto meaning = slots.load(5);
        ASSERT_FALSE(meaning.has_value());
        EXPECT_EQ(meaning.error().code, Errc::Unreachable) << meaning.error().what;
    };
    {
        const test::NoDescriptors none;
        fail();
    }
    EXPECT_TRUE(store.load()->has_value());
    EXPECT_TRUE(slots.load(5)->has_value());
    for (const char* name : {"/ruleset.bin", "/slots.bin"}) {
        std::filesystem::remove(directory + name);
        std::filesystem::create_symlink(test::kReadsFail, directory + name);
    }
    fail();
    EXPECT_TRUE(std::filesystem::is_symlink(directory + "/ruleset.bin"));
    EXPECT_TRUE(std::filesystem::is_symlink(directory + "/slots.bin"));
}

// A machine with less memory than the one that saved them.
TEST_F(RulesStoreTest, ASetThatHasNoRoomInMemoryStays) {
    const RulesStore store{directory};
    ASSERT_TRUE(store.save(called(example(), std::string(4U << 20, '#'))).has_value());
    {
        const test::LittleMemory little{8U << 20};
        const auto rules = store.load();
        ASSERT_FALSE(rules.has_value());
        EXPECT_EQ(rules.error().code, Errc::Unreachable) << rules.error().what;
    }
    EXPECT_TRUE(store.load()->has_value());
}

std::string whole(const std::string& path) {
    std::ifstream file{path, std::ios::binary};
    return {std::istreambuf_iterator<char>{file}, std::istreambuf_iterator<char>{}};
}

void write(const std::string& path, const std::string& bytes) {
    std::ofstream{path, std::ios::binary | std::ios::trunc} << bytes;
}

// What a later or an earlier version has written is not guessed at.
TEST_F(RulesStoreTest, KeepsAnotherVersionAside) {
    const RulesStore store{directory};
    ASSERT_TRUE(store.save(example()).has_value());
    const std::string path = directory + "/ruleset.bin";
    std::string bytes = whole(path);
    ++bytes[8];
    write(path, bytes);
    const auto loaded = store.load();
    ASSERT_FALSE(loaded.has_value());
    EXPECT_NE(loaded.error().what.find("of version " + std::to_string(kWireVersion + 1)),
              std::string::npos)
        << loaded.error().what;
    EXPECT_FALSE(std::filesystem::exists(path));
    EXPECT_FALSE(store.load()->has_value());
}

// Wherever it ends, and whatever byte has changed, none of it is used.
TEST_F(RulesStoreTest, UsesNothingOfAFileThatIsNotWhole) {
    const RulesStore store{directory};
    ASSERT_TRUE(store.save(example()).has_value());
    const std::string path = directory + "/ruleset.bin";
    const std::string bytes = whole(path);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        write(path, bytes.substr(0, size));
        EXPECT_FALSE(store.load().has_value()) << size;
    }
    for (std::size_t at = 0; at < bytes.size(); ++at) {
        std::string changed = bytes;
        changed[at] = static_cast<char>(changed[at] ^ 0x10);
        write(path, changed);
        // Four bytes of the head mean nothing.
        EXPECT_EQ(store.load().has_value(), at >= 12 && at < 16) << at;
    }
    write(path, bytes + "more");
    EXPECT_FALSE(store.load().has_value());
}

TEST_F(RulesStoreTest, SlotsOfAnotherVersionAreKeptAside) {
    std::filesystem::create_directories(directory);
    const SlotsStore store{directory};
    ASSERT_TRUE(store.save({.region = 5, .slots = {}}).has_value());
    ASSERT_TRUE(store.load(5)->has_value());
    EXPECT_FALSE(store.load(6)->has_value());
    const std::string path = directory + "/slots.bin";
    const std::string bytes = whole(path);
    std::string other = bytes;
    --other[8];
    for (const std::string& bad : {other, bytes.substr(0, bytes.size() - 1), bytes.substr(0, 20)}) {
        write(path, bad);
        const auto loaded = store.load(5);
        ASSERT_FALSE(loaded.has_value());
        EXPECT_NE(loaded.error().what.find("kept as"), std::string::npos);
        EXPECT_FALSE(std::filesystem::exists(path));
    }
}

TEST_F(RulesStoreTest, SaysWhenItCannotSave) {
    std::ofstream{directory} << "a file where the directory should be";
    EXPECT_FALSE(RulesStore{directory}.save(example()).has_value());
}

}  // namespace
}  // namespace sluice::rules_store_test
