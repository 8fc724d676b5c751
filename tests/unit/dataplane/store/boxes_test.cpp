#include "dataplane/store/store_batches.hpp"
#include "lib/peer/merge/cluster_terms.hpp"
#include "tests/rounds.hpp"
#include "tests/unit/dataplane/store/tiny_store.hpp"
#include "tests/unit/peer/merge/workers.hpp"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

// Boxes of several workers each, over one store and on a virtual clock: the production ledgers and
// batches, a network that delays, loses and repeats. One exact bucket is charged with whatever any
// of them admits.
namespace sluice::boxes_test {
namespace {

using namespace std::chrono_literals;

struct Course {
    const char* name;
    std::size_t boxes = 3;
    std::size_t workers = 1;
    std::uint64_t rate = 1'000;
    std::uint64_t burst = 1'000;
    Nanoseconds round_trip = 1ms;       // and up to as much again
    unsigned lost = 0;                  // of 100 messages, each way
    double load = 3;                    // offered, as a part of the rate
    std::vector<unsigned> shares = {};  // of the load, by box; empty: alike
    std::size_t keys = 1;
    Nanoseconds away_from = 0s;  // the store answers nobody from then on
    Nanoseconds away_for = 0s;
    Nanoseconds lasts = 8s;
    bool is_live = true;  // admits what the rate gives
};

class Boxes {
public:
    Boxes(const Course& course, std::uint64_t seed)
        : course_{course},
          limit_{TokenBucketLimit{*Limit::make({Units{course.rate}, 1s}, Units{course.burst})}},
          terms_{cluster_terms_for({.limit = limit_,
                                    .largest_cost = 1,
                                    .machines = course.boxes,
                                    .workers = course.workers,
                                    .merge_interval = 1ms})},
          random_{seed} {
        for (std::size_t i = 0; i < course.boxes; ++i) {
            boxes_.push_back(std::make_unique<Box>(course, limit_, terms_));
        }
    }

    void run() {
        const Nanoseconds step = 50us;
        double due = 0;
        while (now_ < kStart + course_.lasts) {
            now_ += step;
            due += course_.load * static_cast<double>(course_.rate * course_.keys) *
                   std::chrono::duration<double>(step).count();
            for (; due >= 1; due -= 1) {
                offer();
            }
            for (std::size_t box = 0; box < boxes_.size(); ++box) {
                turn(box);
            }
            deliver();
        }
    }

