#include "tests/guarded_memory.hpp"
#include "tests/rounds.hpp"
#include "tests/unit/peer/merge/workers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <string>

#include <malloc.h>

// Workers that share a limit are killed, all at once, before every single store to what outlives
// them: buckets, windows, and what is not synced. The next process goes on with a copy of that and
// is flooded at every worker; with all that was admitted before, it must keep the promise.
namespace sluice::ledger_kill_points_test {
namespace {

using namespace std::chrono_literals;
using test::GuardedMemory;

constexpr Instant kStart{1h};
constexpr std::size_t kKeys = 2;
constexpr std::uint64_t kCount = 36;
constexpr std::uint64_t kMaxUnsynced = 4;
constexpr int kRounds = 12;  // of a flood: more than kCount takes at kMaxUnsynced a round

struct Scenario {
    std::string name;
    AnyLimit limit;
    std::size_t ring = 8;  // 2: there is no room to tell what a tally is made of
    Nanoseconds longest = 3ms;
    Nanoseconds step = 2ms;  // between two events, at most four times
};

class Killer {
public:
    explicit Killer(const Scenario& scenario) : scenario_{scenario} {
        // Else what each next process is made of goes back to the kernel, and its pages come anew.
        (void)::mallopt(M_TOP_PAD, 16 << 20);
    }

    void run() {
        const int events = std::max(test::rounds(500), 80);  // fewer exchange too little
        for (at_ = 0; at_ < events && !testing::Test::HasFailure(); ++at_) {
            now_ += scenario_.step * static_cast<int>(random_() % 4);
            // Who hears nothing for a while has much to hear afterwards.
            if (at_ % 25 == 0) {
                deaf_ = random_() % (size_.workers + 1);
            }
            const std::size_t worker = random_() % size_.workers;
            const std::uint64_t key = random_() % kKeys;
            const bool hears = random_() % 3 != 0;
            const std::function<void()> killed = [this] {
                if (!testing::Test::HasFailure()) {
                    ++instants_;
                    flood_the_next();
                }
            };
            memory_.run_guarded(
                [&] {
                    if (hears && worker != deaf_) {
                        workers_.poll(worker, now_);
                    } else {
                        (void)workers_.offer(worker, key, 1 + at_ % 2, now_);
                    }
                },
                killed);
        }
        EXPECT_GT(instants_, events / 2);
        EXPECT_GT(workers_.sum(LedgerEvent::Taken), 2U);
        testing::Test::RecordProperty("instants", std::to_string(instants_));
    }

private:
    // Everybody spends all that it may, and hears the others, again and again.
    void flood_the_next() {
        left_behind_.copy_from(memory_);
        Workers next{shared_, size_, left_behind(), now_};
        next.go_on_from(workers_);
        Instant now = now_;
        for (int round = 0; round < kRounds; ++round, now += 2 * size_.longest) {
            for (std::size_t i = 0; i < size_.workers; ++i) {
                for (std::uint64_t key = 0; key < kKeys; ++key) {
                    while (next.offer(i, key, 1, now)) {
                    }
                }
            }
            for (std::size_t turn = 0; turn < 3 * size_.workers; ++turn) {
                next.poll(turn % size_.workers, now + size_.longest);
            }
        }
        EXPECT_LE(next.worst_overshoot(), next.promised_overshoot())
            << "event " << at_ << ", instant " << instants_;
    }
    [[nodiscard]] std::byte* left_behind() { return static_cast<std::byte*>(left_behind_.base()); }

    const Scenario& scenario_;
    SharedLimit shared_{.limit = scenario_.limit, .max_unsynced = kMaxUnsynced};
    WorkersSize size_{.workers = 3,
                      .ring = scenario_.ring,
                      .records = 16,
                      .keys = 64,
                      .lines = 64,
                      .longest = scenario_.longest};
    GuardedMemory memory_{Workers::bytes_for(size_)};
    GuardedMemory left_behind_{Workers::bytes_for(size_)};
    Workers workers_{shared_, size_, static_cast<std::byte*>(memory_.base()), kStart};
    std::mt19937 random_{5};
    Instant now_ = kStart;
    std::size_t deaf_ = 0;
    int at_ = 0;
    int instants_ = 0;
};

AnyLimit bucket() {
    return TokenBucketLimit{*Limit::make({Units{40}, 1s}, Units{kCount})};
}
AnyLimit windows(const WindowNumbers& numbers, std::uint32_t buckets) {
    return *make_sliding_counters(numbers, buckets, Edge::Strict);
}

std::vector<Scenario> scenarios() {
    constexpr auto kWindow = Nanoseconds{900ms}.count();
    constexpr WindowNumbers kNumbers{.count = kCount, .window = kWindow};
    return {
        {.name = "TokenBucket", .limit = bucket()},
        {.name = "TokenBucketThatWaits", .limit = bucket(), .longest = 200ms},
        {.name = "FixedWindow", .limit = FixedWindowLimit{.numbers = kNumbers}},
        {.name = "SlidingWindow", .limit = SlidingWindowLimit{.numbers = kNumbers}},
        {.name = "SubWindows", .limit = windows(kNumbers, 30)},
        {.name = "SubWindowsAndNoRoomToTellThem", .limit = windows(kNumbers, 30), .ring = 2},
        {.name = "SubWindowsThatTurn", .limit = windows(kNumbers, 6), .step = 10ms},
    };
}

class LedgerKillPoints : public testing::TestWithParam<Scenario> {};

TEST_P(LedgerKillPoints, ThePromiseIsKeptAfterAnyOfThem) {
    Killer{GetParam()}.run();
}

INSTANTIATE_TEST_SUITE_P(All, LedgerKillPoints, testing::ValuesIn(scenarios()),
                         [](const auto& param) { return param.param.name; });

}  // namespace
}  // namespace sluice::ledger_kill_points_test
