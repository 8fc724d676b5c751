#include "control/daemon/key_journal.hpp"

#include "control/daemon/store.hpp"
#include "keeper_fixture.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>
#include <utility>

namespace sluice::key_journal_test {
namespace {

std::string address(std::size_t number) {
    return "10." + std::to_string(number / 65'536) + "." + std::to_string(number / 256 % 256) +
           "." + std::to_string(number % 256);
}

KeySetting ban(std::size_t number) {
    return {.rule = "a",
            .key = address(number),
            .what = KeySetting::What::Banned,
            .reason = "a \"flood\"\n\xC3\xA9"};
}

KeySettings bans(std::size_t count) {
    KeySettings settings;
    for (std::size_t i = 0; i < count; ++i) {
        settings.push_back(ban(i));
    }
    return settings;
}

StoredRules with(KeySettings keys) {
    StoredRules rules{.file = "r.yaml", .text = kOne, .modes = {{"b", Mode::Monitor}}};
    rules.generation = 7;
    rules.keys = std::move(keys);
    return rules;
}

void expect_same(const std::optional<StoredRules>& found, const StoredRules& wanted) {
    ASSERT_TRUE(found);
    EXPECT_EQ(found->keys, wanted.keys);
    EXPECT_EQ(found->generation, wanted.generation);
    EXPECT_EQ(found->changed_at, wanted.changed_at);
    EXPECT_EQ(found->changed_by, wanted.changed_by);
    EXPECT_EQ(tag_of(*found), tag_of(wanted));
}

class Journal : public testing::Test {
protected:
    void change(StoredRules next) {
        Result<PendingChange> pending = store_.prepare_change(kept_, next);
        ASSERT_TRUE(pending) << pending.error().what;
        ASSERT_TRUE(store_.commit(*pending));
        kept_ = std::move(next);
    }
    void add(const KeySetting& setting) {
        StoredRules next = kept_;
        ++next.generation;
        next.changed_at += 3;
        next.changed_by = {1000, next.generation % 2 == 0 ? "alice" : ""};
        next.keys.push_back(setting);
        change(std::move(next));
    }
    [[nodiscard]] std::optional<StoredRules> found() const {
        auto loaded = Store{folder_.path()}.load();
        EXPECT_TRUE(loaded);
        return *std::move(loaded);
    }
    TemporaryFolder folder_;
    Store store_{folder_.path()};
    StoredRules kept_{};
};

TEST_F(Journal, OneMoreBanCostsItsOwnRecord) {
    for (const std::size_t before : {std::size_t{0}, std::size_t{1'000}, kMaxKeySettings - 100}) {
        change(with(bans(before)));
        const std::string whole = folder_.read("rules.json");
        add(ban(before));
        EXPECT_EQ(folder_.read("rules.json"), whole) << "not written again";
        EXPECT_LT(folder_.read("rules.journal").size(), 500U) << before;
        expect_same(found(), kept_);
    }
}

TEST_F(Journal, WhatEndsAndWhatIsReplacedComesBack) {
    change(with(bans(10)));
    StoredRules next = kept_;
    ++next.generation;
    next.keys.erase(next.keys.begin() + 3);
    next.keys.erase(next.keys.begin());
    next.keys.push_back({.rule = "a", .key = address(3), .limit = "1", .rate = "9/s"});
    change(next);
    expect_same(found(), kept_);
    next.keys.clear();
    change(next);
    expect_same(found(), kept_);
    add(ban(4));
    expect_same(found(), kept_);
    EXPECT_EQ(found()->modes, kept_.modes);
}

TEST_F(Journal, WhatIsPreparedAloneIsNothing) {
    change(with(bans(2)));
    add(ban(2));
    StoredRules next = kept_;
    next.generation = 99;
    next.keys.push_back(ban(3));
    {
        const Result<PendingChange> pending = store_.prepare_change(kept_, next);
        ASSERT_TRUE(pending);
        expect_same(found(), kept_);  // as after a crash
        folder_.write("copy", folder_.read("rules.journal"));
    }
    expect_same(found(), kept_);
    // A crash leaves the record there; the next one, a shorter one, goes in its place.
    folder_.write("rules.journal", folder_.read("copy"));
    Store again{folder_.path()};
    ASSERT_TRUE(again.load());
    StoredRules shorter = kept_;
    shorter.keys.pop_back();
    Result<PendingChange> pending = again.prepare_change(kept_, shorter);
    ASSERT_TRUE(pending);
    ASSERT_TRUE(again.commit(*pending));
    expect_same(found(), shorter);
}

TEST_F(Journal, ItIsBoundedAndEndsWithAWholeFile) {
    change(with(bans(1)));
    for (std::size_t i = 1; i <= KeyJournal::kMostRecords; ++i) {
        add(ban(i));
        ASSERT_LE(folder_.read("rules.journal").size(), KeyJournal::kMostBytes);
    }
    const std::string whole = folder_.read("rules.json");
    add(ban(KeyJournal::kMostRecords + 1));
    EXPECT_NE(folder_.read("rules.json"), whole);
    EXPECT_FALSE(std::filesystem::exists(folder_ / "rules.journal"));
    expect_same(found(), kept_);
    StoredRules other = kept_;
    other.modes.clear();
    other.keys = bans(3);
    change(other);
    EXPECT_FALSE(std::filesystem::exists(folder_ / "rules.journal")) << "not of keys alone";
    expect_same(found(), kept_);
}

// A death between the rename and the end of the journal.
TEST_F(Journal, RecordsOfAnotherFileAreVoid) {
    change(with(bans(1)));
    add(ban(1));
    const std::string old = folder_.read("rules.journal");
    StoredRules other = with(bans(5));
    other.note = "apply";
    change(other);
    folder_.write("rules.journal", old);
    expect_same(found(), kept_);
    store_ = Store{folder_.path()};
    ASSERT_TRUE(store_.load());
    add(ban(7));
    expect_same(found(), kept_);
}

// Every bit: the settings are those after one of the records, and a damage is told.
TEST_F(Journal, AFlippedBitEndsItThere) {
    change(with({}));
    std::vector<KeySettings> after{kept_.keys};
    for (std::size_t i = 0; i < 3; ++i) {
        add(ban(i));
        after.push_back(kept_.keys);
    }
    const std::string base = sum_of(folder_.read("rules.json"));
    const std::string whole = folder_.read("rules.journal");
    std::size_t told = 0;
    for (std::size_t bit = 0; bit < whole.size() * 8; ++bit) {
        std::string flipped = whole;
        flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1U << bit % 8));
        StoredRules rules = with({});
        const JournalRead read = replay_records(flipped, base, rules);
        ASSERT_LT(read.records, after.size()) << bit;
        EXPECT_EQ(rules.keys, after[read.records]) << bit;
        told += read.fault.empty() ? 0 : 1;
    }
    EXPECT_GT(told, whole.size() * 7);
    folder_.write("rules.journal", whole.substr(0, whole.size() - 5) + "xxxx\n");
    store_ = Store{folder_.path()};
    const auto loaded = store_.load();
    ASSERT_TRUE(loaded && *loaded);
    EXPECT_EQ((*loaded)->keys, after[2]);
    EXPECT_NE(store_.journal_fault().find("rules.journal.bad-"), std::string::npos);
    kept_ = **loaded;
    add(ban(8));
    expect_same(found(), kept_);
}

TEST(SettingsText, IsWhatTheDocumentIsDumpedAs) {
    KeySettings settings = bans(3);
    settings[1].reason = "\xFF broken, \\ and \x7F";
    settings[2] = {.rule = "r", .key = "k", .tier = 2, .limit = "1", .rate = "5/s", .until = -4};
    for (const KeySettings& some : {KeySettings{}, settings}) {
        std::string text;
        add_settings_text(some, text);
        EXPECT_EQ(text, settings_to_json(some).dump(-1, ' ', false,
                                                    nlohmann::json::error_handler_t::replace));
    }
}

// sluiced whole, over a death.
class Bans : public Keeper {};

TEST_F(Bans, OneMoreIsARecordAndOutlivesADeath) {
    start_dataplane();
    start_daemon();
    ASSERT_FALSE(apply(kOne).refusal);
    ASSERT_FALSE(rules().set_key(ban(1), 7).refusal);
    const std::string whole = folder_.read("state/rules.json");
    const std::string tag = rules().view()->tag;
    ASSERT_FALSE(rules().set_key(ban(2), 7).refusal);
    EXPECT_EQ(folder_.read("state/rules.json"), whole);
    EXPECT_NE(rules().view()->tag, tag);
    expect_all(in_view());
    const std::string last = rules().view()->tag;
    kill_daemon();
    start_daemon();
    EXPECT_EQ(rules().view()->tag, last);
    EXPECT_EQ(rules().view()->keys.size(), 2U);
    ASSERT_FALSE(rules().unset_key({.rule = "a", .key = address(1), .bans = true}, 7).refusal);
    expect_all(in_view());
    EXPECT_EQ(on_disk()->keys.size(), 1U);
    // The history has the set as it was, records included.
    const std::uint64_t before = in_view();
    ASSERT_FALSE(apply(kTwo).refusal);
    EXPECT_FALSE(std::filesystem::exists(folder_ / "state/rules.journal"));
    EXPECT_EQ(History(folder_ / "state/history", ListCopies{folder_ / "state"})
                  .notes()
                  .at(0)
                  .rules.generation,
              before);
    expect_all(in_view());
}

TEST_F(Bans, ARefusalLeavesTheJournalAsItWas) {
    start_dataplane();
    start_daemon();
    ASSERT_FALSE(apply(kOne).refusal);
    ASSERT_FALSE(rules().set_key(ban(1), 7).refusal);
    const std::string journal = folder_.read("state/rules.journal");
    dataplane().refuse("no");
    EXPECT_TRUE(rules().set_key(ban(2), 7).refusal);
    EXPECT_EQ(folder_.read("state/rules.journal"), journal);
    expect_all(in_view());
    dataplane().refuse("");
    ASSERT_FALSE(rules().set_key(ban(3), 7).refusal);
    expect_all(in_view());
    EXPECT_EQ(on_disk()->keys.size(), 2U);
}

}  // namespace
}  // namespace sluice::key_journal_test
