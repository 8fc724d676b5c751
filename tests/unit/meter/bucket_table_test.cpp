#include "lib/meter/bucket_table.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

namespace sluice {
namespace {

using namespace std::chrono_literals;

constexpr Instant kStart{1h};
const Limit kLimit = *Limit::make({.units = Units{1}, .period = 1s}, Units{10});

GroupKey key(std::uint64_t n) {
    static const KeyHasher hash{{0x0123'4567'89AB'CDEF, 0xFEDC'BA98'7654'3210}};
    return hash(n, {});
}

// What one packet does: look, decide, charge, release.
enum class Took : std::uint8_t { Admitted, Refused, NoPlace };
Took take(BucketTable& table, GroupKey which, Instant now, std::uint64_t cost = 1) {
    const BucketTable::Place place = table.look(which, now);
    if (!place.found()) {
        return Took::NoPlace;
    }
    Gcra bucket = table.read(place);
    const bool fits = admits(bucket, kLimit, now, Units{cost});
    if (fits) {
        charge(bucket, kLimit, now, Units{cost});
        table.write(place, bucket);
    }
    table.release(place);
    return fits ? Took::Admitted : Took::Refused;
}

TEST(BucketTable, RoundsItsCapacityUpAndStaysThere) {
    EXPECT_EQ(BucketTable{1}.slots(), 4U);
    EXPECT_EQ(BucketTable{1000}.slots(), 1024U);
    EXPECT_EQ(BucketTable{1025}.slots(), 2048U);
}

TEST(BucketTable, KeepsWhatAKeyOwes) {
    BucketTable table{64};
    EXPECT_EQ(take(table, key(1), kStart, 10), Took::Admitted);
    EXPECT_EQ(take(table, key(1), kStart), Took::Refused);
    EXPECT_EQ(take(table, key(2), kStart), Took::Admitted);
    EXPECT_EQ(take(table, key(1), kStart + 999ms), Took::Refused);
    EXPECT_EQ(take(table, key(1), kStart + 1s), Took::Admitted);
}

// Ten times as many live keys as places: none that got a place is ever forgotten.
TEST(BucketTable, AFloodOfLiveKeysForgetsNobody) {
    BucketTable table{1024};
    std::vector<std::uint64_t> placed;
    std::size_t refused = 0;
    for (std::uint64_t n = 0; n < 10'240; ++n) {
        if (take(table, key(n), kStart, 10) == Took::Admitted) {
            placed.push_back(n);
        } else {
            ++refused;
        }
    }
    EXPECT_LE(placed.size(), table.slots());
    EXPECT_GT(placed.size(), table.slots() * 9 / 10);
    EXPECT_EQ(placed.size() + refused, 10'240U);
    for (const std::uint64_t n : placed) {
        ASSERT_EQ(take(table, key(n), kStart + 999ms), Took::Refused) << n;
    }
}

TEST(BucketTable, ReclaimsWhatIsIdleAndOnlyThat) {
    BucketTable table{64};
    for (std::uint64_t n = 0; n < 1000; ++n) {
        (void)take(table, key(n), kStart, 2);  // idle again after 2 s
    }
    std::size_t early = 0;
    std::size_t later = 0;
    for (std::uint64_t n = 1000; n < 1064; ++n) {
        early += take(table, key(n), kStart + 2s - 1ns) == Took::Admitted ? 1U : 0U;
    }
    for (std::uint64_t n = 2000; n < 2032; ++n) {
        later += take(table, key(n), kStart + 2s) == Took::Admitted ? 1U : 0U;
    }
    EXPECT_LT(early, 8U);  // places the flood happened to leave
    EXPECT_EQ(later, 32U);
}

// A packet looks at several buckets before it charges any: the second look must not take the place
// of the first, though both are idle.
TEST(BucketTable, ABucketLookedAtIsHeldUntilReleased) {
    BucketTable table{4};  // one line: all keys compete
    std::vector<BucketTable::Place> held;
    for (std::uint64_t n = 0; n < 4; ++n) {
        held.push_back(table.look(key(n), kStart));
        ASSERT_TRUE(held.back().found());
    }
    EXPECT_FALSE(table.look(key(4), kStart).found());
    table.release(held[2]);
    EXPECT_TRUE(table.look(key(4), kStart).found());
}

// Random traffic over few keys against a table that never forgets and has room for all.
TEST(BucketTable, AgreesWithAMapThatNeverForgets) {
    BucketTable table{4096};
    std::map<std::uint64_t, Gcra> oracle;
    std::mt19937_64 random{3};
    Instant now = kStart;
    for (int i = 0; i < 200'000; ++i) {
        now += Nanoseconds{static_cast<std::int64_t>(random() % 20'000'000)};
        const std::uint64_t n = random() % 500;
        const std::uint64_t cost = 1 + random() % 4;
        Gcra& bucket = oracle[n];
        const bool fits = admits(bucket, kLimit, now, Units{cost});
        if (fits) {
            charge(bucket, kLimit, now, Units{cost});
        }
        ASSERT_EQ(take(table, key(n), now, cost), fits ? Took::Admitted : Took::Refused) << i;
    }
}

}  // namespace
}  // namespace sluice
