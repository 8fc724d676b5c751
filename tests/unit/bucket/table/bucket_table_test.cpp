#include "lib/bucket/table/bucket_table.hpp"

#include "lib/bucket/meter/gcra.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <map>
#include <random>
#include <set>
#include <span>
#include <thread>
#include <vector>

namespace sluice::bucket_table_test {
namespace {

using namespace std::chrono_literals;

constexpr Instant kStart{1h};
const AnyLimit kLimit =
    TokenBucketLimit{*Limit::make({.units = Units{1}, .period = 1s}, Units{10})};
constexpr LimitSlot kSlot = 1;

Now at(Instant now) {
    return {now, {}};
}

GroupKey key(std::uint64_t n) {
    static const KeyHasher hash{{0x0123'4567'89AB'CDEF, 0xFEDC'BA98'7654'3210}};
    return hash(7, std::as_bytes(std::span{&n, 1}));
}

// A table and who lives in it, used as one worker does: find or make the entry, decide, charge.
struct Core {
    enum class Took : std::uint8_t { Admitted, Refused, NoPlace };

    explicit Core(std::size_t keys) : table{keys} {
        rows[kSlot].limit = &kLimit;
        registry.adopt(rows, 0, kStart);
    }

    Entry* place(const TableKey& table_key, Instant now) {
        if (Entry* found = table.find(table_key)) {
            return found;
        }
        Entry* entry = table.make_place(table_key, registry, at(now));
        if (entry != nullptr) {
            entry->file({now, 0}, table_key.slot_and_tag, {});
            entry->release();
            registry.came(kSlot);
        }
        return entry;
    }
    Took take(GroupKey which, Instant now, std::uint64_t cost = 1) {
        table.begin_burst();
        Entry* entry = place({which, kSlot}, now);
        if (entry == nullptr) {
            return Took::NoPlace;
        }
        Cell cell = entry->cell();
        if (check(cell, kLimit, registry.pool(), at(now), {Units{cost}}) != Conformance::Green) {
            return Took::Refused;
        }
        charge(cell, kLimit, registry.pool(), at(now), {Units{cost}, Conformance::Green});
        entry->write(cell);
        return Took::Admitted;
    }
    [[nodiscard]] std::uint64_t live() const { return registry.entries_of(kSlot).read(); }

