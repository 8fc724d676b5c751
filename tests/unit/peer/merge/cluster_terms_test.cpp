#include "lib/peer/merge/cluster_terms.hpp"

#include "lib/bucket/meter/sliding_counters.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <vector>

namespace sluice::cluster_terms_test {
namespace {

using namespace std::chrono_literals;

AnyLimit bucket(std::uint64_t rate, std::uint64_t burst) {
    return TokenBucketLimit{*Limit::make({Units{rate}, 1s}, Units{burst})};
}
WindowNumbers window(std::uint64_t count, Nanoseconds length) {
    return *make_window_numbers(Units{count}, length);
}

ClusterTerms terms(const AnyLimit& limit, std::size_t machines, std::size_t workers,
                   std::uint64_t cost = 1) {
    return cluster_terms_for({.limit = limit,
                              .largest_cost = cost,
                              .machines = machines,
                              .workers = workers,
                              .merge_interval = 1ms});
}

TEST(ClusterTerms, AnEighthOfTheBurstHalfForEitherLevel) {
    const ClusterTerms three = terms(bucket(100, 1'000), 3, 4);
    EXPECT_EQ(three.sharing, ClusterSharing::Merged);
    EXPECT_EQ(three.box_unsynced, 31U);    // 1,000 / 16 / 2
    EXPECT_EQ(three.worker_unsynced, 6U);  // 1,000 / 16 / (3 * 3)
    EXPECT_EQ(three.overshoot, 2 * 31U + 9 * 6U);
    EXPECT_EQ(three.why, nullptr);
    // One worker a box, or one that owns the key: all of it is for boxes.
    const ClusterTerms alone = terms(bucket(100, 1'000), 3, 1);
    EXPECT_EQ(alone.box_unsynced, 62U);
    EXPECT_EQ(alone.worker_unsynced, 0U);
    EXPECT_EQ(alone.overshoot, 124U);
    // What a worker spends in four merge intervals, and a cost.
    const ClusterTerms quick = terms(bucket(100'000, 100'000), 3, 4);
    EXPECT_EQ(quick.worker_unsynced, 100'000U / 16 / 9);
    EXPECT_EQ(terms(bucket(1'000'000, 200'000), 3, 4).worker_unsynced, 4'001U);
    EXPECT_EQ(terms(bucket(1'000'000, 200'000), 3, 4).box_unsynced, 6'250U);
}

TEST(ClusterTerms, BytesAreChargedByWholeFrames) {
    const ClusterTerms bytes = terms(bucket(1'000'000, 4'000'000), 2, 1, 16'384);
    EXPECT_EQ(bytes.box_unsynced, 500'000U);
    const ClusterTerms few = terms(bucket(1'000, 32'768), 2, 1, 16'384);
    EXPECT_EQ(few.sharing, ClusterSharing::Merged);
    EXPECT_EQ(few.box_unsynced, 16'384U);
    EXPECT_EQ(few.overshoot * 2, 32'768U);
    EXPECT_EQ(terms(bucket(1'000, 32'767), 2, 1, 16'384).least, 32'768U);
}

TEST(ClusterTerms, WhatIsAskedForAmongWorkersCounts) {
    const AnyLimit limit = bucket(100, 1'000);
    const ClusterTerms own = cluster_terms_for({.limit = limit,
                                                .largest_cost = 1,
                                                .machines = 3,
                                                .workers = 4,
                                                .merge_interval = 1ms,
                                                .max_unsynced = 20});
    EXPECT_EQ(own.worker_unsynced, 20U);
    EXPECT_EQ(own.overshoot, 2 * 31U + 9 * 20U);
}

// `least` is a burst that is merged, and three quarters of it are not.
TEST(ClusterTerms, ABurstThatIsTooSmallIsToldHowMuchItTakes) {
    for (const std::size_t machines : {2U, 3U, 8U, 64U}) {
        for (const std::size_t workers : {1U, 2U, 4U, 64U}) {
            for (const std::uint64_t rate : {1U, 1'000U, 1'000'000U}) {
                const ClusterTerms small = terms(bucket(rate, 1), machines, workers);
                ASSERT_EQ(small.sharing, ClusterSharing::Refused);
                ASSERT_NE(small.least, 0U);
                const ClusterTerms enough = terms(bucket(rate, small.least), machines, workers);
                EXPECT_EQ(enough.sharing, ClusterSharing::Merged);
                EXPECT_GE(enough.box_unsynced, enough.worker_unsynced) << "one amount has room";
                EXPECT_EQ(terms(bucket(rate, small.least * 3 / 4), machines, workers).sharing,
                          ClusterSharing::Refused)
                    << machines << " " << workers << " " << rate << " " << small.least;
            }
        }
    }
}

TEST(ClusterTerms, RequestsOfWhatIsNotMergedAreAsked) {
    const auto sharing = [](const AnyLimit& limit) {
        return cluster_terms_for({.limit = limit,
                                  .largest_cost = 1,
                                  .machines = 8,
                                  .workers = 1,
                                  .merge_interval = 1ms,
                                  .requests = true})
            .sharing;
    };
    // 5 logins a minute: seven other boxes could pass one each.
    EXPECT_EQ(sharing(TokenBucketLimit{*Limit::make({Units{5}, 60s}, Units{5})}),
              ClusterSharing::Asked);
    EXPECT_EQ(sharing(bucket(5, 100)), ClusterSharing::Merged);
    EXPECT_EQ(sharing(SlidingLogLimit{window(100, 1s)}), ClusterSharing::Asked);
    EXPECT_EQ(sharing(*make_fixed_window(window(100, 1s), WindowPhase::First, 0s)),
              ClusterSharing::Asked);
    EXPECT_EQ(sharing(ConcurrencyLimit{}), ClusterSharing::Refused);
}

TEST(ClusterTerms, AlgorithmsThatAreSharedAndThoseThatAreNot) {
    const WindowNumbers numbers = window(1'000, 10s);
    const Limit ten = *Limit::make({Units{10}, 1s}, Units{10});
    struct Row {
        std::string name;
        AnyLimit limit;
        bool merged;
        std::string_view why{};
    };
    const Row rows[] = {
        {"token_bucket", bucket(10, 1'000), true},
        {"leaky_bucket", LeakyBucketLimit{*Limit::make({Units{10}, 1s}, Units{1'000})}, true},
        {"clock", *make_fixed_window(numbers, WindowPhase::Clock, 0s), true},
        {"per_key", *make_fixed_window(numbers, WindowPhase::PerKey, 0s), true},
        {"sliding_window", SlidingWindowLimit{numbers}, true},
        {"strict", *make_sliding_counters(numbers, 10, Edge::Strict), true},
        {"lenient", *make_sliding_counters(numbers, 10, Edge::Lenient), true},
        {"first", *make_fixed_window(numbers, WindowPhase::First, 0s), false,
         "begin with its first"},
        {"sliding_log", SlidingLogLimit{numbers}, false, "sliding_log keeps"},
        {"few", *make_concurrency(Units{3}, 60s, 60s), false, "more than half of its count"},
        {"distinct", DistinctLimit{}, false, "not shared"},
        {"colours", *ColorLimit::make(ColorVariant::Rfc2697, ColorMode::Blind, ten, ten), false,
         "colour meters"},
        {"days", DayWindowLimit{}, false, "of a zone"},
    };
    for (const Row& row : rows) {
        const ClusterTerms got = terms(row.limit, 3, 4);
        EXPECT_EQ(got.sharing == ClusterSharing::Merged, row.merged) << row.name;
        if (row.merged) {
            EXPECT_EQ(got.overshoot, 2 * 31U + 9 * 6U) << row.name;
        } else {
            EXPECT_NE(std::string{got.why}.find(row.why), std::string::npos) << row.name;
        }
    }
    EXPECT_STREQ(terms(bucket(1, std::uint64_t{1} << 26), 2, 1).why,
                 "its burst lasts longer than 416 days");
    EXPECT_EQ(terms(bucket(1'000'000'000, std::uint64_t{1} << 40), 2, 1).box_unsynced,
              std::uint64_t{1} << 30);
}

// However many workers a box has, one of them counts the connections of a key.
TEST(ClusterTerms, OfOpenConnectionsEachBoxIsAheadOnce) {
    const ClusterTerms many = terms(*make_concurrency(Units{1'000}, 60s, 60s), 3, 4);
    EXPECT_EQ(many.sharing, ClusterSharing::Merged);
    EXPECT_EQ(many.box_unsynced, 62U);
    EXPECT_EQ(many.worker_unsynced, 0U);
    EXPECT_EQ(many.overshoot, 2 * 62U);
    const ClusterTerms four = terms(*make_concurrency(Units{4}, 60s, 60s), 3, 4);
    EXPECT_EQ(four.sharing, ClusterSharing::Merged);
    EXPECT_EQ(four.overshoot, 2U);
    EXPECT_EQ(terms(*make_concurrency(Units{3}, 60s, 60s), 3, 4).least, 4U);
}

TEST(ClusterTerms, CreditThatLastsOverTheWayToTheStore) {
    const AnyLimit limit = bucket(1'000, 2'000);
    EXPECT_EQ(
        enough_box_unsynced(
            {.limit = limit, .largest_cost = 1, .machines = 3, .workers = 1, .merge_interval = 1ms},
            1ms, 100ms),
        203U);
}

// All of a cluster under a flood of one key. Times are ms, units those that the limit counts.
class Cluster {
public:
    Cluster(std::uint64_t rate, std::uint64_t burst, std::size_t machines, std::size_t workers,
            const ClusterTerms& terms)
        : rate_{rate}, burst_{burst}, terms_{terms}, boxes_(machines) {
        for (Box& box : boxes_) {
            box.workers.resize(workers);
        }
    }

    // A ms goes by: everyone spends what it may, and some of what is on its way arrives.
    std::uint64_t step(std::mt19937_64& random, bool has_store) {
        level_ = less(level_);
        std::uint64_t admitted = 0;
        for (Box& box : boxes_) {
            box.owed = less(box.owed);
            for (std::size_t i = 0; i < box.workers.size(); ++i) {
                admitted += spend(box, i);
            }
            exchange_in_box(box, random);
            if (has_store && random() % 3 == 0) {
                exchange_with_store(box);
            }
        }
        return admitted;
    }

private:
    struct Worker {
        std::uint64_t owed = 0;      // its copy
        std::uint64_t unsynced = 0;  // at most U_w
    };
    struct Box {
        std::uint64_t owed = 0;  // the copy of the key's owner
        std::uint64_t unsynced = 0;
        std::vector<Worker> workers;  // the first owns the key
    };

    [[nodiscard]] std::uint64_t less(std::uint64_t owed) const {
        return owed - std::min(owed, rate_);
    }

    std::uint64_t spend(Box& box, std::size_t place) {
        const bool owns = place == 0;
        Worker& worker = box.workers[place];
        std::uint64_t& owed = owns ? box.owed : worker.owed;
        std::uint64_t& unsynced = owns ? box.unsynced : worker.unsynced;
        const std::uint64_t ahead = owns ? terms_.box_unsynced : terms_.worker_unsynced;
        owed = owns ? owed : less(owed);
        const std::uint64_t taken =
            std::min(burst_ - std::min(owed, burst_), ahead - std::min(unsynced, ahead));
        owed += taken;
        unsynced += taken;
        return taken;
    }

    void exchange_in_box(Box& box, std::mt19937_64& random) {
        for (std::size_t i = 1; i < box.workers.size(); ++i) {
            Worker& worker = box.workers[i];
            const bool has_room = box.unsynced + worker.unsynced <= terms_.box_unsynced;
            if (random() % 2 == 0 && has_room) {
                box.owed += worker.unsynced;
                box.unsynced += std::exchange(worker.unsynced, 0);
            }
            worker.owed = std::max(worker.owed, box.owed + worker.unsynced);
        }
    }

    void exchange_with_store(Box& box) {
        level_ += std::exchange(box.unsynced, 0);
        box.owed = std::max(box.owed, level_);
    }

    std::uint64_t rate_;  // a ms
    std::uint64_t burst_;
    ClusterTerms terms_;
    std::vector<Box> boxes_;
    std::uint64_t level_ = 0;  // at the store
};

// One exact bucket with the burst and the excess never refuses what all boxes pass, and they pass
// no less than the rate.
TEST(ClusterTerms, EightBoxesOfSixtyFourWorkersHoldTheDefaultOfAnEighth) {
    constexpr std::uint64_t kRate = 20;  // a ms
    constexpr std::uint64_t kBurst = 2'000'000;
    constexpr int kSteps = 4'000;
    const AnyLimit limit = bucket(kRate * 1'000, kBurst);
    const ClusterTerms got = terms(limit, 8, 64);
    ASSERT_EQ(got.sharing, ClusterSharing::Merged);
    ASSERT_LE(got.overshoot, kBurst / 8);
    EXPECT_GE(got.overshoot, kBurst / 9) << "it is used, too";
    std::mt19937_64 random{8'064};
    Cluster cluster{kRate, kBurst, 8, 64, got};
    std::uint64_t owed = 0;  // of the exact bucket
    std::uint64_t most = 0;
    std::uint64_t all = 0;
    for (int step = 0; step < kSteps; ++step) {
        const bool has_store = step < 1'000 || step >= 2'000;
        const std::uint64_t admitted = cluster.step(random, has_store);
        owed = owed - std::min(owed, kRate) + admitted;
        most = std::max(most, owed);
        all += admitted;
        ASSERT_LE(owed, kBurst + got.overshoot) << "in ms " << step;
    }
    EXPECT_GT(most, kBurst) << "the boxes did go ahead";
    EXPECT_GE(all, kRate * (kSteps - 2'000) * 99 / 100);
}

}  // namespace
}  // namespace sluice::cluster_terms_test
