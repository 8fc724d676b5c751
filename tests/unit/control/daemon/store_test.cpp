#include "control/daemon/store.hpp"

#include "temporary_folder.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>

#include <sys/stat.h>

namespace sluice::store_test {
namespace {

using namespace std::chrono_literals;

StoredRules example() {
    return {.file = "/etc/rules.yaml",
            .text = "version: 1\n# \"quoted\", \ttabbed, \xC3\xA9\nrules: []\n",
            .modes = {{"a", Mode::Enforce}, {"b", Mode::Off}},
            .lives = {{"a", {1'700'000'000, false}}, {"c", {1'600'000'000, true}}},
            .generation = 0xFFFF'FFFF'FFFF'FFFE,
            .changed_at = 1'800'000'000,
            .changed_by = 1000};
}

void save(const Store& store, const StoredRules& rules) {
    Result<PendingFile> pending = store.prepare(rules);
    ASSERT_TRUE(pending) << pending.error().what;
    ASSERT_TRUE(pending->commit());
}

// Files of versions that kept no name have none.
TEST(Store, AuthorsComeBackByNameAndUser) {
    const TemporaryFolder folder;
    const ListCopies copies{folder.path()};
    StoredRules rules = example();
    const std::string without = file_text(rules);
    EXPECT_EQ(without.find("changed_by_name"), std::string::npos);
    rules.changed_by = {65'534, "alice"};
    rules.tenants["blue"] = {.text = "version: 1\n", .changed_by = {65'534, "bob"}};
    const auto back = rules_from_file(file_text(rules), copies);
    ASSERT_TRUE(back) << back.error().what;
    EXPECT_EQ(back->changed_by, (Author{65'534, "alice"}));
    EXPECT_EQ(back->tenants.at("blue").changed_by, (Author{65'534, "bob"}));
    const auto notes = notes_from_file(file_text(rules));
    ASSERT_TRUE(notes);
    EXPECT_EQ(notes->changed_by, (Author{65'534, "alice"}));
    const auto old = rules_from_file(without, copies);
    ASSERT_TRUE(old);
    EXPECT_EQ(old->changed_by, (Author{1000, ""}));
}

TEST(Store, NothingIsThereAtFirst) {
    const TemporaryFolder folder;
    const auto loaded = Store{folder / "state"}.load();
    ASSERT_TRUE(loaded);
    EXPECT_FALSE(*loaded);
}

TEST(Store, WhatWasKeptComesBack) {
    const TemporaryFolder folder;
    save(Store{folder / "a/b"}, example());
    const auto loaded = Store{folder / "a/b"}.load();
    ASSERT_TRUE(loaded && *loaded);
    const StoredRules& back = **loaded;
    EXPECT_EQ(back.file, example().file);
    EXPECT_EQ(back.text, example().text);
    EXPECT_EQ(back.modes, example().modes);
    EXPECT_EQ(back.lives, example().lives);
    EXPECT_EQ(back.generation, example().generation);
    EXPECT_EQ(back.changed_at, example().changed_at);
    EXPECT_EQ(back.changed_by, example().changed_by);
    struct stat info{};
    ASSERT_EQ(::stat((folder / "a/b/rules.json").c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777U, 0600U);
}

TEST(Store, SeveralFilesComeBackByTheirNames) {
    const TemporaryFolder folder;
    const Store store{folder.path()};
    StoredRules rules = example();
    rules.slices = {{"a.yaml", "/etc/a", 11}, {"b.yaml", "/etc/b", rules.text.size() - 11}};
    rules.note = "apply: added a";
    rules.on = 3;
    save(store, rules);
    const auto loaded = store.load();
    ASSERT_TRUE(loaded && *loaded);
    EXPECT_EQ((*loaded)->slices, rules.slices);
    EXPECT_EQ((*loaded)->note, rules.note);
    EXPECT_EQ((*loaded)->on, 3U);
    EXPECT_EQ(tag_of(**loaded), tag_of(rules));
    const auto parts = parts_of(**loaded);
    ASSERT_EQ(parts.size(), 2U);
    EXPECT_EQ(parts[0].text, "version: 1\n");
    EXPECT_EQ(parts[1].folder, "/etc/b");
    EXPECT_EQ(slices_from_json(notes_to_json(rules), rules.text), rules.slices);
    EXPECT_TRUE(slices_from_json(notes_to_json(rules), "another text").empty());
    EXPECT_TRUE(slices_from_json("no JSON", rules.text).empty());
    rules.slices[0].size += 1;
    save(store, rules);
    EXPECT_FALSE(store.load()) << "files that are not the text's";
}

TEST(Store, ATagIsOfTextsAndOfWhatWasSetAtRunTime) {
    const std::string tag = tag_of(example());
    EXPECT_TRUE(tag.starts_with("fffffffffffffffe-"));
    EXPECT_EQ(tag, tag_of(example()));
    StoredRules other = example();
    other.text += "# more\n";
    EXPECT_NE(tag_of(other), tag);
    EXPECT_FALSE(same_source(other, example()));
    other = example();
    other.modes.erase("a");
    EXPECT_NE(tag_of(other), tag);
    EXPECT_TRUE(same_source(other, example()));
    other = example();
    other.keys.push_back({.rule = "a", .key = "192.0.2.7"});
    EXPECT_NE(tag_of(other), tag);
    other = example();
    other.changed_at += 1;
    other.note = "apply";
    EXPECT_EQ(tag_of(other), tag);
}

// Files of before rules had a ttl, of which only the text had a sum.
TEST(Store, AFileOfTheFirstVersionIsTaken) {
    const TemporaryFolder folder;
    const Store store{folder.path()};
    save(store, example());
    nlohmann::json document = nlohmann::json::parse(folder.read("rules.json"));
    document.erase("lives");
    document["version"] = 1;
    document["sum"] = sum_of(example().text);
    folder.write("rules.json", document.dump());
    const auto loaded = store.load();
    ASSERT_TRUE(loaded && *loaded);
    EXPECT_TRUE((*loaded)->lives.empty());
}

TEST(Store, ListsComeBackAsTheyWereRead) {
    const TemporaryFolder folder;
    const Store store{folder / "state"};
    StoredRules rules = example();
    rules.directory = "/etc/sluice";
    rules.applied_by = 7;
    rules.lists = {{"a.txt", std::make_shared<const std::string>("192.0.2.1\n")},
                   {"b.txt", std::make_shared<const std::string>("")}};
    rules.sent = {"b.txt"};
    save(store, rules);
    const auto loaded = store.load();
    ASSERT_TRUE(loaded && *loaded);
    EXPECT_EQ((*loaded)->directory, "/etc/sluice");
    EXPECT_EQ((*loaded)->applied_by, 7U);
    ASSERT_EQ((*loaded)->lists.size(), 2U);
    EXPECT_EQ(*(*loaded)->lists.at("a.txt"), "192.0.2.1\n");
    EXPECT_EQ(*(*loaded)->lists.at("b.txt"), "");
    EXPECT_EQ((*loaded)->sent, std::set<std::string>{"b.txt"});
}

std::size_t copies_in(const TemporaryFolder& folder) {
    const std::filesystem::directory_iterator all{folder / "state/lists"};
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

TEST(Store, ListsStayWhileAnySetNamesThem) {
    const TemporaryFolder folder;
    const Store store{folder / "state"};
    const auto with = [](const std::string& text) {
        StoredRules rules = example();
        rules.lists = {{"a.txt", std::make_shared<const std::string>(text)}};
        return rules;
    };
    save(store, with("192.0.2.1\n"));
    ASSERT_TRUE(store.remember());
    save(store, with("192.0.2.2\n"));
    Result<PendingFile> trial = store.prepare(Trial{with("192.0.2.3\n"), {}});
    ASSERT_TRUE(trial && trial->commit());
    store.drop_old_lists();
    EXPECT_EQ(copies_in(folder), 3U) << "in the history, kept, and on trial";
    const auto former = store.history().newest_but(0);
    ASSERT_TRUE(former && *former);
    EXPECT_EQ(*(*former)->rules.lists.at("a.txt"), "192.0.2.1\n");
    EXPECT_EQ(*(*store.load_trial())->rules.lists.at("a.txt"), "192.0.2.3\n");

    ASSERT_TRUE(store.confirm_trial());
    EXPECT_EQ(*(*store.load())->lists.at("a.txt"), "192.0.2.3\n");
    store.drop_old_lists();
    EXPECT_EQ(copies_in(folder), 2U);
    ASSERT_TRUE(store.history().take_out(**former));
    store.drop_old_lists();
    EXPECT_EQ(copies_in(folder), 1U);
    folder.write("state/rules.json", "{");
    store.drop_old_lists();
    EXPECT_EQ(copies_in(folder), 1U) << "who knows what it names";
}

TEST(Store, OldListsGoAndDamagedOnesAreLeftOut) {
    const TemporaryFolder folder;
    const Store store{folder / "state"};
    StoredRules rules = example();
    rules.lists = {{"a.txt", std::make_shared<const std::string>("192.0.2.1\n")}};
    save(store, rules);
    rules.lists = {{"a.txt", std::make_shared<const std::string>("192.0.2.2\n")}};
    save(store, rules);
    store.drop_old_lists();
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator{folder / "state/lists"}) {
        names.push_back(entry.path().filename().string());
    }
    ASSERT_EQ(names.size(), 1U);
    folder.write("state/lists/" + names[0], "192.0.2.3\n");
    const auto loaded = store.load();
    ASSERT_TRUE(loaded && *loaded);
    EXPECT_TRUE((*loaded)->lists.empty());
    EXPECT_EQ((*loaded)->text, example().text);
}

TEST(Store, WithoutCommitNothingChanges) {
    const TemporaryFolder folder;
    const Store store{folder.path()};
    save(store, example());
    const std::string before = folder.read("rules.json");
    {
        StoredRules other = example();
        other.text = "other";
        const Result<PendingFile> pending = store.prepare(other);
        ASSERT_TRUE(pending);
        EXPECT_EQ(folder.read("rules.json"), before);
    }
    EXPECT_EQ(folder.read("rules.json"), before);
    EXPECT_EQ(folder.names(), std::vector<std::string>{"rules.json"}) << "nothing is left behind";
}

TEST(Store, AFolderThatCannotBeIsAnError) {
    const TemporaryFolder folder;
    folder.write("file", "");
    EXPECT_FALSE(Store{folder / "file"}.prepare(example()));
}

using nlohmann::json;
struct Damage {
    const char* what;
    std::function<std::string(const std::string&)> damage;
};
std::string changed(const std::string& text, const std::function<void(json&)>& change) {
    json document = json::parse(text);
    change(document);
    return document.dump();
}
const Damage kDamages[] = {
    {"empty", [](const std::string&) { return std::string{}; }},
    {"cut", [](const std::string& t) { return t.substr(0, t.size() / 2); }},
    {"no JSON", [](const std::string&) { return std::string(1000, '\0'); }},
    {"a list", [](const std::string&) { return std::string{"[]"}; }},
    {"another version",
     [](const std::string& t) { return changed(t, [](json& d) { d["version"] = 3; }); }},
    {"no text", [](const std::string& t) { return changed(t, [](json& d) { d.erase("text"); }); }},
    {"wrong type", [](const std::string& t) { return changed(t, [](json& d) { d["text"] = 5; }); }},
    {"a flipped bit",
     [](const std::string& t) {
         return changed(t,
                        [](json& d) { d["text"] = "wersion" + std::string{d["text"]}.substr(7); });
     }},
};

TEST(Store, WhatIsDamagedIsReportedAndKeptAside) {
    for (const Damage& row : kDamages) {
        const TemporaryFolder folder;
        const Store store{folder.path()};
        save(store, example());
        const std::string damaged = row.damage(folder.read("rules.json"));
        folder.write("rules.json", damaged);
        const auto loaded = store.load();
        ASSERT_FALSE(loaded) << row.what;
        const std::vector<std::string> names = folder.names();
        ASSERT_EQ(names.size(), 1U) << row.what;
        EXPECT_TRUE(names[0].starts_with("rules.json.bad-")) << names[0];
        EXPECT_NE(loaded.error().what.find(names[0]), std::string::npos) << loaded.error().what;
        EXPECT_EQ(folder.read(names[0]), damaged);
        EXPECT_TRUE(store.load()) << "the next start finds nothing, and no error";
    }
}

bool is_same(const StoredRules& a, const StoredRules& b) {
    return notes_to_json(a) == notes_to_json(b) && a.file == b.file && a.text == b.text &&
           a.generation == b.generation && a.changed_at == b.changed_at &&
           a.changed_by == b.changed_by && a.directory == b.directory &&
           a.applied_by == b.applied_by;
}

// Every bit of the file: what comes back is what was kept, or the file is kept aside.
TEST(Store, AFlippedBitChangesNothingThatIsEnforced) {
    const TemporaryFolder folder;
    const Store store{folder.path()};
    StoredRules rules = example();
    rules.keys = {{.rule = "a", .key = "192.0.2.1", .what = KeySetting::What::Banned, .until = 7}};
    save(store, rules);
    const std::string whole = folder.read("rules.json");
    std::size_t aside = 0;
    for (std::size_t bit = 0; bit < whole.size() * 8; ++bit) {
        std::string flipped = whole;
        flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1U << bit % 8));
        const auto read = rules_from_file(flipped, ListCopies{folder.path()});
        EXPECT_TRUE(!read || is_same(*read, rules)) << "bit " << bit;
        aside += read ? 0 : 1;
    }
    EXPECT_GT(aside, whole.size() * 7);
}

std::string sealed_again(nlohmann::json document) {
    document.erase("sum");
    document["sum"] = sum_of(document.dump(-1, ' ', false));
    return document.dump();
}

// With the right sum, as somebody's editor may leave it: no number becomes another.
TEST(Store, ANumberThatDoesNotFitIsAFault) {
    const ListCopies copies{TemporaryFolder{}.path()};
    Trial trial{.rules = example(), .end = {.at = {.boot = "b", .since = 7ns}, .utc = 9}};
    trial.rules.slices = {{"r.yaml", "/etc", trial.rules.text.size()}};
    trial.rules.on = 1;
    const auto whole = nlohmann::json::parse(file_text(trial));
    ASSERT_TRUE(trial_from_file(sealed_again(whole), copies));
    for (const char* number : {"1e300", "-1e300", "1.5", "99999999999999999999", "1e2"}) {
        for (const char* place :
             {"/generation", "/changed_at", "/changed_by", "/applied_by", "/on", "/files/0/bytes",
              "/unconfirmed/end_ns", "/unconfirmed/end_utc"}) {
            auto other = whole;
            other[nlohmann::json::json_pointer{place}] = nlohmann::json::parse(number);
            EXPECT_FALSE(trial_from_file(sealed_again(other), copies)) << place << " " << number;
        }
    }
    for (const char* place : {"/changed_by", "/applied_by"}) {
        auto other = whole;
        other[nlohmann::json::json_pointer{place}] = std::uint64_t{1} << 32U;
        EXPECT_FALSE(rules_from_file(sealed_again(other), copies)) << place;
    }
}

// Members of a life and of a key's setting, which are left out where they have no meaning.
TEST(Notes, ANumberThatDoesNotFitIsNone) {
    for (const char* number : {"1e300", "1.5", "18446744073709551615"}) {
        const std::string text = number;
        EXPECT_TRUE(
            lives_from_json(R"({"of rules with a ttl":{"a":{"ended":true,"first_applied":)" + text +
                            "}}}")
                .empty());
        const KeySettings keys =
            keys_from_json(R"({"of single keys":[{"rule":"a","key":"k","what":"banned","set_by":)" +
                           text + R"(,"until":)" + text + "}]}");
        ASSERT_EQ(keys.size(), 1U);
        EXPECT_EQ(keys[0].until, 0);
        EXPECT_EQ(keys[0].set_by, 0U);
    }
}

TEST(Store, WritesThroughNoLinkThatLiesInItsWay) {
    const TemporaryFolder folder;
    folder.write("of_others", "theirs");
    std::filesystem::create_symlink(folder / "of_others", folder / "rules.json.new");
    Result<PendingFile> pending = PendingFile::write(folder / "rules.json", "ours");
    ASSERT_TRUE(pending) << pending.error().what;
    ASSERT_TRUE(pending->commit());
    EXPECT_EQ(folder.read("of_others"), "theirs");
    EXPECT_EQ(folder.read("rules.json"), "ours");
}

TEST(Notes, AsJsonAndBack) {
    EXPECT_EQ(notes_to_json({}), "{}");
    const std::string notes = notes_to_json(example());
    EXPECT_EQ(modes_from_json(notes), example().modes);
    EXPECT_EQ(lives_from_json(notes), example().lives);
    StoredRules without = example();
    without.lives = {};
    EXPECT_TRUE(lives_from_json(notes_to_json(without)).empty());
    EXPECT_TRUE(lives_from_json(R"({"of rules with a ttl":{"a":7,"b":{"ended":true}}})").empty());
    EXPECT_EQ(modes_from_json(R"({"a":"enforce","b":"loud","c":7,"d":null})"),
              (ModeOverrides{{"a", Mode::Enforce}}));
    for (const char* text : {"", "[]", "{", "7", "\"off\""}) {
        EXPECT_TRUE(modes_from_json(text).empty()) << text;
        EXPECT_TRUE(lives_from_json(text).empty()) << text;
    }
}

}  // namespace
}  // namespace sluice::store_test
