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
    std::size_t cut_off = 0;     // boxes that it does not answer; 0: all
    Nanoseconds healed_by = 0s;  // it answers each box so much later than the one before
    Nanoseconds lost_at = 0s;    // the store is empty then; 0: never
    Nanoseconds lasts = 8s;
    Nanoseconds step = 50us;
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
        const Nanoseconds step = course_.step;
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
            if (course_.lost_at != 0s && now_ >= kStart + course_.lost_at && !is_lost_) {
                store_.begin_anew(2);
                is_lost_ = true;
            }
            note_liveness(step);
        }
    }

    // Admitted of what the rate gave, from 2 s after the store has answered all again.
    [[nodiscard]] double live_after() const {
        return static_cast<double>(admitted_ - admitted_before_) /
               (std::chrono::duration<double>(now_ - after_).count() *
                static_cast<double>(course_.rate * course_.keys));
    }
    [[nodiscard]] std::uint64_t worst() const { return worst_; }
    [[nodiscard]] std::uint64_t promised() const { return terms_.overshoot; }
    [[nodiscard]] std::uint64_t admitted() const { return admitted_; }
    [[nodiscard]] std::uint64_t offered() const { return offered_; }
    [[nodiscard]] const StoreBatchCounts& counts(std::size_t box) const {
        return boxes_[box]->batches.counts();
    }
    [[nodiscard]] std::uint64_t declared() const {
        std::uint64_t sum = 0;
        for (const auto& box : boxes_) {
            sum += box->workers.sum(LedgerEvent::StoreDeclared);
        }
        return sum;
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
                       .times_down = static_cast<std::uint16_t>(course.boxes),
                       .overshoot = terms.overshoot,
                       .store = {.machines = course.boxes, .ring = 64}}},
              batches{course.workers, 200'000} {}

        Workers workers;
        StoreBatches batches;
    };
    // (1 + c/M)(rate * t + burst), c boxes being cut off while others are not.
    [[nodiscard]] static Limit stated(const Course& course) {
        const std::uint64_t all = course.boxes;
        const std::uint64_t most = all + (course.away_for == 0s ? 0 : course.cut_off);
        return *Limit::make({Units{course.rate * most / all}, 1s},
                            Units{course.burst * most / all});
    }
    struct Message {
        std::size_t box;
        StoreBatch batch;
        StoreReply reply;
        bool is_reply;
    };

    void note_liveness(Nanoseconds step) {
        const Nanoseconds later = course_.healed_by * static_cast<std::int64_t>(course_.boxes - 1);
        const Instant from = kStart + course_.away_from + course_.away_for + later + 2s;
        if (now_ >= from && now_ < from + step) {
            admitted_before_ = admitted_;
            after_ = now_;
        }
    }
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
        const Limit& limit = stated_;
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
        // As the relay does.
        const std::optional<Nanoseconds> oldest = box.batches.oldest_under_way();
        box.workers.lanes().store_down().raise(oldest &&
                                               now_.time_since_epoch() - *oldest >= 300ms);
        while (const StoreBatch* batch = box.batches.next_to_say(now_.time_since_epoch())) {
            send({at, *batch, {}, false});
        }
    }
    void send(Message message) {
        const bool reached = course_.cut_off != 0 && message.box >= course_.cut_off;
        const Instant from = kStart + course_.away_from;
        const Instant until =
            from + course_.away_for + course_.healed_by * static_cast<std::int64_t>(message.box);
        const bool away = course_.away_for != 0s && !reached && now_ >= from && now_ < until;
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
    Limit stated_{stated(course_)};
    Instant now_ = kStart;
    Instant after_ = kStart;
    std::uint64_t admitted_before_ = 0;
    bool is_lost_ = false;
    std::uint64_t worst_ = 0;
    std::uint64_t admitted_ = 0;
    std::uint64_t offered_ = 0;
};

Course outage(Course course) {
    course.away_from = 2s;
    course.is_live = false;
    course.step = 200us;
    return course;
}

class BoxesOverOneStore : public testing::TestWithParam<Course> {};

