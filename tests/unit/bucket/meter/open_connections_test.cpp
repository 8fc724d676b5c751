#include "lib/bucket/meter/open_connections.hpp"
#include "lib/bucket/meter/any_meter.hpp"
#include "lib/bucket/meter/lifetime.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <vector>

// Limits of open connections against a list that is searched from end to end; and what they do with
// the pool.
namespace sluice::open_connections_test {
namespace {

using namespace std::chrono_literals;

constexpr Instant kStart{100s};
constexpr std::uint32_t kClientNumber = 1000;
constexpr std::uint32_t kServerNumber = 7000;

ConnectionStart start_of(std::uint64_t digest) {
    return {.digest = digest, .seq = kClientNumber, .from = 0};
}
ConnectionSegment syn_ack(std::uint64_t digest) {
    return {.digest = digest,
            .seq = kServerNumber,
            .ack = kClientNumber + 1,
            .from = 1,
            .has_ack = true,
            .syn = true};
}
ConnectionSegment ack(std::uint64_t digest) {
    return {.digest = digest,
            .seq = kClientNumber + 1,
            .ack = kServerNumber + 1,
            .from = 0,
            .has_ack = true};
}
ConnectionSegment rst(std::uint64_t digest) {
    return {.digest = digest, .seq = kClientNumber + 1, .from = 0, .rst = true};
}

struct Bucket {
    AnyLimit limit;
    LinePool& pool;
    Cell cell;

