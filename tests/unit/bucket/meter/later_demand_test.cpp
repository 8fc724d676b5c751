#include "lib/bucket/meter/later_demand.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

// What is checked after charges that have not been made is what is checked after they have.
namespace sluice::later_demand_test {
namespace {

using namespace std::chrono_literals;

Limit tokens(std::uint64_t units, std::uint64_t burst) {
    return *Limit::make({.units = Units{units}, .period = 1s}, Units{burst}, LeastBurst::Zero);
}

std::vector<AnyLimit> limits() {
    const WindowNumbers window = *make_window_numbers(Units{9}, 1s);
    std::vector<AnyLimit> all{
        TokenBucketLimit{tokens(3, 9)},
        LeakyBucketLimit{tokens(7, 5)},
        *make_fixed_window(window, WindowPhase::PerKey, 0ns),
        SlidingWindowLimit{window},
        *make_sliding_counters(window, 10, Edge::Strict),
        SlidingLogLimit{window},
    };
    for (const auto& [variant, second] : {std::pair{ColorVariant::Rfc2697, tokens(3, 6)},
                                          {ColorVariant::Rfc2698, tokens(5, 8)},
                                          {ColorVariant::Rfc4115, tokens(2, 6)}}) {
        all.emplace_back(*ColorLimit::make(variant, ColorMode::Aware, tokens(3, 5), second));
    }
    return all;
}

TEST(LaterDemand, IsCheckedAsIfTheEarlierOnesHadBeenCharged) {
    std::mt19937 random{7};
    std::size_t number = 0;
    for (const AnyLimit& limit : limits()) {
        SCOPED_TRACE("limit " + std::to_string(number++));
        LinePool pool{256};
        Cell asked;
        Cell charged;
        Now now{.at = Instant{1h}, .utc_ahead = {}};
        ASSERT_TRUE(open_bucket(asked, limit, pool, GroupKey{5}, now));
        ASSERT_TRUE(open_bucket(charged, limit, pool, GroupKey{5}, now));
        for (int packet = 0; packet < 2000; ++packet) {
            now.at += Nanoseconds{random() % 400'000'000};
            ChargedBefore before;
            std::vector<Spending> spendings;
            for (int unit = 0; unit < 4; ++unit) {
                const Demand demand{Units{1 + random() % 3}, static_cast<Color>(random() % 3)};
                const Conformance want = check(charged, limit, pool, now, demand);
                // Of what counts units, as long as all of the packet can ever fit.
                const bool fits = before.all() + demand.cost <= most_of(limit);
                if (algorithm_of(limit) == Algorithm::ColorMeter ||
                    (algorithm_of(limit) <= Algorithm::LeakyBucket && fits)) {
                    ASSERT_EQ(wait_later(asked, limit, pool, now, {demand, before}),
                              wait(charged, limit, pool, now, demand))
                        << packet << ' ' << unit;
                }
                ASSERT_EQ(check_later(asked, limit, pool, now, {demand, before}), want)
                    << packet << ' ' << unit;
                if (want == Conformance::Green || want == Conformance::Yellow) {
                    charge(charged, limit, pool, now, {demand.cost, want});
                    spendings.push_back({demand.cost, want});
                    Units& sum = want == Conformance::Green ? before.green : before.yellow;
                    sum = sum + demand.cost;
                }
            }
            for (const Spending& spending : spendings) {
                charge(asked, limit, pool, now, spending);
            }
        }
    }
}

}  // namespace
}  // namespace sluice::later_demand_test