TEST_P(BoxesOverOneStore, AreOneLimit) {
    const Course& course = GetParam();
    for (std::uint64_t seed = 1; seed <= 2; ++seed) {
        Boxes boxes{course, seed};
        ASSERT_EQ(boxes.terms().sharing, ClusterSharing::Merged);
        boxes.run();
        const std::uint64_t boxes_ahead = (course.boxes - 1) * boxes.terms().box_unsynced;
        const std::uint64_t promised = boxes.promised() + (course.lost_at == 0s ? 0 : boxes_ahead);
        EXPECT_LE(boxes.worst(), promised) << "seed " << seed;
        const double given = std::chrono::duration<double>(course.lasts).count() *
                                 static_cast<double>(course.rate * course.keys) +
                             static_cast<double>(course.burst * course.keys);
        const double least = std::min(given, static_cast<double>(boxes.offered()));
        if (course.is_live) {
            EXPECT_GE(static_cast<double>(boxes.admitted()) / least, 0.99) << "seed " << seed;
        }
        if (course.away_for != 0s) {
            EXPECT_GE(boxes.live_after(), 0.95) << "seed " << seed;
        }
        EXPECT_EQ(boxes.declared() != 0, course.lost_at != 0s) << "seed " << seed;
        RecordProperty("overshoot",
                       std::to_string(boxes.worst()) + " of " + std::to_string(promised));
        boxes.settle();
        EXPECT_TRUE(boxes.is_synced()) << "seed " << seed;
        for (std::size_t box = 0; box < course.boxes; ++box) {
            EXPECT_EQ(boxes.counts(box).gaps, course.lost_at == 0s ? 0U : 1U);
        }
    }
}

#if defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define SLUICE_IS_SANITIZED 1
#endif
#endif

// One thread runs them, and a sanitizer takes minutes for each: it has an even one and an outage.
std::vector<Course> courses() {
#ifdef SLUICE_IS_SANITIZED
    return {Course{.name = "three", .lasts = 1s, .is_live = false},
            outage({.name = "away", .away_for = 2s})};
#else
    return {
        Course{.name = "three"},
        Course{.name = "two_of_two", .boxes = 2, .workers = 2},
        Course{.name = "three_of_four", .workers = 4},
        Course{.name = "eight_of_two", .boxes = 8, .workers = 2, .burst = 2'000},
        Course{.name = "uneven", .shares = {80, 15, 5}},
        Course{.name = "below_the_rate", .workers = 2, .load = 0.9},
        Course{.name = "many_keys", .workers = 2, .rate = 200, .keys = 20},
        Course{.name = "far", .round_trip = 20ms},
        Course{.name = "lossy", .workers = 2, .lost = 20, .is_live = false},
        outage({.name = "away", .away_for = 2s}),
        outage({.name = "away_for_long", .away_for = 6s, .lasts = 12s}),
        outage({.name = "away_of_two_workers", .workers = 2, .away_for = 2s}),
        outage({.name = "away_uneven", .shares = {80, 15, 5}, .away_for = 2s}),
        outage({.name = "away_under_much", .rate = 200, .load = 30, .away_for = 4s, .lasts = 12s}),
        outage({.name = "one_cut_off",
                .rate = 300,
                .burst = 900,
                .away_for = 4s,
                .cut_off = 1,
                .lasts = 12s}),
        outage({.name = "two_cut_off", .rate = 200, .away_for = 4s, .cut_off = 2, .lasts = 14s}),
        outage({.name = "healed_one_by_one",
                .rate = 200,
                .away_for = 4s,
                .healed_by = 200ms,
                .lasts = 12s}),
        outage({.name = "lost", .lost_at = 2s}),
        outage({.name = "lost_while_away",
                .rate = 200,
                .away_for = 1s,
                .lost_at = 2500ms,
                .lasts = 12s})};
#endif
}

INSTANTIATE_TEST_SUITE_P(Courses, BoxesOverOneStore, testing::ValuesIn(courses()),
                         [](const auto& course) { return course.param.name; });

}  // namespace
}  // namespace sluice::boxes_test
