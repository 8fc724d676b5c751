#include "lib/meter/gcra.hpp"

#include "lib/base/wide.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace sluice {
namespace {

using namespace std::chrono_literals;

constexpr Instant kStart{Nanoseconds{1'700'000'000'000'000'000}};

Limit limit(std::uint64_t units, Nanoseconds period, std::uint64_t burst) {
    return *Limit::make({.units = Units{units}, .period = period}, Units{burst});
}

bool take(Gcra& bucket, const Limit& numbers, Instant now, std::uint64_t cost) {
    if (!admits(bucket, numbers, now, Units{cost})) {
        return false;
    }
    charge(bucket, numbers, now, Units{cost});
    return true;
}

// The oracle: a bucket of tokens that fills, in the other direction from GCRA. A token is `period`
// grains; each ns adds `units` grains. All integers, no rounding.
class TokenOracle {
public:
    TokenOracle(std::uint64_t units, Nanoseconds period, std::uint64_t burst, Instant start)
        : per_ns_{units},
          token_{static_cast<std::uint64_t>(period.count())},
          full_{static_cast<Wide>(burst) * token_},
          grains_{full_},
          at_{start} {}

    bool take(Instant now, std::uint64_t cost) {
        fill(now);
        if (static_cast<Wide>(cost) * token_ > grains_) {
            return false;
        }
        grains_ -= static_cast<Wide>(cost) * token_;
        return true;
    }
    std::uint64_t remaining(Instant now) {
        fill(now);
        return static_cast<std::uint64_t>(grains_ / token_);
    }

private:
    void fill(Instant now) {
        grains_ += static_cast<Wide>(static_cast<std::uint64_t>((now - at_).count())) * per_ns_;
        grains_ = std::min(grains_, full_);
        at_ = now;
    }
    std::uint64_t per_ns_;
    std::uint64_t token_;
    Wide full_;
    Wide grains_;
    Instant at_;
};

struct Numbers {
    std::uint64_t units;
    Nanoseconds period;
    std::uint64_t burst;
    std::uint64_t largest_cost;
};

const Numbers kNumbers[] = {
    {1, 24h, 3, 1},
    {10, 1h, 5, 2},
    {50, 1s, 200, 3},
    {3, 7s, 4, 2},
    {333'333'333, 1s, 100'000, 1500},
    {2'500'000, 1s, 262'144, 9000},
    {50'000'000'000, 1s, 1'000'000, 65'535},
    {4'294'967'291, 1s, 2000, 1500},
    {1, 8s, 1, 1},
};

class GcraOracle : public testing::TestWithParam<Numbers> {};

// Gaps around the time a unit takes, so that decisions lie on both sides of the edge.
Nanoseconds gap(std::mt19937_64& random, const Numbers& n) {
    const auto unit = static_cast<std::uint64_t>(n.period.count()) / n.units * n.largest_cost + 2;
    switch (random() % 4) {
        case 0:
            return 0ns;
        case 1:
            return Nanoseconds{static_cast<std::int64_t>(random() % 3)};
        case 2:
            return Nanoseconds{static_cast<std::int64_t>(random() % (2 * unit))};
        default:
            return Nanoseconds{static_cast<std::int64_t>(random() % (unit * 2 * n.burst + 1))};
    }
}

TEST_P(GcraOracle, DecidesAsATokenBucketDoes) {
    const Numbers& n = GetParam();
    const Limit numbers = limit(n.units, n.period, n.burst);
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        std::mt19937_64 random{seed};
        Gcra bucket;
        TokenOracle oracle{n.units, n.period, n.burst, kStart};
        Instant now = kStart;
        for (int i = 0; i < 2000 && now < kLastInstant; ++i) {
            now += gap(random, n);
            const std::uint64_t cost = 1 + random() % n.largest_cost;
            ASSERT_EQ(remaining(bucket, numbers, now).count(), oracle.remaining(now)) << i;
            ASSERT_EQ(take(bucket, numbers, now, cost), oracle.take(now, cost)) << i;
        }
    }
}

TEST_P(GcraOracle, WaitIsExactToTheNanosecond) {
    const Numbers& n = GetParam();
    const Limit numbers = limit(n.units, n.period, n.burst);
    std::mt19937_64 random{7};
    Gcra bucket;
    Instant now = kStart;
    int refused = 0;
    for (int i = 0; i < 2000 && now < kLastInstant; ++i) {
        const std::uint64_t cost = 1 + random() % n.largest_cost;
        if (take(bucket, numbers, now, cost)) {
            continue;
        }
        const std::optional<Nanoseconds> pause = wait(bucket, numbers, now, Units{cost});
        if (!pause) {
            ASSERT_GT(cost, n.burst);
            continue;
        }
        ++refused;
        ASSERT_FALSE(admits(bucket, numbers, now + *pause - 1ns, Units{cost}));
        ASSERT_TRUE(admits(bucket, numbers, now + *pause, Units{cost}));
        now += *pause;
    }
    EXPECT_GT(refused, 3);
}

// Whoever asks all the time never gets more than burst + rate * t, in any window.
TEST_P(GcraOracle, NeverAdmitsMoreThanBurstPlusRateTimesTime) {
    const Numbers& n = GetParam();
    const Limit numbers = limit(n.units, n.period, n.burst);
    const Nanoseconds step{n.period.count() / static_cast<std::int64_t>(n.units) / 3 + 1};
    Gcra bucket;
    std::vector<std::uint64_t> admitted;  // at kStart + i * step, running sum
    std::uint64_t sum = 0;
    for (int i = 0; i < 600; ++i) {
        while (take(bucket, numbers, kStart + i * step, 1)) {
            ++sum;
        }
        admitted.push_back(sum);
        if (sum > 2'000'000) {
            break;
        }
    }
    for (std::size_t from = 0; from < admitted.size(); from += 7) {
        const std::uint64_t before = from == 0 ? 0 : admitted[from - 1];
        for (std::size_t to = from; to < admitted.size(); ++to) {
            const auto time = static_cast<Wide>(to - from) * static_cast<Wide>(step.count());
            const Wide earned = time * n.units / static_cast<Wide>(n.period.count());
            ASSERT_LE(admitted[to] - before, n.burst + static_cast<std::uint64_t>(earned));
        }
    }
}

INSTANTIATE_TEST_SUITE_P(All, GcraOracle, testing::ValuesIn(kNumbers));

TEST(Gcra, AFullBucketAdmitsExactlyItsBurstAtOneInstant) {
    const Limit numbers = limit(50, 1s, 200);
    Gcra bucket;
    int admitted = 0;
    while (take(bucket, numbers, kStart, 1)) {
        ++admitted;
    }
    EXPECT_EQ(admitted, 200);
}

TEST(Gcra, ACostAboveTheBurstNeverFits) {
    const Limit numbers = limit(50, 1s, 200);
    EXPECT_FALSE(admits(Gcra{}, numbers, kStart, Units{201}));
    EXPECT_EQ(wait(Gcra{}, numbers, kStart, Units{201}), std::nullopt);
    EXPECT_TRUE(admits(Gcra{}, numbers, kStart, Units{200}));
}

TEST(Gcra, EqualsAFreshBucketFromTheInstantItNames) {
    const Limit numbers = limit(3, 1s, 10);
    Gcra bucket;
    ASSERT_TRUE(take(bucket, numbers, kStart, 7));
    const Instant fresh = bucket.fresh_from();
    EXPECT_EQ(remaining(bucket, numbers, fresh), Units{10});
    EXPECT_EQ(remaining(bucket, numbers, fresh - 1ns), Units{9});
}

TEST(Gcra, NeverPaysForAClockThatStepsBack) {
    const Limit numbers = limit(1000, 1s, 10);
    Gcra bucket;
    ASSERT_TRUE(take(bucket, numbers, kStart + 1s, 10));
    EXPECT_FALSE(take(bucket, numbers, kStart, 1));
    EXPECT_FALSE(take(bucket, numbers, kStart + 1s, 1));
}

TEST(Gcra, ARemainderOfOtherNumbersIsRoundedAgainstTheDebtor) {
    const Limit old_numbers = limit(4'294'967'291, 1s, 2000);
    Gcra bucket;
    ASSERT_TRUE(take(bucket, old_numbers, kStart, 1));
    ASSERT_GT(bucket.parts, 1U);
    const Limit numbers = limit(1, 1s, 10);  // one part to a ns: the old remainder does not fit
    EXPECT_EQ(remaining(bucket, numbers, kStart), Units{9});
    ASSERT_TRUE(take(bucket, numbers, kStart, 9));
    EXPECT_LE(bucket.fresh_from() - kStart, 9s + 2ns);
}

}  // namespace
}  // namespace sluice
