#include "dataplane/store/clock_watch.hpp"
#include "dataplane/store/store_batches.hpp"
#include "lib/bucket/meter/fixed_window.hpp"
#include "lib/peer/merge/cluster_terms.hpp"
#include "tests/unit/dataplane/store/tiny_store.hpp"
#include "tests/unit/peer/merge/workers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <utility>
#include <vector>

// Boxes that share windows over one store, on a virtual clock and with clocks of their own: what
// all of them admit in each window of UTC.
namespace sluice::windows_test {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kCount = 1'000;
constexpr Nanoseconds kWindow = 10s;
constexpr std::size_t kBoxes = 3;
constexpr Nanoseconds kYear = 24h * 365;

// The windows of one key, and in how many of them a unit counts.
struct Windows {
    const char* name;
    AnyLimit limit;
    std::int64_t lasts;
    Nanoseconds offset;
};

const Account kKey = Workers::account_of(0);

AnyLimit by_utc(FixedWindowLimit limit) {
    limit.clock = WindowClock::Utc;
    return limit;
}

std::vector<Windows> all_windows() {
    const WindowNumbers numbers = *make_window_numbers(Units{kCount}, kWindow);
    const AnyLimit per_key = by_utc(*make_fixed_window(numbers, WindowPhase::PerKey, 0s));
    const Nanoseconds offset{
        offset_of_key(std::get<FixedWindowLimit>(per_key), GroupKey{kKey.hash})};
    return {{"clock", *make_fixed_window(numbers, WindowPhase::Clock, 0s), 1, 0s},
            {"per_key", per_key, 1, offset},
            {"sliding", SlidingWindowLimit{numbers, WindowClock::Utc}, 2, 0s}};
}

class WindowBoxes {
public:
    WindowBoxes(const Windows& windows, const std::array<Nanoseconds, kBoxes>& utc_ahead,
                std::size_t workers = 1)
        : windows_{windows},
          workers_{workers},
          terms_{cluster_terms_for({.limit = windows.limit,
                                    .largest_cost = 1,
                                    .machines = kBoxes,
                                    .workers = workers,
                                    .merge_interval = 1ms})} {
        for (const Nanoseconds ahead : utc_ahead) {
            boxes_.push_back(std::make_unique<Box>(windows.limit, terms_, workers, ahead));
        }
        store_.utc_ahead_us = static_cast<std::uint64_t>(kUtc.count() / 1'000);
    }

    // An offer in 3 ms at each box, or at one alone: ten times the count in each window, or three.
    void flood(Nanoseconds time, int only = -1) {
        for (const Instant until = now_ + time; now_ < until; now_ += 1ms) {
            const bool offers = now_.time_since_epoch() % 3ms == 0ns;
            for (std::size_t box = 0; box < kBoxes && offers; ++box) {
                if (only < 0 || static_cast<std::size_t>(only) == box) {
                    offer(box);
                }
            }
            for (std::size_t box = 0; box < kBoxes; ++box) {
                turn(box);
            }
        }
    }
    void set_away(bool away) { away_ = away; }
    void lose_store() { store_.begin_anew(2); }

    // Units that counted once one was admitted, rounded up, in the fullest window of UTC from the
    // nth on that the flood has seen.
    [[nodiscard]] std::uint64_t worst(std::int64_t from = 0) const {
        std::uint64_t worst = 0;
        for (const auto& [window, units] : counted_) {
            worst = window >= first_ + from ? std::max(worst, units) : worst;
        }
        return worst;
    }
    // The least of those that the flood has seen from end to end.
    [[nodiscard]] std::uint64_t least(std::int64_t from, std::int64_t to) const {
        std::uint64_t least = UINT64_MAX;
        for (std::int64_t window = first_ + from; window < first_ + to; ++window) {
            const auto at = admitted_.find(window);
            least = std::min(least, at == admitted_.end() ? 0 : at->second);
        }
        return least;
    }
    [[nodiscard]] bool is_apart(std::size_t box) {
        return boxes_[box]->workers.lanes().windows_apart().raised();
    }
    [[nodiscard]] std::uint64_t box_unsynced() const { return terms_.box_unsynced; }
    [[nodiscard]] std::uint64_t promised() const { return terms_.overshoot; }
    [[nodiscard]] std::uint64_t sum(LedgerEvent event) const {
        std::uint64_t sum = 0;
        for (const auto& box : boxes_) {
            sum += box->workers.sum(event);
        }
        return sum;
    }

private:
    static constexpr Instant kStart{1'000s};
    static constexpr Nanoseconds kUtc = 50 * kYear / 10s * 10s;  // of the store and of right clocks

    struct Box {
        Box(const AnyLimit& limit, const ClusterTerms& terms, std::size_t count, Nanoseconds ahead)
            : workers{{.limit = limit,
                       .max_unsynced = count > 1 ? terms.worker_unsynced : terms.box_unsynced},
                      {.workers = count,
                       .box_unsynced = static_cast<std::uint32_t>(terms.box_unsynced),
                       .times_down = kBoxes,
                       .store = {.machines = kBoxes, .ring = 64},
                       .utc_ahead = kUtc + ahead}},
              batches{count, 200'000} {}
        Workers workers;
        StoreBatches batches;
        ClockWatch clock;
    };
    void offer(std::size_t box) {
        const std::size_t worker = offered_++ % workers_;
        if (boxes_[box]->workers.offer(worker, 0, 1, now_)) {
            const Nanoseconds time = now_.time_since_epoch() + kUtc + windows_.offset;
            const std::int64_t window = time / kWindow;
            const std::uint64_t before = windows_.lasts == 2 ? admitted_[window - 1] : 0;
            const auto left = static_cast<std::uint64_t>((kWindow - time % kWindow).count());
            const auto length = static_cast<std::uint64_t>(kWindow.count());
            const std::uint64_t counts =
                ++admitted_[window] + (before * left + length - 1) / length;
            counted_[window] = std::max(counted_[window], counts);
        }
    }
    void turn(std::size_t at) {
        Box& box = *boxes_[at];
        DeltaLanes& lanes = box.workers.lanes();
        const Nanoseconds now = now_.time_since_epoch();
        lanes.windows_apart().raise(box.clock.is_apart(lanes.other_clock(), 0, now));
        for (std::size_t worker = 0; worker < workers_; ++worker) {
            box.workers.poll(worker, now_);
            StoreLane& lane = *lanes.store(worker);
            box.batches.take(worker, lane, now);
            box.batches.deliver(worker, lane);
        }
        const std::optional<Nanoseconds> oldest = box.batches.oldest_under_way();
        lanes.store_down().raise(oldest && now - *oldest >= 300ms);
        while (const StoreBatch* batch = box.batches.next_to_say(now)) {
            if (!away_) {
                const auto now_us = static_cast<std::uint64_t>(now.count() / 1'000);
                box.batches.settle(store_.sync(at, *batch, now_us), now);
            }
        }
    }

    Windows windows_;
    std::size_t workers_;
    ClusterTerms terms_;
    std::vector<std::unique_ptr<Box>> boxes_;
    test::TinyStore store_;
    std::map<std::int64_t, std::uint64_t> admitted_;
    std::map<std::int64_t, std::uint64_t> counted_;
    Instant now_ = kStart;
    std::int64_t first_ = (kStart.time_since_epoch() + kUtc + windows_.offset) / kWindow;
    std::size_t offered_ = 0;
    bool away_ = false;
};

TEST(WindowsOverOneStore, HoldOneCountInEachOfThem) {
    for (const Windows& windows : all_windows()) {
        for (const std::size_t workers : {1U, 2U}) {
            WindowBoxes boxes{windows, {}, workers};
            boxes.flood(5 * kWindow);
            EXPECT_LE(boxes.worst(), kCount + boxes.promised()) << windows.name << workers;
            EXPECT_GE(boxes.least(1, 4), kCount - 1) << windows.name << workers;
            EXPECT_EQ(boxes.sum(LedgerEvent::StoreDeclared), 0U) << windows.name;
            EXPECT_FALSE(boxes.is_apart(0));
        }
    }
}

TEST(WindowsOverOneStore, AreDeclaredToAStoreThatIsEmpty) {
    for (const Windows& windows : all_windows()) {
        for (const std::size_t workers : {1U, 2U}) {
            WindowBoxes boxes{windows, {}, workers};
            boxes.flood(600ms);
            boxes.lose_store();
            boxes.flood(5 * kWindow - 600ms);
            const std::uint64_t most = kCount + boxes.promised();
            EXPECT_LE(boxes.worst(), most + (kBoxes - 1) * boxes.box_unsynced()) << windows.name;
            EXPECT_LE(boxes.worst(windows.lasts), most) << "once: " << windows.name;
            EXPECT_GE(boxes.least(1, 4), kCount - 1) << windows.name;
            EXPECT_GT(boxes.sum(LedgerEvent::StoreDeclared), 0U) << windows.name;
        }
    }
}

#if defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define SLUICE_IS_SANITIZED 1
#endif
#endif

// One thread runs these, and a sanitizer takes minutes for them: the two above are its share.
#ifndef SLUICE_IS_SANITIZED
// A store that has lost a key in the middle of a window: no amount is told in the one before any
// more, and a box that comes to the key then has to hear of it.
TEST(WindowsOverOneStore, AreDeclaredWithTheWindowBeforeWhereThatCounts) {
    const Windows sliding = all_windows().back();
    WindowBoxes boxes{sliding, {}};
    boxes.flood(kWindow + kWindow / 4, 0);
    boxes.lose_store();
    boxes.flood(200ms, 0);
    EXPECT_EQ(boxes.sum(LedgerEvent::StoreDeclared), 2U) << "each of both windows once";
    boxes.flood(kWindow / 2, 2);
    EXPECT_LE(boxes.worst(), kCount + boxes.promised() + (kBoxes - 1) * boxes.box_unsynced());
}

// In the window in which the outage ends, too, and with one box that has all of the load.
TEST(WindowsOverOneStore, GoByLocalShareWhileTheStoreIsAway) {
    for (const Windows& windows : all_windows()) {
        for (const auto& [only, workers] : {std::pair{-1, 1U}, {0, 1U}, {-1, 2U}}) {
            WindowBoxes boxes{windows, {}, workers};
            boxes.flood(2s);
            boxes.set_away(true);
            boxes.flood(2 * kWindow, only);
            boxes.set_away(false);
            boxes.flood(5 * kWindow - 2s);
            // The excess of each window that a unit counts in.
            const auto excess = static_cast<std::uint64_t>(windows.lasts) * boxes.promised();
            EXPECT_LE(boxes.worst(), kCount + excess) << windows.name << only;
            EXPECT_GE(boxes.least(3 + windows.lasts, 7), kCount - 1) << windows.name << only;
            EXPECT_GE(boxes.least(1, 7), kCount / kBoxes - 1) << windows.name << only;
            EXPECT_EQ(boxes.sum(LedgerEvent::StoreDeclared), 0U) << "nothing is lost";
        }
    }
}

// (1 + 1/M) of the count, and what is promised; the box is not starved.
TEST(WindowsOverOneStore, OfABoxWithAWrongClockAreItsShare) {
    for (const Windows& windows : all_windows()) {
        for (const Nanoseconds ahead : {Nanoseconds{1h}, Nanoseconds{-1h}, kYear}) {
            WindowBoxes boxes{windows, {ahead, 0s, 0s}};
            boxes.flood(6 * kWindow);
            EXPECT_TRUE(boxes.is_apart(0)) << ahead.count();
            EXPECT_FALSE(boxes.is_apart(1)) << ahead.count();
            const std::uint64_t most = kCount + kCount / kBoxes;
            EXPECT_LE(boxes.worst(windows.lasts), most + boxes.promised()) << windows.name;
            EXPECT_GE(boxes.least(windows.lasts, 5), most - kBoxes) << windows.name;
            EXPECT_EQ(boxes.sum(LedgerEvent::StoreDeclared), 0U);
        }
    }
}
#endif

// Clocks that differ by less than the store lets windows be ahead by are no wrong ones.
TEST(WindowsOverOneStore, OfBoxesWhoseClocksDifferALittleAreShared) {
    for (const Windows& windows : all_windows()) {
        WindowBoxes boxes{windows, {500ms, -500ms, 0s}};
        boxes.flood(5 * kWindow);
        EXPECT_LE(boxes.worst(), 2 * (kCount + boxes.promised())) << "two windows, as ever";
        for (std::size_t box = 0; box < kBoxes; ++box) {
            EXPECT_FALSE(boxes.is_apart(box)) << windows.name << box;
        }
    }
}

TEST(ClockWatch, IsApartByAnswersAndForAsLongAsTheClocksDiffer) {
    ClockWatch watch;
    EXPECT_FALSE(watch.is_apart(0, 3'600'000'000, 1s)) << "the store's may be the wrong one";
    EXPECT_TRUE(watch.is_apart(1, 3'600'000'000, 2s));
    EXPECT_TRUE(watch.is_apart(1, -3'600'000'000, 100s));
    EXPECT_FALSE(watch.is_apart(1, 1'000, 101s));
    EXPECT_TRUE(watch.is_apart(2, 1'000, 102s));
    EXPECT_TRUE(watch.is_apart(2, 1'000, 111s));
    EXPECT_FALSE(watch.is_apart(2, 1'000, 112s));
}

}  // namespace
}  // namespace sluice::windows_test
