#include "dataplane/box/key_lister.hpp"

#include "lib/bucket/meter/any_meter.hpp"
#include "lib/bucket/meter/gcra.hpp"
#include "lib/bucket/meter/penalty.hpp"
#include "lib/rules/group.hpp"
#include "lib/rules/network_bans.hpp"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice::key_lister_test {
namespace {

using namespace std::chrono_literals;

constexpr LimitSlot kSlot = 1;
constexpr LimitSlot kBoxSlot = 2;
constexpr LimitSlot kFormerSlot = 3;
constexpr std::uint64_t kIdentity = 7;
constexpr Now kNow{Instant{1h}, {}};
const Limit kLimit = *Limit::make({.units = Units{1}, .period = 1h}, Units{10});
const AnyLimit kNumbers = TokenBucketLimit{kLimit};
const AnyLimit kBox =
    PenaltyLimit{.after = 3, .within = 60'000'000'000, .lasts = 3'600'000'000'000};
constexpr HashSecret kSecret{0x0123'4567'89AB'CDEF, 0xFEDC'BA98'7654'3210};
const KeyHasher kHash{kSecret};
// A key of one address, 10.1.2.3, and its network of 16 bits: field, version, length, size, value.
constexpr std::string_view kAddress{"\x03\x04\x20\x04\x0a\x01\x02\x03", 8};
constexpr std::string_view kItsNetwork{"\x03\x04\x10\x04\x0a\x01\0\0", 8};

std::string key_number(std::uint64_t number) {
    KeyBytes bytes;
    bytes.append_number(Field::L4Dport, number);
    return {reinterpret_cast<const char*>(bytes.view().data()), bytes.view().size()};
}
TableKey table_key(std::string_view bytes, LimitSlot slot) {
    const std::uint64_t digest = kHash.digest(std::as_bytes(std::span{bytes}));
    return {KeyHasher::key_under(kIdentity, digest), slot};
}

void file(BucketStore& store, std::string_view bytes, LimitSlot slot, Cell cell) {
    const TableKey key = table_key(bytes, slot);
    store.keys.begin_burst();
    Entry* entry = store.keys.make_place(key, store.registry, kNow);
    ASSERT_NE(entry, nullptr);
    entry->file(cell, key.slot_and_tag, {});
    entry->release();
    store.registry.came(slot);
}
void file(BucketStore& store, std::uint64_t number, LimitSlot slot, Cell cell) {
    file(store, key_number(number), slot, cell);
}
// A bucket that has used so much, and one that is banned for so long.
void file_used(BucketStore& store, std::uint64_t number, std::uint64_t used,
               LimitSlot slot = kSlot) {
    Gcra bucket{kNow.at, 0};
    charge(bucket, kLimit, kNow.at, Units{used});
    file(store, number, slot, {bucket.fresh_from, bucket.below});
}
void file_banned(BucketStore& store, std::uint64_t number, Nanoseconds left) {
    file(store, number, kBoxSlot, {kNow.at + left, kNoLine});
}

struct KeyListerTest : testing::Test {
    KeyListerTest() {
        set.slots.resize(4);
        set.slots[kSlot] = {.limit = &kNumbers, .in_entry = true};
        set.slots[kFormerSlot] = {.limit = &kNumbers, .in_entry = true};
        set.slots[kBoxSlot] = {.limit = &kBox};
        rule.limits.push_back(loaded(kNumbers, kSlot));
        rule.ban.boxes.push_back(loaded(kBox, kBoxSlot));
    }
    static LoadedLimit loaded(const AnyLimit& numbers, LimitSlot slot) {
        LoadedLimit limit{MeteredLimit{.limit = numbers}};
        limit.identity = kIdentity;
        limit.slot = slot;
        return limit;
    }

    BucketStore& worker(std::size_t keys) { return added(workers, keys); }
    BucketStore& former(std::size_t process, std::size_t keys) {
        former_.push_back({BucketStore{keys, 64}, process});
        former_.back().buckets.registry.adopt(set.slots, 0, kNow.at);
        return former_.back().buckets;
    }
    BucketStore& added(std::vector<std::unique_ptr<BucketStore>>& stores, std::size_t keys) {
        stores.push_back(std::make_unique<BucketStore>(keys, 64));
        stores.back()->registry.adopt(set.slots, 0, kNow.at);
        return *stores.back();
    }

    struct Row {
        bool carried = false;
        bool shared = false;
        std::uint64_t remaining = 0;
        std::int64_t left_s = 0;
        KeyBan ban = KeyBan::None;
        bool operator==(const Row&) const = default;
        friend void PrintTo(const Row& row, std::ostream* out) {
            *out << "carried " << row.carried << ", shared " << row.shared << ", " << row.remaining
                 << " remain, " << row.left_s << " s, ban " << static_cast<int>(row.ban);
        }
    };
    // Every page of so many rows, by key; a key that comes twice is a failure. Once.
    std::map<std::string, Row> listed(bool bans = false, std::uint32_t most = 7) {
        if (!former_.empty()) {
            previous = std::make_unique<PreviousTables>(std::move(former_), kNow.at + 10h);
        }
        std::vector<KeyLister::Table> tables;
        for (std::size_t i = 0; i < workers.size(); ++i) {
            tables.push_back({workers[i].get(), static_cast<std::uint32_t>(i + 1)});
        }
        const KeyLister::Source source{KeyLister::with_former(tables, previous.get()), set, kNow};
        std::vector<std::string> names;
        for (std::uint64_t number = 0; number < kKeys; ++number) {
            names.push_back(key_number(number));
        }
        names.emplace_back(kAddress);
        KeyLister lister{kHash};
        std::map<std::string, Row> rows;
        ListKeys request{.bans = bans, .most = most};
        for (KeyPage page; !page.ends;
             request.worker = page.worker, request.position = page.position) {
            page = lister.list(request, source, rule, {names, {}});
            live = page.live;
            for (const ListedKey& key : page.keys) {
                EXPECT_TRUE(key.named);
                const Row row{key.carried, key.shared, key.remaining, key.left_ns / 1'000'000'000,
                              key.ban};
                EXPECT_TRUE(rows.emplace(key.text, row).second) << key.text << " comes twice";
                if (key.own_numbers) {
                    own_numbers.push_back(key.text);
                }
            }
        }
        return rows;
    }

    // Sets plans for keys of these bytes; and bans the network.
    void set_plans(const std::map<std::string, OverridePlan>& plans,
                   std::vector<LimitOverride> numbers = {}) {
        auto all = std::make_shared<Overrides>();
        all->numbers = std::move(numbers);
        const auto add = [&](KeyOverrides& keys, std::string_view key, const OverridePlan& plan) {
            const ByteView bytes = std::as_bytes(std::span{key});
            keys.bytes.insert(keys.bytes.end(), bytes.begin(), bytes.end());
            keys.rows.push_back({static_cast<std::uint32_t>(keys.bytes.size()),
                                 static_cast<std::uint32_t>(all->plans.size())});
            all->plans.push_back(plan);
        };
        all->keys.resize(1);
        all->networks.resize(1);
        for (const auto& [key, plan] : plans) {
            add(all->keys[0], key, plan);
        }
        add(all->networks[0], kItsNetwork, {.banned = true});
        rule.overrides = all;
        rule.override_tables = {std::make_shared<OverrideTable>(
            all->keys[0], *all, kSecret,
            OverrideTable::Wider{
                .bans = std::make_shared<NetworkBans>(all->networks[0], *all, kSecret)})};
    }

    static constexpr std::uint64_t kKeys = 200;
    static constexpr std::int64_t kHour = 3600;
    LoadedSet set;
    LoadedRule rule;
    std::vector<std::unique_ptr<BucketStore>> workers;
    std::vector<PreviousTables::Store> former_;
    std::unique_ptr<PreviousTables> previous;
    std::uint64_t live = 0;
    std::vector<std::string> own_numbers;  // keys that are listed without what is left
};

// Larger, smaller, and by no round factor.
TEST_F(KeyListerTest, KeysOfTablesOfAnotherSizeAreListedUntilTheyAreTakenOver) {
    for (const auto& [now, before] :
         {std::pair{1'024U, 4'096U}, {10'000U, 512U}, {1'000U, 1'000U}, {300U, 7'000U}}) {
        SCOPED_TRACE(std::to_string(before) + " before, " + std::to_string(now) + " now");
        workers.clear();
        previous.reset();
        BucketStore& table = worker(now);
        BucketStore& earlier = former(0, before);
        for (std::uint64_t number = 0; number < kKeys; ++number) {
            file_used(earlier, number, 4);
            if (number % 2 == 0) {
                file_used(table, number, 5);
            }
        }
        const auto rows = listed();
        EXPECT_EQ(rows.size(), kKeys);
        for (std::uint64_t number = 0; number < kKeys; ++number) {
            const Row here{false, false, 5, 5 * kHour};
            const Row there{true, false, 6, 4 * kHour};
            const auto found = rows.find(std::to_string(number));
            ASSERT_NE(found, rows.end()) << number;
            EXPECT_EQ(found->second, number % 2 == 0 ? here : there) << number;
        }
    }
}

TEST_F(KeyListerTest, BansOfTablesOfAnotherSizeAreListed) {
    BucketStore& table = worker(1'024);
    BucketStore& earlier = former(0, 4'096);
    file_banned(earlier, 1, 60s);
    file_banned(earlier, 2, 90s);
    file_banned(table, 2, 30s);
    file_used(earlier, 3, 4);
    const std::map<std::string, Row> expected{{"1", {true, false, 0, 60}},
                                              {"2", {false, false, 0, 30}}};
    EXPECT_EQ(listed(true), expected);
}

TEST_F(KeyListerTest, LiveKeysAreListedWithTheirBan) {
    BucketStore& table = worker(1'024);
    BucketStore& other = worker(1'024);
    for (std::uint64_t number = 1; number <= 6; ++number) {
        file_used(table, number, 1);
    }
    file(table, kAddress, kSlot, {kNow.at + 1h, 0});
    file_banned(table, 2, 60s);
    file_banned(table, 3, 60s);
    file_banned(table, 4, 60s);
    file_banned(other, 6, 60s);
    set_plans({{key_number(3), {.banned = true}},
               {key_number(4), {.exempt = true}},
               {key_number(5), {.banned = true, .banned_until = 30min}}});
    const std::string address = text_of_key(std::as_bytes(std::span{kAddress}), {});
    const auto row = [](KeyBan ban) { return Row{false, false, 9, kHour, ban}; };
    std::map<std::string, Row> rows = listed();
    EXPECT_EQ(rows["1"], row(KeyBan::None));
    EXPECT_EQ(rows["2"], row(KeyBan::Box));
    EXPECT_EQ(rows["3"], row(KeyBan::Own));
    EXPECT_EQ(rows["4"], row(KeyBan::None)) << "exempt goes before the box";
    EXPECT_EQ(rows["5"], row(KeyBan::None)) << "it has ended";
    EXPECT_EQ(rows["6"], row(KeyBan::Box)) << "another worker has it";
    EXPECT_EQ(rows[address], row(KeyBan::Network));
    set_plans({{std::string{kAddress}, {.exempt = true}}});
    EXPECT_EQ(listed()[address].ban, KeyBan::None) << "it is let through by name";
    set_plans({{std::string{kAddress}, {.banned = true}}});
    EXPECT_EQ(listed()[address].ban, KeyBan::Own);
}

// Windows keep what was used under any count; a bucket's use is not known before a packet of its
// key comes.
TEST_F(KeyListerTest, KeysHaveTheCountThatIsTheirOwn) {
    const FixedWindowLimit base{{.count = 5, .window = 3'600'000'000'000}};
    const AnyLimit window = base;
    FixedWindowLimit more = base;
    more.numbers.count = 100;
    set.slots[kSlot] = {.limit = &window, .overridden = true};
    rule.limits[0].limit = window;
    rule.limits[0].overridden = true;
    BucketStore& table = worker(1'024);
    for (const std::uint64_t number : {1, 2, 3}) {
        Cell cell;
        ASSERT_TRUE(open_bucket(cell, window, table.registry.pool(), {}, kNow));
        use_at_least(cell, window, table.registry.pool(), kNow, Units{4});
        file(table, number, kSlot, cell);
    }
    set_plans(
        {{key_number(2), {.first = 0, .count = 1}}, {key_number(3), {.first = 1, .count = 1}}},
        {{.limit = 0, .numbers = more}, {.limit = 0, .until = 30min, .numbers = more}});
    std::map<std::string, Row> rows = listed();
    EXPECT_EQ(rows["1"].remaining, 1);
    EXPECT_EQ(rows["2"].remaining, 96);
    EXPECT_EQ(rows["3"].remaining, 1) << "its own have ended";
}

TEST_F(KeyListerTest, BucketsUnderNumbersOfTheirOwnHaveNoneHere) {
    rule.limits[0].overridden = true;
    set_plans({{key_number(2), {.first = 0, .count = 1}}}, {{.limit = 0, .numbers = kNumbers}});
    file_used(worker(1'024), 1, 4);
    file_used(*workers[0], 2, 4);
    EXPECT_EQ(listed().size(), 2);
    EXPECT_EQ(own_numbers, (std::vector<std::string>{"2"}));
}

// Use by workers of one process adds up; of several processes the most counts.
TEST_F(KeyListerTest, WhatSeveralTablesHaveOfAKeyIsOneRow) {
    (void)worker(1'024);
    file_used(former(0, 4'096), 1, 4);
    file_used(former_[0].buckets, 2, 1);
    file_used(former(0, 4'096), 1, 3);
    file_used(former(1, 300), 1, 5);
    file_used(former_[2].buckets, 2, 2);
    const std::map<std::string, Row> expected{{"1", {true, false, 3, 5 * kHour}},
                                              {"2", {true, false, 8, 2 * kHour}}};
    EXPECT_EQ(listed(), expected);
    EXPECT_EQ(live, 5U);
}

TEST_F(KeyListerTest, KeysUnderASlotThatTheirLimitHadBeforeAreListed) {
    rule.limits.front().migrated_from = {{.slot = kFormerSlot, .combine = Combine::Sum}};
    BucketStore& one = worker(1'024);
    BucketStore& other = worker(1'024);
    file_used(one, 1, 4, kFormerSlot);
    file_used(other, 1, 2, kFormerSlot);
    file_used(one, 2, 4, kFormerSlot);
    file_used(other, 2, 5);
    const std::map<std::string, Row> expected{{"1", {true, false, 4, 4 * kHour}},
                                              {"2", {false, false, 5, 5 * kHour}}};
    EXPECT_EQ(listed(), expected);
}

// Entries that say how many there are, and rows: what two workers share is one.
TEST_F(KeyListerTest, WhatWorkersShareIsOneRow) {
    rule.limits.front().shared = 8;
    file_used(worker(1'024), 1, 4);
    file_used(worker(1'024), 1, 6);
    const std::map<std::string, Row> expected{{"1", {false, true, 4, 6 * kHour}}};
    EXPECT_EQ(listed(), expected);
    EXPECT_EQ(live, 2U);
}

}  // namespace
}  // namespace sluice::key_lister_test
