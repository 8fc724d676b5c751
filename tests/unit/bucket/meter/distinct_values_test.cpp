#include "lib/bucket/meter/distinct_values.hpp"
#include "lib/bucket/hash/group_key.hpp"
#include "lib/bucket/meter/any_meter.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <span>
#include <variant>
#include <vector>

// Limits of different values against exact sets of them; what they do with the pool; and how often
// a value is taken for another.
namespace sluice::distinct_values_test {
namespace {

using namespace std::chrono_literals;

constexpr Instant kStart{100s};
constexpr Nanoseconds kWindow = 60s;
constexpr Nanoseconds kHalf = 30s;

HashSecret secret_of(std::uint64_t seed) {
    std::mt19937_64 random{seed};
    const std::uint64_t first = random();
    return {first, random()};
}

struct Bucket {
    AnyLimit limit;
    LinePool& pool;
    Cell cell{};

    Bucket(std::uint64_t count, LinePool& lines)
        : limit{*make_distinct(Units{count}, kWindow)}, pool{lines} {
        EXPECT_TRUE(open_bucket(cell, limit, pool, {}, {kStart}));
    }
    Conformance ask(std::uint32_t value, Instant now) {
        return check(cell, limit, pool, {now}, {.cost = Units{1}, .value = value});
    }
    bool show(std::uint32_t value, Instant now) {
        if (ask(value, now) != Conformance::Green) {
            return false;
        }
        charge(cell, limit, pool, {now}, {.cost = Units{1}, .value = value});
        return true;
    }
    [[nodiscard]] std::uint64_t counted(Instant now) const {
        return used(cell, limit, pool, {now}).count();
    }
    [[nodiscard]] std::size_t lines() const { return pool.size() - pool.free(); }
};

// When each value was last shown, by halves of the window: the words of the manual.
class ExactSets {
public:
    explicit ExactSets(std::uint64_t count) : count_{count} {}

    bool show(std::uint64_t value, Instant now) {
        const bool counts = shown_.contains(value) && shown_[value] + 1 >= half_of(now);
        if (!counts && counted(now) >= count_) {
            return false;
        }
        shown_[value] = half_of(now);
        return true;
    }
    [[nodiscard]] std::uint64_t counted(Instant now) const {
        return static_cast<std::uint64_t>(std::ranges::count_if(
            shown_, [&](const auto& one) { return one.second + 1 >= half_of(now); }));
    }

private:
    static std::int64_t half_of(Instant now) { return now.time_since_epoch() / kHalf; }