    Bucket(std::uint64_t count, Nanoseconds idle, LinePool& lines,
           CountedFrom from = CountedFrom::Syn)
        : limit{*make_concurrency(Units{count}, idle, usual_half_open(idle), from)}, pool{lines} {
        EXPECT_TRUE(open_bucket(cell, limit, pool, {}, {kStart}));
    }
    void name(std::uint64_t slot) {
        pool.at<OpenConnections>(cell.rest).set_name({1, slot << BucketName::kTagBits});
    }
    Conformance open(std::uint64_t digest, Instant now) {
        const ConnectionStart start = start_of(digest);
        const Demand demand{Units{1}, Color::Green, &start};
        const Conformance said = check(cell, limit, pool, {now}, demand);
        if (said == Conformance::Green) {
            charge(cell, limit, pool, {now}, {Units{1}, said, &start});
        }
        return said;
    }
    void follow(const ConnectionSegment& segment, Instant now) {
        auto& state = pool.at<OpenConnections>(cell.rest);
        PoolLine line = pool.index().first(segment.digest);
        while (line != kNoLine) {
            const IndexedLine indexed = pool.at<IndexedLine>(line);
            if (indexed.digest == segment.digest && indexed.owner == cell.rest) {
                (void)state.follow(pool, line, segment, now);
                return;
            }
            line = indexed.next;
        }
    }
    [[nodiscard]] std::uint64_t open_at(Instant now) const {
        return used(cell, limit, pool, {now}).count();
    }
    [[nodiscard]] Nanoseconds wait_at(Instant now) const {
        return *wait(cell, limit, pool, {now}, {Units{1}});
    }
    [[nodiscard]] Instant fresh(Instant now) const { return fresh_from(cell, limit, pool, {now}); }
};

struct Pool : LinePool {
    explicit Pool(std::size_t lines) : LinePool{lines} { make_index(); }
};

TEST(OpenConnections, DoAsAListDoes) {
    constexpr Nanoseconds kIdle = 50ms;
    constexpr std::uint64_t kCount = 12;
    const auto seed = std::random_device{}();
    SCOPED_TRACE(seed);
    std::mt19937_64 dice{seed};
    Pool pool{100};
    Bucket bucket{kCount, kIdle, pool};
    std::map<std::uint64_t, Instant> list;  // by digest, when it was last seen
    Instant now = kStart;
    for (int step = 0; step < 100'000; ++step) {
        now += Nanoseconds{dice() % 8'000'000};
        std::erase_if(list, [&](const auto& one) { return one.second + kIdle <= now; });
        const std::uint64_t digest = 1 + dice() % 40;
        switch (dice() % 4) {
            case 0:
            case 1: {
                const bool fits = list.contains(digest) || list.size() < kCount;
                ASSERT_EQ(bucket.open(digest, now), fits ? Conformance::Green : Conformance::Red);
                if (fits) {
                    list[digest] = now;
                }
                break;
            }
            case 2:
                bucket.follow(ack(digest), now);
                if (list.contains(digest)) {
                    list[digest] = now;
                }
                break;
            default:
                bucket.follow(rst(digest), now);
                list.erase(digest);
        }
        ASSERT_EQ(bucket.open_at(now), list.size());
        const auto oldest =
            std::min_element(list.begin(), list.end(),
                             [](const auto& a, const auto& b) { return a.second < b.second; });
        const auto newest =
            std::max_element(list.begin(), list.end(),
                             [](const auto& a, const auto& b) { return a.second < b.second; });
        ASSERT_EQ(bucket.wait_at(now), list.size() < kCount ? 0ns : oldest->second + kIdle - now);
        if (!list.empty()) {
            ASSERT_EQ(bucket.fresh(now), newest->second + kIdle);
        }
        // A line for each, one to spare, the bucket's own, and those that are idle and not let go.
        ASSERT_LE(pool.size() - pool.free(), kCount + 2);
    }
    close_bucket(bucket.cell, bucket.limit, pool);
    OpenConnections::clear_some(pool, 1000);
    EXPECT_EQ(pool.free(), pool.size());
    EXPECT_TRUE(pool.index().empty());
}

TEST(OpenConnections, AreClearedStepByStepOnceTheirKeyIsGone) {
    Pool pool{200};
    Bucket bucket{100, 1s, pool};
    for (std::uint64_t digest = 1; digest <= 100; ++digest) {
        ASSERT_EQ(bucket.open(digest, kStart), Conformance::Green);
    }
    close_bucket(bucket.cell, bucket.limit, pool);
    EXPECT_GE(pool.size() - pool.free(), 101U);
    OpenConnections::clear_some(pool, 60);
    EXPECT_EQ(pool.size() - pool.free(), 41U);
    OpenConnections::clear_some(pool, 60);
    EXPECT_EQ(pool.free(), pool.size());
    EXPECT_TRUE(pool.index().empty());
}

// The server may have taken the byte and drop the RST before it, or have dropped the byte and not
// expect one behind it: neither frees the place until it would have said so.
TEST(OpenConnections, ARstWhileBytesAreOnTheirWayFreesNoPlace) {
    for (const std::uint32_t at : {kClientNumber + 1, kClientNumber + 2}) {
        Pool pool{20};
        Bucket bucket{2, 900s, pool};
        ASSERT_EQ(bucket.open(1, kStart), Conformance::Green);
        bucket.follow(syn_ack(1), kStart);
        bucket.follow(ack(1), kStart);
        ConnectionSegment byte = ack(1);
        byte.payload = 1;
        bucket.follow(byte, kStart);
        ConnectionSegment reset = rst(1);
        reset.seq = at;
        bucket.follow(reset, kStart);
        EXPECT_EQ(bucket.open_at(kStart), 1U);
        bucket.follow(reset, kStart + 1900ms);
        EXPECT_EQ(bucket.open_at(kStart + 1900ms), 1U);
        bucket.follow(reset, kStart + 2s);
        EXPECT_EQ(bucket.open_at(kStart + 2s), at == kClientNumber + 1 ? 0U : 1U);
    }
}

TEST(OpenConnections, ByteThatMayArriveKeepsThePlaceForLonger) {
    for (const bool is_empty : {true, false}) {
        Pool pool{20};
        Bucket bucket{2, 900s, pool};
        ASSERT_EQ(bucket.open(1, kStart), Conformance::Green);
        bucket.follow(syn_ack(1), kStart);
        bucket.follow(ack(1), kStart);
        ConnectionSegment byte = ack(1);
        byte.payload = is_empty ? 0 : 1;
        byte.is_uncertain = true;
        bucket.follow(byte, kStart + 1s);
        bucket.follow(rst(1), kStart + 62s);
        EXPECT_EQ(bucket.open_at(kStart + 62s), is_empty ? 0U : 1U);
        bucket.follow(rst(1), kStart + 63s);
        EXPECT_EQ(bucket.open_at(kStart + 63s), 0U);
    }
}

// A tracker of the connection knows better than its numbers tell.
TEST(OpenConnections, TheTrackersWordOfARstStands) {
    Pool pool{20};
    Bucket bucket{2, 900s, pool};
    ASSERT_EQ(bucket.open(1, kStart), Conformance::Green);
    bucket.follow(syn_ack(1), kStart);
    bucket.follow(ack(1), kStart);
    ConnectionSegment reset = rst(1);
    reset.is_tracked = true;
    bucket.follow(reset, kStart);
    EXPECT_EQ(bucket.open_at(kStart), 1U);
    reset.ends = true;
    reset.seq += 5;
    bucket.follow(reset, kStart);
    EXPECT_EQ(bucket.open_at(kStart), 0U);
}

// By the slot of their limit, and of the others none, also once their key is gone.
TEST(OpenConnections, AreCountedByTheSlotOfTheirLimit) {
    Pool pool{200};
    Bucket bucket{100, 1s, pool};
    Bucket other{100, 1s, pool};
    bucket.name(7);
    other.name(9);
    const auto open = [&](std::size_t slot) { return pool.index().of_group(slot).read(); };
    for (std::uint64_t digest = 1; digest <= 10; ++digest) {
        ASSERT_EQ(bucket.open(digest, kStart), Conformance::Green);
        ASSERT_EQ(other.open(digest + digest % 2, kStart), Conformance::Green);
    }
    EXPECT_EQ(open(7), 10U);
    EXPECT_EQ(open(9), 5U);
    bucket.follow(rst(1), kStart);
    EXPECT_EQ(open(7), 9U);
    close_bucket(bucket.cell, bucket.limit, pool);
    EXPECT_EQ(open(7), 0U) << "before its lines are given back";
    OpenConnections::clear_some(pool, 1000);
    EXPECT_EQ(open(7), 0U);
    EXPECT_EQ(open(9), 5U);
}

// What others learn of an index: the digests that are in it, and of those that have left none.
TEST(OpenConnections, AreNamedToOthersWhileTheyAreOpen) {
    Pool pool{200};
    Bucket bucket{100, 1s, pool};
    DigestOwners owners{4, 400};
    const auto is_named = [&](std::uint64_t digest) {
        bool named = false;
        owners.for_each(digest, [&](std::size_t core) { named |= core == 2; });
        return named;
    };
    ASSERT_EQ(bucket.open(1, kStart), Conformance::Green);
    pool.index().notify(pool, &owners, 2);
    EXPECT_TRUE(is_named(1)) << "what was there before";
    std::mt19937_64 dice{3};
    std::set<std::uint64_t> open{1};
    for (int i = 0; i < 2000; ++i) {
        const std::uint64_t digest = 1 + dice() % 90 * 64;
        if (dice() % 2 == 0) {
            ASSERT_EQ(bucket.open(digest, kStart), Conformance::Green);
            open.insert(digest);
        } else {
            bucket.follow(rst(digest), kStart);
            open.erase(digest);
        }
        for (const std::uint64_t one : open) {
            ASSERT_TRUE(is_named(one));
        }
    }
    close_bucket(bucket.cell, bucket.limit, pool);
    OpenConnections::clear_some(pool, 1000);
    for (std::uint64_t digest = 1; digest < 90 * 64; ++digest) {
        ASSERT_FALSE(is_named(digest));
    }
}

TEST(OpenConnections, WithoutALineThereIsNoRoomAndNothingIsOpened) {
    Pool pool{3};
    Bucket bucket{10, 1s, pool};
    EXPECT_EQ(bucket.open(1, kStart), Conformance::Green);
    EXPECT_EQ(bucket.open(2, kStart), Conformance::Green);
    EXPECT_EQ(bucket.open(3, kStart), Conformance::NoRoom);
    EXPECT_EQ(bucket.open(1, kStart), Conformance::Green);
    EXPECT_EQ(bucket.open_at(kStart), 2U);
    bucket.follow(rst(1), kStart);
    EXPECT_EQ(bucket.open(3, kStart), Conformance::Green);
}

TEST(OpenConnections, UnitsOfWhichOnlyTheNumberIsKnownLeaveTogether) {
    Pool pool{20};
    Bucket bucket{3, 1s, pool};
    use_at_least(bucket.cell, bucket.limit, pool, {kStart}, Units{2});
    EXPECT_EQ(bucket.open(1, kStart + 400ms), Conformance::Green);
    EXPECT_EQ(bucket.open(2, kStart + 500ms), Conformance::Red);
    EXPECT_EQ(bucket.wait_at(kStart + 500ms), 500ms);
    EXPECT_EQ(bucket.open_at(kStart + 1s), 1U);
    relieve(bucket.cell, bucket.limit, pool, {kStart + 1s}, {Units{1}});
    EXPECT_EQ(bucket.open_at(kStart + 1s), 0U);
}

TEST(OpenConnections, MoreThanALoweredCountWaitForAsManyAsAreTooMany) {
    Pool pool{20};
    Bucket bucket{5, 1s, pool};
    for (std::uint64_t digest = 1; digest <= 5; ++digest) {
        EXPECT_EQ(bucket.open(digest, kStart + digest * 10ms), Conformance::Green);
    }
    bucket.limit = *make_concurrency(Units{2}, 1s, 1s);
    EXPECT_EQ(bucket.wait_at(kStart + 100ms), 940ms);  // four of five must leave
    EXPECT_EQ(bucket.open(9, kStart + 1040ms - 1ns), Conformance::Red);
    EXPECT_EQ(bucket.open(9, kStart + 1040ms), Conformance::Green);
}

// What is left of a state at any moment of a change: one of its two chains is whole.
TEST(OpenConnections, AreFoundFromEitherEnd) {
    for (const bool from_oldest : {true, false}) {
        Pool pool{20};
        Bucket bucket{10, 1s, pool};
        for (std::uint64_t digest = 1; digest <= 4; ++digest) {
            ASSERT_EQ(bucket.open(digest, kStart + digest * 1ms), Conformance::Green);
        }
        // The second is left out of one of the chains.
        std::vector<PoolLine> lines;
        for (std::uint64_t digest = 1; digest <= 4; ++digest) {
            PoolLine line = pool.index().first(digest);
            while (pool.at<IndexedLine>(line).digest != digest) {
                line = pool.at<IndexedLine>(line).next;
            }
            lines.push_back(line);
        }
        if (from_oldest) {
            pool.at<OpenConnection>(lines[0]).newer = lines[2];
        } else {
            pool.at<OpenConnection>(lines[2]).older = lines[0];
        }
        std::vector<bool> claimed(pool.size() + 1);
        claimed[bucket.cell.rest] = true;
        pool.make_index();
        pool.at<OpenConnections>(bucket.cell.rest)
            .mend(pool, bucket.cell.rest, std::get<ConcurrencyLimit>(bucket.limit),
                  [&](std::uint64_t line) {
                      const bool is_new = line != kNoLine && line <= pool.size() && !claimed[line];
                      if (is_new) {
                          claimed[line] = true;
                      }
                      return is_new;
                  });
        EXPECT_EQ(bucket.open_at(kStart + 10ms), 4U);
        bucket.follow(rst(2), kStart + 10ms);
        EXPECT_EQ(bucket.open_at(kStart + 10ms), 3U);
        EXPECT_EQ(pool.index().size(), 3U);
        EXPECT_EQ(bucket.open_at(kStart + 1004ms), 0U);
    }
}

ConnectionStart completion(std::uint64_t digest) {
    return {.digest = digest,
            .seq = kClientNumber + 1,
            .ack = kServerNumber + 1,
            .from = 0,
            .kind = ConnectionStart::Kind::Completes};
}

TEST(OpenConnections, CountFromTheHandshakeOnWhereTheLimitSaysSo) {
    Pool pool{40};
    Bucket bucket{2, 1s, pool, CountedFrom::Established};
    bucket.name(7);
    const auto counted = [&] { return pool.index().of_group(7).read(); };
    const auto follow = [&](const ConnectionSegment& segment) {
        ConnectionSegment filed = segment;
        filed.digest = half_open_digest(segment.digest);
        bucket.follow(filed, kStart);
        bucket.follow(segment, kStart);
    };
    const auto complete = [&](std::uint64_t digest) {
        const ConnectionStart start = completion(digest);
        const Conformance said =
            check(bucket.cell, bucket.limit, pool, {kStart}, {Units{1}, Color::Green, &start});
        if (said == Conformance::Green) {
            charge(bucket.cell, bucket.limit, pool, {kStart}, {Units{1}, said, &start});
        }
        return said;
    };
    for (std::uint64_t digest = 1; digest <= 10; ++digest) {
        ASSERT_EQ(bucket.open(digest, kStart), Conformance::Green);
        EXPECT_EQ(complete(digest), Conformance::Green) << "before the SYN-ACK: nothing";
        follow(syn_ack(digest));
    }
    EXPECT_EQ(bucket.open_at(kStart), 0U);
    EXPECT_EQ(counted(), 0U);
    EXPECT_EQ(pool.index().added(), 0U);
    EXPECT_EQ(complete(1), Conformance::Green);
    EXPECT_EQ(complete(2), Conformance::Green);
    EXPECT_EQ(complete(3), Conformance::Red);
    EXPECT_EQ(complete(1), Conformance::Green) << "it is counted";
    EXPECT_EQ(bucket.open_at(kStart), 2U);
    EXPECT_EQ(counted(), 2U);
    EXPECT_EQ(bucket.open(11, kStart), Conformance::Green) << "a SYN is never refused";
    follow(rst(1));
    EXPECT_EQ(counted(), 1U);
    EXPECT_EQ(complete(3), Conformance::Green);
    EXPECT_EQ(counted(), 2U);
    EXPECT_EQ(pool.index().added(), 3U);
    close_bucket(bucket.cell, bucket.limit, pool);
    EXPECT_EQ(counted(), 0U);
    OpenConnections::clear_some(pool, 1000);
    EXPECT_EQ(pool.free(), pool.size());
    EXPECT_TRUE(pool.index().empty());
}

// In memory that another process left: half-open connections, and established ones.
TEST(OpenConnections, OfBothChainsAreFoundAgain) {
    for (const CountedFrom from : {CountedFrom::Syn, CountedFrom::Established}) {
        Pool pool{40};
        Bucket bucket{10, 10s, pool, from};
        for (std::uint64_t digest = 1; digest <= 6; ++digest) {
            ASSERT_EQ(bucket.open(digest, kStart), Conformance::Green);
            bucket.follow(syn_ack(digest), kStart);
            ConnectionSegment filed = syn_ack(digest);
            filed.digest = half_open_digest(digest);
            bucket.follow(filed, kStart);
        }
        for (std::uint64_t digest = 1; digest <= 3; ++digest) {
            const ConnectionStart start = completion(digest);
            charge(bucket.cell, bucket.limit, pool, {kStart}, {Units{1}, {}, &start});
            bucket.follow(ack(digest), kStart);
        }
        const std::uint64_t before = bucket.open_at(kStart);
        EXPECT_EQ(before, from == CountedFrom::Syn ? 6U : 3U);
        std::vector<bool> claimed(pool.size() + 1);
        claimed[bucket.cell.rest] = true;
        pool.make_index();
        pool.at<OpenConnections>(bucket.cell.rest)
            .mend(pool, bucket.cell.rest, std::get<ConcurrencyLimit>(bucket.limit),
                  [&](std::uint64_t line) {
                      const bool is_new = line != kNoLine && line <= pool.size() && !claimed[line];
                      claimed[line] = claimed[line] || is_new;
                      return is_new;
                  });
        EXPECT_EQ(bucket.open_at(kStart), before);
        EXPECT_EQ(pool.index().size(), 6U);
        bucket.follow(rst(1), kStart);
        EXPECT_EQ(bucket.open_at(kStart), before - 1);
        EXPECT_EQ(bucket.open_at(kStart + 10s), 0U);
    }
}

TEST(OpenConnections, ASynAckMakesTheServersNumbersKnown) {
    Pool pool{20};
    Bucket bucket{1, 1s, pool};
    ASSERT_EQ(bucket.open(1, kStart), Conformance::Green);
    ConnectionSegment reset = syn_ack(1);
    reset.syn = false;
    reset.rst = true;
    reset.seq = kServerNumber + 1;
    reset.has_ack = false;
    bucket.follow(reset, kStart);
    EXPECT_EQ(bucket.open_at(kStart), 1U);
    bucket.follow(syn_ack(1), kStart);
    bucket.follow(reset, kStart);
    EXPECT_EQ(bucket.open_at(kStart), 0U);
}

}  // namespace
}  // namespace sluice::open_connections_test