    [[nodiscard]] std::uint64_t worst() const { return worst_; }
    [[nodiscard]] std::uint64_t promised() const { return terms_.overshoot; }
    [[nodiscard]] std::uint64_t admitted() const { return admitted_; }
    [[nodiscard]] std::uint64_t offered() const { return offered_; }
    [[nodiscard]] const StoreBatchCounts& counts(std::size_t box) const {
        return boxes_[box]->batches.counts();
    }
    [[nodiscard]] bool is_synced() const {
        for (const auto& box : boxes_) {
            if (!box->workers.synced() || box->batches.unsynced() != 0) {
                return false;
            }
        }
        return true;
    }
    void settle() {
        for (Instant until = now_ + 40s; now_ < until && !is_synced();) {
            now_ += 1ms;
            for (std::size_t box = 0; box < boxes_.size(); ++box) {
                turn(box);
            }
            deliver();
        }
    }
    [[nodiscard]] const ClusterTerms& terms() const { return terms_; }

private:
    static constexpr Instant kStart{1'000s};

    struct Box {
        Box(const Course& course, const AnyLimit& limit, const ClusterTerms& terms)
            : workers{{.limit = limit,
                       .max_unsynced =
                           course.workers > 1 ? terms.worker_unsynced : terms.box_unsynced},
                      {.workers = course.workers,
                       .box_unsynced = static_cast<std::uint32_t>(terms.box_unsynced),
                       .store = {.machines = course.boxes, .ring = 64}}},
              batches{course.workers, 200'000} {}

        Workers workers;
        StoreBatches batches;
    };
    struct Message {
        std::size_t box;
        StoreBatch batch;
        StoreReply reply;
        bool is_reply;
    };

    [[nodiscard]] std::uint64_t any(std::uint64_t below) { return random_() % below; }
    [[nodiscard]] std::size_t any_box() {
        if (course_.shares.empty()) {
            return any(boxes_.size());
        }
        std::uint64_t at = any(100);
        std::size_t box = 0;
        while (box + 1 < course_.shares.size() && at >= course_.shares[box]) {
            at -= course_.shares[box++];
        }
        return box;
    }
    void offer() {
        const std::size_t box = any_box();
        const std::uint64_t key = any(course_.keys);
        ++offered_;
        if (!boxes_[box]->workers.offer(any(course_.workers), key, 1, now_)) {
            return;
        }
        ++admitted_;
        const Limit& limit = *gcra_of(limit_);
        const Wide debt = exact_[key].charge(limit, now_, 1);
        const Wide over = debt > limit.full() ? debt - limit.full() : 0;
        worst_ = std::max(worst_,
                          static_cast<std::uint64_t>((over + limit.period() - 1) / limit.period()));
    }
    void turn(std::size_t at) {
        Box& box = *boxes_[at];
        for (std::size_t worker = 0; worker < course_.workers; ++worker) {
            box.workers.poll(worker, now_);
            StoreLane& lane = *box.workers.lanes().store(worker);
            box.batches.take(worker, lane, now_.time_since_epoch());
            box.batches.deliver(worker, lane);
        }
        while (const StoreBatch* batch = box.batches.next_to_say(now_.time_since_epoch())) {
            send({at, *batch, {}, false});
        }
    }
    void send(Message message) {
        const bool away = now_ >= kStart + course_.away_from &&
                          now_ < kStart + course_.away_from + course_.away_for;
        if (away || any(100) < course_.lost) {
            return;
        }
        const auto half = static_cast<std::uint64_t>(course_.round_trip.count() / 2);
        network_.emplace(now_ + Nanoseconds{static_cast<std::int64_t>(half + any(half + 1))},
                         std::move(message));
    }
    void deliver() {
        while (!network_.empty() && network_.begin()->first <= now_) {
            const Message message = std::move(network_.begin()->second);
            network_.erase(network_.begin());
            if (message.is_reply) {
                boxes_[message.box]->batches.settle(message.reply, now_.time_since_epoch());
                continue;
            }
            const auto now_us = static_cast<std::uint64_t>(now_.time_since_epoch().count() / 1'000);
            send({message.box, {}, store_.sync(message.box, message.batch, now_us), true});
        }
    }

    Course course_;
    AnyLimit limit_;
    ClusterTerms terms_;
    std::mt19937_64 random_;
    std::vector<std::unique_ptr<Box>> boxes_;
    std::multimap<Instant, Message> network_;
    test::TinyStore store_;
    std::map<std::uint64_t, ExactBucket> exact_;
    Instant now_ = kStart;
    std::uint64_t worst_ = 0;
    std::uint64_t admitted_ = 0;
    std::uint64_t offered_ = 0;
};

class BoxesOverOneStore : public testing::TestWithParam<Course> {};

TEST_P(BoxesOverOneStore, AreOneLimit) {
    const Course& course = GetParam();
    for (std::uint64_t seed = 1; seed <= 2; ++seed) {
        Boxes boxes{course, seed};
        ASSERT_EQ(boxes.terms().sharing, ClusterSharing::Merged);
        boxes.run();
        EXPECT_LE(boxes.worst(), boxes.promised()) << "seed " << seed;
        const double given = std::chrono::duration<double>(course.lasts).count() *
                                 static_cast<double>(course.rate * course.keys) +
                             static_cast<double>(course.burst * course.keys);
        const double least = std::min(given, static_cast<double>(boxes.offered()));
        if (course.is_live) {
            EXPECT_GE(static_cast<double>(boxes.admitted()) / least, 0.99) << "seed " << seed;
        }
        RecordProperty("overshoot",
                       std::to_string(boxes.worst()) + " of " + std::to_string(boxes.promised()));
        boxes.settle();
        EXPECT_TRUE(boxes.is_synced()) << "seed " << seed;
        for (std::size_t box = 0; box < course.boxes; ++box) {
            EXPECT_EQ(boxes.counts(box).gaps, 0U);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(
    Courses, BoxesOverOneStore,
    testing::Values(Course{.name = "three"}, Course{.name = "two_of_two", .boxes = 2, .workers = 2},
                    Course{.name = "three_of_four", .workers = 4},
                    Course{.name = "eight_of_two", .boxes = 8, .workers = 2, .burst = 2'000},
                    Course{.name = "uneven", .shares = {80, 15, 5}},
                    Course{.name = "below_the_rate", .workers = 2, .load = 0.9},
                    Course{.name = "many_keys", .workers = 2, .rate = 200, .keys = 20},
                    Course{.name = "far", .round_trip = 20ms, .is_live = false},
                    Course{.name = "lossy", .workers = 2, .lost = 20, .is_live = false},
                    Course{.name = "away", .away_from = 2s, .away_for = 2s, .is_live = false}),
    [](const auto& course) { return course.param.name; });

}  // namespace
}  // namespace sluice::boxes_test
