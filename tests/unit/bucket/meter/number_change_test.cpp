#include "lib/bucket/meter/number_change.hpp"

#include <gtest/gtest.h>

#include <random>

namespace sluice::number_change_test {
namespace {

using namespace std::chrono_literals;

constexpr Instant kChanged{Nanoseconds{1'700'000'000'000'000}};

Limit random_limit(std::mt19937_64& random) {
    const Nanoseconds periods[] = {1s, 60s, 3600s, 86'400s};
    for (;;) {
        const std::uint64_t units = std::uint64_t{1} << (random() % 24);
        const std::uint64_t burst = std::uint64_t{1} << (random() % 24);
        const auto limit = Limit::make({Units{units + random() % units}, periods[random() % 4]},
                                       Units{burst + random() % burst});
        if (limit) {
            return *limit;
        }
    }
}

// A bucket at or around full, empty or anywhere in between, or of a burst that was lowered.
Gcra random_bucket(std::mt19937_64& random, const Limit& limit) {
    const std::uint64_t debts[] = {0,
                                   1,
                                   limit.period(),
                                   limit.full() - 1,
                                   limit.full(),
                                   random() % limit.full(),
                                   limit.full() + random() % (limit.longest_debt() - limit.full()),
                                   limit.longest_debt()};
    return owing(debts[random() % std::size(debts)], limit, kChanged);
}

// The oracle reads and writes the debt with products of 128 bits and nothing worked out before.
TEST(NumberChange, IsWhatRenumberSays) {
    std::mt19937_64 random{7};
    int wide = 0;
    int narrow = 0;
    for (int round = 0; round < 100'000; ++round) {
        const Limit from = random_limit(random);
        const Limit to = random_limit(random);
        const NumberChange change{from, to};
        const Gcra bucket = random_bucket(random, from);
        const std::uint64_t debt = debt_of(bucket, from, kChanged);
        (debt <= change.narrow ? narrow : wide) += 1;
        Gcra expected = bucket;
        renumber(expected, from, to, kChanged);
        ASSERT_EQ(change.of(bucket, kChanged), expected)
            << from.period() << '/' << from.parts() << " -> " << to.period() << '/' << to.parts();
    }
    EXPECT_GT(wide, 1000);
    EXPECT_GT(narrow, 1000);
}

TEST(NumberChange, ABucketThatWasFullAgainOwesNothing) {
    const Limit slow = *Limit::make({Units{1}, 1s}, Units{10});
    const Limit fast = *Limit::make({Units{7}, 1s}, Units{10});
    const NumberChange change{slow, fast};
    EXPECT_EQ(change.of({kChanged - 1s, 0}, kChanged), (Gcra{kChanged, 0}));
    EXPECT_EQ(change.of({kChanged, 0}, kChanged), (Gcra{kChanged, 0}));
}

}  // namespace
}  // namespace sluice::number_change_test