    std::uint64_t count_;
    std::map<std::uint64_t, std::int64_t> shown_;
};

TEST(DistinctValues, AdmitsSoManyAndThoseAgain) {
    LinePool pool{64};
    Bucket bucket{3, pool};
    EXPECT_TRUE(bucket.show(10, kStart));
    EXPECT_TRUE(bucket.show(20, kStart));
    EXPECT_TRUE(bucket.show(10, kStart));
    EXPECT_EQ(bucket.counted(kStart), 2U);
    EXPECT_TRUE(bucket.show(30, kStart));
    EXPECT_FALSE(bucket.show(40, kStart));
    EXPECT_FALSE(bucket.show(40, kStart + 1s)) << "what is refused is not noted";
    EXPECT_TRUE(bucket.show(20, kStart + 1s));
    EXPECT_EQ(bucket.counted(kStart + 1s), 3U);
}

// 100 s lies in the half from 90 to 120 s.
TEST(DistinctValues, CountInTheirHalfAndTheNext) {
    LinePool pool{64};
    Bucket bucket{2, pool};
    EXPECT_TRUE(bucket.show(1, kStart));
    EXPECT_TRUE(bucket.show(2, kStart));
    EXPECT_FALSE(bucket.show(3, Instant{150s} - 1ns));
    EXPECT_TRUE(bucket.show(1, Instant{149s})) << "goes on into the half from 150 s on";
    EXPECT_EQ(bucket.cell.fresh_from, Instant{180s});
    EXPECT_EQ(bucket.counted(Instant{150s}), 1U);
    EXPECT_TRUE(bucket.show(3, Instant{150s}));
    EXPECT_FALSE(bucket.show(2, Instant{150s}));
    EXPECT_EQ(bucket.counted(Instant{209s}), 1U);
    EXPECT_EQ(bucket.counted(Instant{210s}), 0U);
}

TEST(DistinctValues, SayHowLongToWait) {
    LinePool pool{64};
    Bucket bucket{2, pool};
    bucket.show(1, kStart);
    bucket.show(2, Instant{121s});
    const auto wait_for = [&](std::uint32_t value, Instant now) {
        return wait(bucket.cell, bucket.limit, pool, {now}, {.cost = Units{1}, .value = value});
    };
    EXPECT_EQ(wait_for(3, Instant{121s}), 29s) << "until 1 counts no more";
    EXPECT_EQ(wait_for(2, Instant{121s}), 0s);
    bucket.show(1, Instant{122s});
    EXPECT_EQ(wait_for(3, Instant{122s}), 58s) << "until both do not";
}

TEST(DistinctValues, TakeLinesAsTheyNeedThemAndGiveThemBack) {
    LinePool pool{64};
    Bucket bucket{200, pool};
    std::map<std::size_t, std::size_t> lines;
    for (std::uint32_t value = 1; value <= 200; ++value) {
        ASSERT_TRUE(bucket.show(value, kStart));
        lines[value] = bucket.lines();
    }
    EXPECT_EQ(lines[13], 1U);
    EXPECT_EQ(lines[14], 2U);
    EXPECT_EQ(lines[16], 2U);
    EXPECT_EQ(lines[17], 3U);
    EXPECT_EQ(lines[200], 14U);
    EXPECT_FALSE(bucket.show(201, kStart));
    for (std::uint32_t value = 1; value <= 20; ++value) {
        ASSERT_TRUE(bucket.show(value, Instant{121s}));
    }
    EXPECT_TRUE(bucket.show(500, Instant{151s}));
    EXPECT_EQ(bucket.counted(Instant{151s}), 21U);
    EXPECT_EQ(bucket.lines(), 3U);
    EXPECT_TRUE(bucket.show(600, Instant{300s}));
    EXPECT_EQ(bucket.counted(Instant{300s}), 1U);
    EXPECT_EQ(bucket.lines(), 1U);
    close_bucket(bucket.cell, bucket.limit, pool);
    EXPECT_EQ(pool.free(), pool.size());
}

// Values of one packet are asked about one after the other, each with the cost of those before it,
// and charged together.
TEST(DistinctValues, HavePlacesForAllThatAreChargedTogether) {
    constexpr std::uint32_t kTogether = 20;
    for (std::uint32_t before = 0; before + kTogether <= 200; ++before) {
        LinePool pool{64};
        Bucket bucket{200, pool};
        for (std::uint32_t value = 1; value <= before; ++value) {
            ASSERT_TRUE(bucket.show(value, kStart));
        }
        for (std::uint32_t i = 1; i <= kTogether; ++i) {
            ASSERT_EQ(check(bucket.cell, bucket.limit, pool, {kStart},
                            {.cost = Units{i}, .value = 1000 + i}),
                      Conformance::Green);
        }
        for (std::uint32_t i = 1; i <= kTogether; ++i) {
            charge(bucket.cell, bucket.limit, pool, {kStart},
                   {.cost = Units{1}, .value = 1000 + i});
        }
        for (std::uint32_t i = 1; i <= kTogether; ++i) {
            ASSERT_TRUE(bucket.show(1000 + i, kStart));
        }
        ASSERT_EQ(bucket.counted(kStart), before + kTogether) << "each is known";
        close_bucket(bucket.cell, bucket.limit, pool);
        ASSERT_EQ(pool.free(), pool.size());
    }
}

TEST(DistinctValues, GiveBackLinesThatNoValueCameFor) {
    LinePool pool{64};
    Bucket bucket{200, pool};
    for (std::uint32_t value = 1; value <= 20; ++value) {
        ASSERT_TRUE(bucket.show(value, kStart));
    }
    ASSERT_TRUE(bucket.show(1, Instant{121s}));
    EXPECT_EQ(bucket.lines(), 3U);
    const Demand many{.cost = Units{100}, .value = 1000};
    EXPECT_EQ(check(bucket.cell, bucket.limit, pool, {Instant{121s}}, many), Conformance::Green);
    EXPECT_EQ(bucket.lines(), 9U) << "120 values";
    ASSERT_TRUE(bucket.show(1, Instant{151s}));
    EXPECT_EQ(bucket.lines(), 2U);
    // A reservation that is charged when its line has gone.
    for (std::uint32_t value = 2; value <= 20; ++value) {
        charge(bucket.cell, bucket.limit, pool, {Instant{151s}},
               {.cost = Units{1}, .value = value});
        ASSERT_TRUE(bucket.show(value, Instant{151s}));
    }
    EXPECT_EQ(bucket.counted(Instant{151s}), 20U);
    close_bucket(bucket.cell, bucket.limit, pool);
    EXPECT_EQ(pool.free(), pool.size());
}

TEST(DistinctValues, SayThatThePoolIsFullForAllOfThem) {
    LinePool pool{3};
    Bucket bucket{200, pool};
    const Demand fits{.cost = Units{32}, .value = 1};
    const Demand more{.cost = Units{33}, .value = 1};
    EXPECT_EQ(check(bucket.cell, bucket.limit, pool, {kStart}, more), Conformance::NoRoom);
    EXPECT_EQ(check(bucket.cell, bucket.limit, pool, {kStart}, fits), Conformance::Green);
    close_bucket(bucket.cell, bucket.limit, pool);
    EXPECT_EQ(pool.free(), pool.size());
}

TEST(DistinctValues, AreTakenOverAsFarAsTheyCount) {
    LinePool pool{40};
    Bucket before{40, pool};
    Bucket after{40, pool};
    for (std::uint32_t value = 1; value <= 40; ++value) {
        ASSERT_TRUE(before.show(value, value <= 20 ? kStart : kStart + kHalf));
    }
    const Instant now = kStart + 2 * kHalf;
    const auto& limit = std::get<DistinctLimit>(after.limit);
    auto& values = pool.at<DistinctValues>(after.cell.rest);
    values.move_to(limit, pool, now);
    values.note_all(limit, pool, now, pool.at<DistinctValues>(before.cell.rest));
    EXPECT_EQ(after.counted(now), 20U);
    for (std::uint32_t value = 21; value <= 40; ++value) {
        EXPECT_TRUE(after.show(value, now));
    }
    EXPECT_EQ(after.counted(now), 20U);
    EXPECT_TRUE(after.show(1, now));
    EXPECT_EQ(after.counted(now), 21U);
}

TEST(DistinctValues, SayThatThePoolIsFull) {
    LinePool pool{2};
    Bucket bucket{200, pool};
    std::uint32_t value = 1;
    while (bucket.show(value, kStart)) {
        ++value;
    }
    EXPECT_EQ(value, 17U);
    EXPECT_EQ(bucket.ask(value, kStart), Conformance::NoRoom);
    EXPECT_EQ(bucket.ask(3, kStart), Conformance::Green) << "it has a place";
    // A parent goes on without: what has no place counts each time.
    charge(bucket.cell, bucket.limit, pool, {kStart}, {.cost = Units{1}, .value = value});
    charge(bucket.cell, bucket.limit, pool, {kStart}, {.cost = Units{1}, .value = value});
    EXPECT_EQ(bucket.counted(kStart), 18U);
    close_bucket(bucket.cell, bucket.limit, pool);
    EXPECT_EQ(pool.free(), pool.size());
}

TEST(DistinctValues, RefuseNumbersBeyondWhatIsKept) {
    EXPECT_FALSE(make_distinct(Units{0}, 60s).has_value());
    EXPECT_TRUE(make_distinct(Units{200}, 60s).has_value());
    const auto many = make_distinct(Units{201}, 60s);
    ASSERT_FALSE(many.has_value());
    EXPECT_NE(many.error().what.find("largest that fits is 200"), std::string::npos);
    EXPECT_FALSE(make_distinct(Units{1}, 999ms).has_value());
    EXPECT_FALSE(make_distinct(Units{1}, kLongestWindow + 1s).has_value());
    EXPECT_EQ(std::get<DistinctLimit>(*scaled(*make_distinct(Units{200}, 60s), 4096)).numbers.count,
              819'200U);
    EXPECT_FALSE(scaled(*make_distinct(Units{200}, 60s), 100'000).has_value());
}

// Values as they come, in bursts and pauses, with those of before again.
TEST(DistinctValues, DoAsExactSetsDo) {
    int refused = 0;
    int again = 0;
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        std::mt19937_64 random{seed};
        const std::uint64_t count = 1 + random() % 200;
        LinePool pool{64};
        Bucket bucket{count, pool};
        ExactSets sets{count};
        const std::uint64_t values = 1 + random() % (3 * count);
        Instant now = kStart;
        for (int i = 0; i < 1500; ++i) {
            now += random() % 40 == 0
                       ? Nanoseconds{static_cast<std::int64_t>(random() % 40) * 1s}
                       : Nanoseconds{static_cast<std::int64_t>(random() % 500) * 1ms};
            const auto value = static_cast<std::uint32_t>(1 + random() % values);
            const bool admitted = bucket.show(value, now);
            ASSERT_EQ(admitted, sets.show(value, now)) << "seed " << seed << " packet " << i;
            ASSERT_EQ(bucket.counted(now), sets.counted(now));
            refused += admitted ? 0 : 1;
            again += admitted ? 1 : 0;
        }
        close_bucket(bucket.cell, bucket.limit, pool);
        ASSERT_EQ(pool.free(), pool.size());
    }
    EXPECT_GT(refused, 10'000);
    EXPECT_GT(again, 10'000);
}

// The most different values that passed in any window.
std::size_t most_in_a_window(const std::deque<std::pair<Instant, std::uint32_t>>& passed) {
    std::size_t most = 0;
    std::map<std::uint32_t, int> within;
    auto from = passed.begin();
    for (const auto& [at, value] : passed) {
        ++within[value];
        for (; from->first + kWindow <= at; ++from) {
            if (--within[from->second] == 0) {
                within.erase(from->second);
            }
        }
        most = std::max(most, within.size());
    }
    return most;
}

TEST(DistinctValues, AreAtMostTwiceTheCountInAnyWindow) {
    double closest = 0;
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        std::mt19937_64 random{seed};
        const std::uint64_t count = 1 + random() % 200;
        LinePool pool{64};
        Bucket bucket{count, pool};
        std::deque<std::pair<Instant, std::uint32_t>> passed;
        Instant now = kStart;
        for (int i = 0; i < 3000; ++i) {
            // Mostly new ones, all at once, around the beginnings of halves.
            now += random() % 300 == 0 ? kHalf - now.time_since_epoch() % kHalf - 1ns : 0s;
            now += random() % 150 == 0 ? 1ns : 0ns;
            const auto value = static_cast<std::uint32_t>(1 + random() % 1'000'000);
            if (bucket.show(value, now)) {
                passed.emplace_back(now, value);
            }
        }
        const std::size_t most = most_in_a_window(passed);
        ASSERT_LE(most, 2 * count) << "seed " << seed;
        closest = std::max(closest, static_cast<double>(most) / static_cast<double>(2 * count));
    }
    EXPECT_EQ(closest, 1.0);
}

// Sets that somebody chose who knows all but the secret.
using Chosen = std::function<std::uint64_t(std::uint64_t number, std::mt19937_64& random)>;
std::vector<Chosen> chosen_sets() {
    return {
        [](std::uint64_t number, auto&) { return number; },
        [](std::uint64_t number, auto&) { return number << 48; },
        [](std::uint64_t number, auto&) { return number * 0x0001'0001'0001'0001; },
        [](std::uint64_t number, auto&) { return number << 30; },
        [](std::uint64_t number, auto&) { return std::uint64_t{1} << number % 64 | number << 20; },
        [](std::uint64_t number, auto&) { return ~number; },
        // Values that another secret takes for one and the same in 20 bits.
        [](std::uint64_t number, auto&) { return number * 0x9E37'79B9'7F4A'7C15 >> 20 << 20; },
        [](std::uint64_t, auto& random) { return random(); }};
}

// How many of a set beyond its count pass, where all of them are shown within one half.
std::uint64_t passing_beyond(std::uint64_t count, std::uint64_t size, const Chosen& value_of,
                             std::uint64_t seed, LinePool& pool) {
    std::mt19937_64 random{seed};
    const KeyHasher hasher{secret_of(seed)};
    Bucket bucket{count, pool};
    std::set<std::uint64_t> passed;
    std::set<std::uint64_t> shown;
    for (std::uint64_t number = 0; number < size; ++number) {
        const std::uint64_t value = value_of(number, random);
        shown.insert(value);
        const std::uint64_t digest =
            hasher.digest(std::as_bytes(std::span{&value, std::size_t{1}}));
        if (bucket.show(ShownValue::of(digest).bits, kStart)) {
            passed.insert(value);
        }
    }
    EXPECT_LE(bucket.counted(kStart), count);
    EXPECT_GE(passed.size() + (passed.size() < count ? 1 : 0),
              std::min<std::uint64_t>(count, shown.size()));
    close_bucket(bucket.cell, bucket.limit, pool);
    return passed.size() - std::min<std::uint64_t>(count, passed.size());
}

// Exact up to 16 values, then at most 15 % at 99.9 %.
void expect_within_epsilon(const std::vector<Chosen>& sets, std::uint64_t seed) {
    constexpr int kSets = 10'000;
    int beyond = 0;
    LinePool pool{64};
    std::mt19937_64 random{seed};
    for (int i = 0; i < kSets; ++i) {
        const std::uint64_t count = 1 + random() % 200;
        const std::uint64_t allowed = count <= 16 ? 0 : count * 15 / 100;
        const Chosen& value_of = sets[static_cast<std::size_t>(i) % sets.size()];
        beyond += passing_beyond(count, 3 * count, value_of, random(), pool) > allowed ? 1 : 0;
    }
    EXPECT_LE(beyond, kSets / 1000);
}

TEST(DistinctValues, KeepTheirCountForRandomSets) {
    expect_within_epsilon({chosen_sets().back()}, 1);
}

TEST(DistinctValues, KeepTheirCountForChosenSets) {
    auto sets = chosen_sets();
    sets.pop_back();
    expect_within_epsilon(sets, 2);
}

// A scan of all ports.
TEST(DistinctValues, KeepTheirCountInAScan) {
    LinePool pool{64};
    std::uint64_t beyond = 0;
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
        beyond += passing_beyond(200, 65'536, chosen_sets().front(), seed, pool);
    }
    EXPECT_LE(beyond, 3U);  // 0.1 on the average, and the seeds are the same each time
}

// P(X > most) of X values that are taken for others, `mean` on the average.
double more_than(std::uint64_t most, double mean) {
    double term = std::exp(-mean);
    double sum = 0;
    for (std::uint64_t k = 0; k <= most; ++k) {
        sum += term;
        term *= mean / static_cast<double>(k + 1);
    }
    return 1 - sum;
}

// The figures of the comment and of the manual.
TEST(DistinctValues, AreTakenForOthersAsSeldomAsSaid) {
    const auto mean = [](double shown, std::uint64_t count) {
        return shown * static_cast<double>(count) / static_cast<double>(std::uint64_t{1} << 30);
    };
    EXPECT_LT(more_than(0, mean(65'536, 16)), 0.001);
    for (std::uint64_t count = 17; count <= 200; ++count) {
        EXPECT_LT(more_than(count * 15 / 100, mean(65'536, count)), 0.001) << count;
    }
    EXPECT_LT(more_than(30, mean(80e6, 200)), 0.001);
    EXPECT_GT(more_than(30, mean(95e6, 200)), 0.001);
}

// A line in which a bit has flipped is mended, and one in which none has stays as it is.
TEST(DistinctValues, AreMendedFromWhateverIsLeft) {
    constexpr std::size_t kHead = 12;  // half and counts; what they say is checked elsewhere
    for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
        std::mt19937_64 random{seed};
        LinePool pool{64};
        Bucket bucket{200, pool};
        const std::uint64_t values = random() % 60;
        for (std::uint32_t value = 1; value <= values; ++value) {
            bucket.show(value, kStart);
        }
        const bool flips = random() % 2 == 0;
        if (flips) {
            auto& bytes = pool.at<std::array<std::uint8_t, kLineBytes>>(bucket.cell.rest);
            bytes[kHead + random() % (kLineBytes - kHead)] ^=
                static_cast<std::uint8_t>(1U << random() % 8);
        }
        std::vector<bool> claimed(pool.size() + 1);
        const auto claim = [&](std::uint64_t line) {
            const bool is_one = line != kNoLine && line <= pool.size() && !claimed[line];
            claimed[is_one ? line : 0] = true;
            return is_one;
        };
        ASSERT_TRUE(claim(bucket.cell.rest));
        pool.at<DistinctValues>(bucket.cell.rest).mend(pool, claim);
        pool.recover(claimed);
        const std::uint64_t after = bucket.counted(kStart);
        ASSERT_TRUE(flips || after == values);
        ASSERT_LE(after, values + DistinctValues::kPerLine);
        std::uint32_t value = 0x0015'5000;  // more than a bit away from all of those
        for (std::uint64_t more = after; more < 200; ++more) {
            ASSERT_TRUE(bucket.show(value++, kStart + 1s));
        }
        // A bit may name a free line, whose values of long ago end sooner than those of the key.
        const bool is_full = !bucket.show(value, kStart + 1s);
        EXPECT_TRUE(is_full ||
                    (flips && bucket.counted(kStart + 1s) + DistinctValues::kPerLine >= 200));
        close_bucket(bucket.cell, bucket.limit, pool);
        ASSERT_EQ(pool.free(), pool.size());
    }
}

}  // namespace
}  // namespace sluice::distinct_values_test
