#include "dataplane/store/store_batches.hpp"
#include "lib/peer/merge/connection_gauges.hpp"
#include "tests/unit/dataplane/store/tiny_store.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <vector>

// Open connections of keys in several boxes over one store, on a virtual clock: the production
// gauges and batches, a network that delays, loses and repeats.
namespace sluice::gauges_test {
namespace {

using namespace std::chrono_literals;

constexpr LimitSlot kSlot = 1;
constexpr Instant kStart{1'000s};

struct Course {
    const char* name;
    std::size_t boxes = 3;
    std::uint64_t count = 100;
    std::uint32_t ahead = 6;       // U
    std::uint16_t times_down = 3;  // local share; 1: last known; 0: open
    bool closed_down = false;
    Nanoseconds round_trip = 1ms;  // and up to as much again
    unsigned lost = 0;             // of 100 messages, each way
    unsigned opens = 60;           // of 100 events; the others close
    std::size_t keys = 1;
    Nanoseconds away_from = 2s;
    Nanoseconds away_for = 0s;     // the store answers nobody
    std::size_t cut_off = 0;       // boxes that it does not answer; 0: all
    Nanoseconds lost_at = 0s;      // the store is empty then; 0: never
    Nanoseconds quiet_at = 0s;     // of the first key only the last box has events then; 0: never
    Nanoseconds dies_at = 0s;      // the first box, with all that it has; 0: never
    Nanoseconds restarts_at = 0s;  // the first box, with its connections; none opens or closes
    Nanoseconds lasts = 6s;
    bool promises = false;         // each opens up to 2 s later, or never
    std::uint64_t most = 0;        // beyond `count`; 0: (M - 1) * U
    Nanoseconds gives_up = 300ms;  // after so long without an answer the store is away
    Nanoseconds step = 1ms;
};

class Boxes {
public:
    Boxes(const Course& course, std::uint64_t seed) : course_{course}, random_{seed} {
        std::vector<ClusterBound>& bounds = bounds_;
        bounds[kSlot] = {course.ahead, course.times_down, course.closed_down,
                         static_cast<std::uint16_t>(course.boxes)};
        for (std::size_t i = 0; i < course.boxes; ++i) {
            boxes_.push_back(std::make_unique<Box>(course));
            boxes_.back()->gauges.set_cluster(bounds);
        }
    }

    void run(Nanoseconds lasts, bool is_busy = true) {
        for (const Instant end = now_ + lasts; now_ < end;) {
            now_ += course_.step;
            for (int i = 0; is_busy && i < 4; ++i) {
                any_event();
            }
            keep_promises();
            for (std::size_t at = 0; at < boxes_.size(); ++at) {
                turn(at);
            }
            deliver();
            note_most(end);
            const Nanoseconds passed = now_ - kStart;
            if (course_.lost_at != 0s && passed >= course_.lost_at && !is_lost_) {
                store_.begin_anew(2);
                is_lost_ = true;
            }
            if (course_.restarts_at != 0s && passed >= course_.restarts_at && !is_again_) {
                restart();
            }
            if (course_.dies_at != 0s && passed >= course_.dies_at) {
                boxes_[0]->dead = true;
                boxes_[0]->open.clear();
            }
        }
    }
    void close_all() {
        for (auto& box : boxes_) {
            box->open.clear();
        }
    }
    [[nodiscard]] std::uint64_t open(std::uint64_t key) const {
        std::uint64_t sum = 0;
        for (const auto& box : boxes_) {
            const auto found = box->open.find(key);
            sum += found == box->open.end() ? 0 : found->second;
        }
        return sum;
    }
    // The most that were open in the latest second of a run, of the key that had the least.
    [[nodiscard]] std::uint64_t latest_most() const {
        std::uint64_t least = UINT64_MAX;
        for (const auto& each : most_) {
            least = std::min(least, each.second);
        }
        return least;
    }
    [[nodiscard]] std::uint64_t worst() const { return worst_; }
    [[nodiscard]] std::size_t noted() const {
        std::size_t keys = 0;
        for (const auto& box : boxes_) {
            keys += box->dead ? 0 : box->gauges.keys();
        }
        return keys;
    }

    [[nodiscard]] static Account account_of(std::uint64_t key) {
        return {.hash = (key + 1) * 0x9E37'79B9'7F4A'7C15, .slot = kSlot};
    }

private:
    struct Box {
        explicit Box(const Course& course)
            : lane{{.machines = course.boxes, .sync = 10ms, .ring = 64}, signals},
              gauges{&lane, 64, kSlot + 1},
              batches{1, 200'000} {}

        StoreSignals signals;
        StoreLane lane;
        ConnectionGauges gauges;
        StoreBatches batches;
        std::map<std::uint64_t, std::uint64_t> open;      // by key
        std::map<std::uint64_t, std::uint64_t> promised;  // likewise
        bool dead = false;
    };
    struct Promise {
        Box* box;
        std::uint64_t key;
        bool opens;
    };
    struct Message {
        std::size_t box;
        StoreBatch batch;
        StoreReply reply;
        bool is_reply;
    };

    [[nodiscard]] std::uint64_t any(std::uint64_t below) { return random_() % below; }
    void note_most(Instant end) {
        for (std::uint64_t key = 0; key < course_.keys; ++key) {
            most_[key] = now_ + 1s < end ? 0 : std::max(most_[key], open(key));
        }
    }
    void any_event() {
        Box& box = *boxes_[any(boxes_.size())];
        const std::uint64_t key = any(course_.keys);
        const bool is_quiet = course_.quiet_at != 0s && now_ - kStart >= course_.quiet_at;
        if (is_quiet && key == 0 && &box != boxes_.back().get()) {
            return;
        }
        std::uint64_t& open_here = box.open[key];
        if (box.dead || (is_again_ && &box == boxes_[0].get())) {
            return;
        }
        if (any(100) >= course_.opens) {
            open_here -= std::min<std::uint64_t>(open_here, 1);
            return;
        }
        const std::uint64_t used = open_here + box.promised[key] + 1;
        if (box.gauges.admit(account_of(key), {used, course_.count, course_.promises},
                             {.at = now_}) != GaugeAnswer::Admitted) {
            return;
        }
        if (course_.promises) {
            ++box.promised[key];
            promises_.emplace(now_ + Nanoseconds{static_cast<std::int64_t>(any(2'000'000'000))},
                              Promise{&box, key, any(10) != 0});
            return;
        }
        ++open_here;
        worst_ = std::max(worst_, open(key));
    }
    // As the next process does that finds the tables of the one before.
    void restart() {
        auto again = std::make_unique<Box>(course_);
        again->gauges.set_cluster(bounds_);
        ASSERT_TRUE(again->gauges.takes_open());
        again->open = boxes_[0]->open;
        for (const auto& [key, open] : again->open) {
            again->gauges.note_open(account_of(key));
        }
        boxes_[0] = std::move(again);
        store_.join_again(0);
        std::erase_if(network_, [](const auto& each) { return each.second.box == 0; });
        is_again_ = true;
    }
    void keep_promises() {
        while (!promises_.empty() && promises_.begin()->first <= now_) {
            const Promise promise = promises_.begin()->second;
            promises_.erase(promises_.begin());
            --promise.box->promised[promise.key];
            promise.box->open[promise.key] += promise.opens ? 1 : 0;
            worst_ = std::max(worst_, open(promise.key));
        }
    }
    void turn(std::size_t at) {
        Box& box = *boxes_[at];
        if (box.dead) {
            return;
        }
        const Nanoseconds now = now_.time_since_epoch();
        StoreLane& lane = box.lane;
        lane.amounts.retire(lane.amounts.acknowledged());
        const std::size_t count = lane.totals.waiting(32);
        for (std::size_t i = 0; i < count; ++i) {
            box.gauges.take(lane.totals.peek(i));
        }
        lane.totals.done(count);
        box.gauges.tell([&](const Account& account) { return open_of(box, account); },
                        {.at = now_});
        lane.amounts.publish();
        box.batches.take(0, lane, now);
        box.batches.deliver(0, lane);
        const auto oldest = box.batches.oldest_under_way();
        box.signals.down.raise(oldest && now - *oldest >= course_.gives_up);
        while (const StoreBatch* batch = box.batches.next_to_say(now)) {
            send({at, *batch, {}, false});
        }
    }
    [[nodiscard]] std::uint64_t open_of(const Box& box, const Account& account) const {
        for (const auto& [key, open] : box.open) {
            if (account_of(key) == account) {
                return open;
            }
        }
        return 0;
    }
    void send(Message message) {
        const Nanoseconds passed = now_ - kStart;
        const bool reached = course_.cut_off != 0 && message.box >= course_.cut_off;
        const bool away = !reached && passed >= course_.away_from &&
                          passed < course_.away_from + course_.away_for;
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
                Box& box = *boxes_[message.box];
                box.batches.settle(message.reply, now_.time_since_epoch());
                box.signals.losses.set(box.batches.losses());
                continue;
            }
            const auto now_us = static_cast<std::uint64_t>(now_.time_since_epoch().count() / 1'000);
            send({message.box, {}, store_.sync(message.box, message.batch, now_us), true});
        }
    }

    Course course_;
    std::mt19937_64 random_;
    std::vector<std::unique_ptr<Box>> boxes_;
    std::multimap<Instant, Message> network_;
    test::TinyStore store_;
    Instant now_ = kStart;
    std::vector<ClusterBound> bounds_ = std::vector<ClusterBound>(kSlot + 1);
    bool is_lost_ = false;
    bool is_again_ = false;
    std::uint64_t worst_ = 0;
    std::multimap<Instant, Promise> promises_;
    std::map<std::uint64_t, std::uint64_t> most_;
};

class OpenOverBoxes : public testing::TestWithParam<Course> {};

TEST_P(OpenOverBoxes, AreOneLimit) {
    const Course& course = GetParam();
    const std::uint64_t most = course.most != 0 ? course.most : (course.boxes - 1) * course.ahead;
    for (std::uint64_t seed = 1; seed <= 2; ++seed) {
        Boxes boxes{course, seed};
        boxes.run(course.lasts);
        EXPECT_LE(boxes.worst(), course.count + most) << "seed " << seed;
        const std::uint64_t least = course.promises ? 3 : 9;
        EXPECT_GE(boxes.latest_most(), course.count * least / 10) << "seed " << seed;
        RecordProperty("beyond", std::to_string(boxes.worst()));
        // Nothing is kept of what has closed.
        boxes.run(course.promises ? 2s : 0s, false);
        boxes.close_all();
        boxes.run(6s, false);
        EXPECT_EQ(boxes.noted(), 0U) << "seed " << seed;
    }
}

std::vector<Course> courses() {
    return {
        Course{.name = "three"}, Course{.name = "one_ahead", .count = 20, .ahead = 1},
        Course{.name = "eight", .boxes = 8, .ahead = 2, .times_down = 8},
        Course{.name = "promised", .opens = 99, .lasts = 12s, .promises = true},
        Course{.name = "busy", .opens = 52},
        Course{.name = "many_keys", .opens = 70, .keys = 8, .lasts = 10s},
        Course{.name = "far", .round_trip = 40ms},
        Course{.name = "lossy", .lost = 20, .lasts = 8s, .gives_up = 1h},
        Course{.name = "lossy_and_away", .lost = 20, .lasts = 8s, .most = 33 + 12},
        // What was open stays open, and each box may have its share.
        Course{.name = "away", .away_for = 3s, .lasts = 10s, .most = 100 + 12},
        Course{.name = "one_cut_off", .away_for = 3s, .cut_off = 1, .lasts = 10s, .most = 33 + 12},
        // Others do not know of a box for longer than a lease, which keeps what it has.
        Course{.name = "cut_off_for_long",
               .away_for = 100s,
               .cut_off = 1,
               .lasts = 110s,
               .most = 100 + 12},
        Course{.name = "last_known", .times_down = 1, .away_for = 3s, .lasts = 10s, .most = 24},
        Course{.name = "open", .times_down = 0, .away_for = 3s, .lasts = 10s, .most = 200},
        Course{
            .name = "closed", .times_down = 1, .closed_down = true, .away_for = 3s, .lasts = 10s},
        // What was heard of the others counts until they have told theirs again, which they do when
        // they hear of the loss by any key.
        Course{.name = "lost", .keys = 2, .lost_at = 2s, .quiet_at = 1'500ms, .lasts = 8s},
        Course{.name = "lost_far",
               .round_trip = 40ms,
               .keys = 2,
               .lost_at = 2s,
               .quiet_at = 1'500ms,
               .lasts = 8s},
        // Its connections are told again, though none opens or closes.
        Course{.name = "restarts", .restarts_at = 2s, .lasts = 70s},
        // Others have what it had once its lease has ended.
        Course{.name = "one_dies", .dies_at = 2s, .lasts = 70s}};
}

INSTANTIATE_TEST_SUITE_P(Courses, OpenOverBoxes, testing::ValuesIn(courses()),
                         [](const auto& course) { return course.param.name; });

// A key that nobody opens or closes is told again before its lease ends.
TEST(OpenOverBoxes, AQuietKeyKeepsItsGauge) {
    Boxes boxes{{.name = "quiet", .opens = 100}, 1};
    boxes.run(2s);
    const std::uint64_t open = boxes.open(0);
    ASSERT_GE(open, 95U);
    boxes.run(200s, false);
    boxes.run(2s);
    EXPECT_LE(boxes.worst(), 100U + 12U);
}

}  // namespace
}  // namespace sluice::gauges_test
