#include "lib/watch/events/watched_keys.hpp"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <random>
#include <set>

namespace sluice::watched_keys_test {
namespace {

using namespace std::chrono_literals;

TableKey key_of(std::uint64_t number) {
    return {GroupKey{number * 0xD6E8'FEB8'6659'FD93}, static_cast<LimitSlot>(1 + number % 7)};
}

// Any order of additions, removals and changes, against a map: each key is found, no other one is,
// and what is due the first is what the map says.
TEST(WatchedKeys, AgainstAMap) {
    std::mt19937_64 random{7};
    WatchedKeys keys{256};
    std::map<std::uint64_t, Instant> model;  // by number: its due
    std::multiset<Instant> dues;             // of all of them
    for (int step = 0; step < 200'000; ++step) {
        const std::uint64_t number = random() % 400;
        WatchedKey* found = keys.find(key_of(number));
        ASSERT_EQ(found != nullptr, model.contains(number));
        const Instant due{std::chrono::nanoseconds{1 + random() % 1000}};
        if (found == nullptr) {
            const WatchedKeys::Added added = keys.add(key_of(number));
            ASSERT_FALSE(added.displaced);  // none of them is silent
            if (added.key == nullptr) {
                continue;  // its set is full
            }
            added.key->end = due;
            added.key->due = due;
            keys.reorder(*added.key);
            model[number] = due;
            dues.insert(due);
        } else if (random() % 2 == 0) {
            keys.remove(*found);
            dues.erase(dues.find(model[number]));
            model.erase(number);
        } else {
            found->due = due;
            keys.reorder(*found);
            dues.erase(dues.find(model[number]));
            dues.insert(due);
            model[number] = due;
        }
        ASSERT_EQ(keys.size(), model.size());
        const WatchedKey* const first = keys.first();
        ASSERT_EQ(first == nullptr, model.empty());
        if (first != nullptr) {
            ASSERT_EQ(first->due, *dues.begin());
        }
    }
}

TEST(WatchedKeys, AFullSetTakesNoMoreAndASilentKeyGivesWay) {
    WatchedKeys keys{WatchedKeys::kWays};  // one set
    for (std::uint64_t number = 0; number < WatchedKeys::kWays; ++number) {
        WatchedKey* const added = keys.add(key_of(number)).key;
        ASSERT_NE(added, nullptr);
        added->last = Instant{std::chrono::seconds{10 + number}};
        added->end = Instant{1h};
        added->due = Instant{1h};
    }
    EXPECT_EQ(keys.add(key_of(100)).key, nullptr);
    for (const std::uint64_t silent : {5, 3, 6}) {
        keys.find(key_of(silent))->end = kNoInstant;
    }
    const WatchedKeys::Added added = keys.add(key_of(100));
    ASSERT_NE(added.key, nullptr);
    EXPECT_TRUE(added.displaced);
    EXPECT_EQ(keys.find(key_of(3)), nullptr);  // the longest silent one
    EXPECT_NE(keys.find(key_of(5)), nullptr);
    EXPECT_EQ(keys.size(), WatchedKeys::kWays);
}

TEST(WatchedKeys, ThoseThatAreToGoGo) {
    WatchedKeys keys{64};
    for (std::uint64_t number = 0; number < 30; ++number) {
        if (WatchedKey* const added = keys.add(key_of(number)).key) {
            added->rule = static_cast<std::uint32_t>(number);
            added->due = Instant{std::chrono::seconds{100 - number}};
            keys.reorder(*added);
        }
    }
    keys.remove_if([](const WatchedKey& one) { return one.rule % 2 == 0; });
    Instant before{};
    std::size_t left = 0;
    while (WatchedKey* const first = keys.first()) {
        EXPECT_EQ(first->rule % 2, 1U);
        EXPECT_GE(first->due, before);
        before = first->due;
        keys.remove(*first);
        ++left;
    }
    EXPECT_EQ(left, 15U);
}

}  // namespace
}  // namespace sluice::watched_keys_test