    std::array<SlotRow, 2> rows{};
    LimitRegistry registry{64};
    BucketTable table;
};
using Took = Core::Took;

TEST(BucketTable, HasRoomForWhatItIsAskedFor) {
    for (const std::size_t keys : {1U, 100U, 1000U, 50'000U}) {
        Core core{keys};
        EXPECT_GE(core.table.slots(), keys);
        EXPECT_LE(core.table.slots(), keys + keys / 12 + 8);
    }
}

TEST(BucketTable, KeepsWhatAKeyOwes) {
    Core core{64};
    EXPECT_EQ(core.take(key(1), kStart, 10), Took::Admitted);
    EXPECT_EQ(core.take(key(1), kStart), Took::Refused);
    EXPECT_EQ(core.take(key(2), kStart), Took::Admitted);
    EXPECT_EQ(core.take(key(1), kStart + 999ms), Took::Refused);
    EXPECT_EQ(core.take(key(1), kStart + 1s), Took::Admitted);
}

// One key under two limits is two buckets.
TEST(BucketTable, AnEntryBelongsToItsLimit) {
    Core core{64};
    Entry* first = core.place({key(1), 1}, kStart);
    first->hold();
    Entry* second = core.place({key(1), 2}, kStart);
    ASSERT_NE(first, nullptr);
    ASSERT_NE(second, nullptr);
    EXPECT_NE(first, second);
    EXPECT_EQ(core.table.find({key(1), 1}), first);
    EXPECT_EQ(core.table.find({key(1), 2}), second);
    EXPECT_EQ(core.table.find({key(1), 3}), nullptr);
}

// As many live keys as it was made for find a place, and none is forgotten for another.
TEST(BucketTable, FillsWithoutLosingALiveBucket) {
    for (const std::uint64_t seed : {1U, 2U, 3U}) {
        Core core{20'000};
        for (std::uint64_t n = 0; n < 20'000; ++n) {
            ASSERT_EQ(core.take(key(seed << 32 | n), kStart, 10), Took::Admitted) << n;
        }
        EXPECT_EQ(core.live(), 20'000U);
        EXPECT_GT(core.table.moves(), 0U);
        for (std::uint64_t n = 0; n < 20'000; ++n) {
            ASSERT_EQ(core.take(key(seed << 32 | n), kStart + 999ms), Took::Refused) << n;
        }
    }
}

// Ten times as many live keys as places: none that got a place is ever forgotten.
TEST(BucketTable, AFloodOfLiveKeysForgetsNobody) {
    Core core{1024};
    std::vector<std::uint64_t> placed;
    std::size_t refused = 0;
    for (std::uint64_t n = 0; n < 10'240; ++n) {
        if (core.take(key(n), kStart, 10) == Took::Admitted) {
            placed.push_back(n);
        } else {
            ++refused;
        }
    }
    EXPECT_LE(placed.size(), core.table.slots());
    EXPECT_GE(placed.size(), 1024U);
    EXPECT_EQ(placed.size() + refused, 10'240U);
    EXPECT_EQ(core.live(), placed.size());
    for (const std::uint64_t n : placed) {
        ASSERT_EQ(core.take(key(n), kStart + 999ms), Took::Refused) << n;
    }
}

// However many new keys come, what a burst may spend on searching is bounded.
TEST(BucketTable, AFullTableIsNotSearchedForEveryKey) {
    Core core{4096};
    std::uint64_t next = 0;
    while (core.table.failed_searches() == 0) {
        (void)core.take(key(next++), kStart, 10);
    }
    const std::uint64_t before = core.table.failed_searches();
    constexpr std::uint64_t kBursts = 10'000;
    for (std::uint64_t burst = 0; burst < kBursts; ++burst) {
        core.table.begin_burst();
        for (int i = 0; i < 32; ++i) {
            if (Entry* entry = core.place({key(next++), kSlot}, kStart)) {
                entry->write({kStart + 10s, 0});
            }
        }
    }
    const std::uint64_t searches = core.table.failed_searches() - before;
    EXPECT_GT(searches, 0U);
    EXPECT_LT(searches, kBursts / 16);
}

// Keys that someone who knew the secret has aimed at one pair of lines: eight of them fit there.
// For a secret he does not know they are like any other keys.
TEST(BucketTable, KeysAimedAtOnePlaceDoNoHarmUnderAnotherSecret) {
    constexpr std::size_t kKeys = 200;
    const KeyHasher known{{1, 2}};
    const KeyHasher unknown{{0x5EED'0000'0000'0001, 0x0123'4567'89AB'CDEF}};
    const auto table_key = [](const KeyHasher& hash, std::uint64_t n) {
        return TableKey{hash(7, std::as_bytes(std::span{&n, 1})), kSlot};
    };
    Core probe{kKeys};
    const Entry* first = probe.table.prefetch_first(table_key(known, 0));
    std::vector<std::uint64_t> aimed;
    for (std::uint64_t n = 0; aimed.size() < kKeys; ++n) {
        if (probe.table.prefetch_first(table_key(known, n)) == first) {
            aimed.push_back(n);
        }
    }
    const auto placed = [&](const KeyHasher& hash) {
        Core core{kKeys};
        std::size_t count = 0;
        for (const std::uint64_t n : aimed) {
            core.table.begin_burst();
            Entry* entry = core.place(table_key(hash, n), kStart);
            if (entry != nullptr) {
                entry->write({kStart + 1h, 0});
                ++count;
            }
        }
        return count;
    };
    EXPECT_EQ(placed(unknown), kKeys);
    EXPECT_LT(placed(known), kKeys);
}

// When its entries run out, a table that was full is searched again.
TEST(BucketTable, FindsRoomAgainAfterAFlood) {
    Core core{4096};
    for (std::uint64_t n = 0; n < 20'000; ++n) {
        (void)core.take(key(n), kStart, 2);  // idle again after 2 s
    }
    std::size_t admitted = 0;
    for (std::uint64_t n = 0; n < 4096; ++n) {
        admitted += core.take(key(1'000'000 + n), kStart + 2s, 10) == Took::Admitted ? 1U : 0U;
    }
    EXPECT_EQ(admitted, 4096U);
}

TEST(BucketTable, ReclaimsWhatIsIdleAndOnlyThat) {
    Core core{64};
    for (std::uint64_t n = 0; n < 1000; ++n) {
        (void)core.take(key(n), kStart, 2);  // idle again after 2 s
    }
    std::size_t early = 0;
    std::size_t later = 0;
    for (std::uint64_t n = 1000; n < 1064; ++n) {
        early += core.take(key(n), kStart + 2s - 1ns) == Took::Admitted ? 1U : 0U;
    }
    for (std::uint64_t n = 2000; n < 2032; ++n) {
        later += core.take(key(n), kStart + 2s) == Took::Admitted ? 1U : 0U;
    }
    EXPECT_LT(early, 8U);  // places the flood happened to leave
    EXPECT_EQ(later, 32U);
}

struct Lookup {
    TableKey key;
    Entry* entry = nullptr;
};

// Looks as a burst does; how many keys were not in their first lines.
std::size_t probe(Core& core, std::span<Lookup> lookups, Instant now) {
    std::vector<Lookup*> missed(lookups.size());
    for (Lookup& lookup : lookups) {
        lookup.entry = core.table.prefetch_first(lookup.key);
    }
    const std::size_t misses = core.table.probe_first(lookups, missed.data());
    core.table.probe_second(std::span<Lookup* const>{missed}.first(misses), core.registry, at(now));
    return misses;
}

// Where others have left, keys in their second lines move to their first, with what they owe; held
// ones stay.
TEST(BucketTable, GuestsMoveHomeIntoEmptyPlaces) {
    Core core{1000};
    std::vector<Lookup> staying;
    for (std::uint64_t n = 0; n < 950; ++n) {
        ASSERT_EQ(core.take(key(n), kStart, n % 2 == 0 ? 10 : 1), Core::Took::Admitted);
        if (n % 2 == 0) {
            staying.push_back({{key(n), kSlot}, nullptr});
        }
    }
    const Instant later = kStart + 2s;
    core.table.sweep(core.table.lines(), core.registry, at(later));
    for (const Lookup& lookup : staying) {
        core.table.find(lookup.key)->hold();
    }
    const std::size_t guests = probe(core, staying, later);
    EXPECT_EQ(probe(core, staying, later), guests);
    for (const Lookup& lookup : staying) {
        core.table.find(lookup.key)->release();
    }
    (void)probe(core, staying, later);
    EXPECT_LT(probe(core, staying, later), guests / 3);
    for (const Lookup& lookup : staying) {
        ASSERT_NE(lookup.entry, nullptr);
        EXPECT_EQ(lookup.entry->slot_and_tag(), lookup.key.slot_and_tag);
        EXPECT_EQ(lookup.entry->fresh_from(), kStart + 10s);
    }
    EXPECT_EQ(core.live(), staying.size());
}

// Entries that are only idle are still their keys': nobody moves in over them, or over the live
// ones beside them.
TEST(BucketTable, GuestsStayOutWhereOthersAreOnlyIdle) {
    Core core{1000};
    std::vector<Lookup> owing;
    for (std::uint64_t n = 0; n < 1000; ++n) {
        ASSERT_EQ(core.take(key(n), kStart, n % 4 == 0 ? 1 : 10), Core::Took::Admitted);
        if (n % 4 != 0) {
            owing.push_back({{key(n), kSlot}, nullptr});
        }
    }
    const std::uint64_t live = core.live();
    const Instant later = kStart + 2s;  // a quarter of the keys owes nothing any more
    const std::size_t guests = probe(core, owing, later);
    EXPECT_GT(guests, owing.size() / 8);
    (void)probe(core, owing, later);
    for (const Lookup& lookup : owing) {
        ASSERT_NE(lookup.entry, nullptr);
        EXPECT_EQ(lookup.entry->slot_and_tag(), lookup.key.slot_and_tag);
        EXPECT_EQ(lookup.entry->fresh_from(), kStart + 10s);
    }
    EXPECT_EQ(core.live(), live);
}

// A packet looks at several buckets before it charges any: the second look must not take or move
// the place of the first, though both are idle.
TEST(BucketTable, AHeldEntryStaysWhereItIs) {
    Core core{1};
    std::vector<Entry*> held;
    for (std::uint64_t n = 0; n < core.table.slots(); ++n) {
        held.push_back(core.place({key(n), kSlot}, kStart));
        ASSERT_NE(held.back(), nullptr);
        held.back()->hold();
    }
    core.table.begin_burst();
    EXPECT_EQ(core.place({key(100), kSlot}, kStart), nullptr);
    core.table.sweep(core.table.lines(), core.registry, at(kStart + 1h));
    EXPECT_EQ(core.live(), held.size());
    held[0]->release();
    EXPECT_NE(core.place({key(100), kSlot}, kStart), nullptr);
}

// Who has left is counted out by the sweep, also where nobody comes.
TEST(BucketTable, TheSweepCountsOutWhatIsIdle) {
    Core core{1000};
    for (std::uint64_t n = 0; n < 500; ++n) {
        (void)core.take(key(n), kStart, 1 + n % 2);
    }
    EXPECT_EQ(core.live(), 500U);
    core.table.sweep(core.table.lines(), core.registry, at(kStart + 1s));
    EXPECT_EQ(core.live(), 250U);
    core.table.sweep(core.table.lines(), core.registry, at(kStart + 2s));
    EXPECT_EQ(core.live(), 0U);
}

// Where the limit says so, what is idle stays for a while: until then its place is anybody's.
TEST(BucketTable, TheSweepLeavesWhoMayComeAgain) {
    Core core{1000};
    core.rows[kSlot].linger = 3s;
    for (std::uint64_t n = 0; n < 500; ++n) {
        (void)core.take(key(n), kStart, 1);
    }
    core.table.sweep(core.table.lines(), core.registry, at(kStart + 4s - Nanoseconds{1}));
    EXPECT_EQ(core.live(), 500U);
    core.table.sweep(core.table.lines(), core.registry, at(kStart + 4s));
    EXPECT_EQ(core.live(), 0U);
}

// Random traffic over few keys against a table that never forgets and has room for all.
TEST(BucketTable, AgreesWithAMapThatNeverForgets) {
    Core core{600};
    const Limit& limit = std::get<TokenBucketLimit>(kLimit).gcra;
    std::map<std::uint64_t, Gcra> oracle;
    std::mt19937_64 random{3};
    Instant now = kStart;
    for (int i = 0; i < 200'000; ++i) {
        now += Nanoseconds{static_cast<std::int64_t>(random() % 20'000'000)};
        const std::uint64_t n = random() % 500;
        const std::uint64_t cost = 1 + random() % 4;
        Gcra& bucket = oracle[n];
        const bool fits = admits(bucket, limit, now, Units{cost});
        if (fits) {
            charge(bucket, limit, now, Units{cost});
        }
        ASSERT_EQ(core.take(key(n), now, cost), fits ? Took::Admitted : Took::Refused) << i;
        core.table.sweep(1, core.registry, at(now));
    }
}

// A scan from another thread sees words that belong together, and does not disturb the owner.
TEST(BucketTable, AnotherThreadMayScanIt) {
    Core core{256};
    std::atomic<bool> done{false};
    std::size_t torn = 0;
    std::thread reader{[&] {
        while (!done.load()) {
            for (std::size_t i = 0; i < core.table.slots(); ++i) {
                const Entry seen = core.table.read(i);
                torn += !seen.empty() && seen.slot() != kSlot ? 1U : 0U;
            }
        }
    }};
    Instant now = kStart;
    for (std::uint64_t n = 0; n < 50'000; ++n) {
        now += 10ms;
        (void)core.take(key(n % 400), now, 1 + n % 3);
    }
    done.store(true);
    reader.join();
    EXPECT_EQ(torn, 0U);
}

}  // namespace
}  // namespace sluice::bucket_table_test
