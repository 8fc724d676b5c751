#pragma once
#include "tests/unit/peer/merge/workers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

// Arrivals made to hurt, whatever stalls, and the promise held at each of them.
namespace sluice {

struct Scenario {
    std::string name;
    std::size_t workers;
    std::size_t ring = 64;
    std::size_t records = 256;
    std::uint64_t keys = 3;
    bool fractional = false;
    std::size_t stalled = 0;  // workers that take no turn for long times
    std::size_t slow = 1;     // the last worker takes every so-manieth turn
    bool restarts = false;    // processes are killed
    Nanoseconds longest{Ledger::kLongestWait};
    Nanoseconds edge{0};      // windows turn at its multiples
    Nanoseconds skew{0};      // from one worker's UTC to the next
    std::size_t lines = 256;  // for windows, at each worker
};

// Which worker meets how many packets of which key.
class Adversary {
public:
    Adversary(Workers& workers, const Scenario& scenario, std::uint64_t seed)
        : workers_{workers}, scenario_{scenario}, random_{seed} {}

    // One step of a few us at most.
    void step() {
        now_ += Nanoseconds{below(1, 40'000)};
        switch (below(0, scenario_.edge == Nanoseconds{0} ? 5 : 7)) {
            case 0:
                rotate(static_cast<unsigned>(below(1, 2 * scenario_.workers)));
                break;
            case 1:
                burst(below(0, scenario_.workers - 1), below(1, 200));
                break;
            case 2:  // all at once, just before amounts are due
                now_ += Nanoseconds{1'000'000 - now_.time_since_epoch().count() % 1'000'000 - 1};
                burst_at_all();
                break;
            case 6:  // on both sides of the end of a window, some of them before they have talked
                now_ += scenario_.edge - now_.time_since_epoch() % scenario_.edge - Nanoseconds{1};
                burst_at_all();
                now_ += Nanoseconds{below(0, 2'000)};
                burst_at_all();
                break;
            default:
                rotate(1);
        }
        turns();
        if (scenario_.restarts && below(0, 40) == 0) {
            below(0, 1) == 0 ? workers_.restart_all(now_)
                             : workers_.restart(below(0, scenario_.workers - 1), now_);
        }
    }
    void wait(Nanoseconds time) { now_ += time; }
    [[nodiscard]] Instant now() const { return now_; }

private:
    std::uint64_t below(std::uint64_t least, std::uint64_t most) {
        return std::uniform_int_distribution<std::uint64_t>{least, most}(random_);
    }
    void rotate(unsigned packets) {
        for (unsigned i = 0; i < packets; ++i) {
            rotated_ = (rotated_ + 1) % scenario_.workers;
            offer(rotated_, below(0, scenario_.keys - 1));
        }
    }
    void burst(std::size_t worker, std::uint64_t packets) {
        const std::uint64_t key = below(0, scenario_.keys - 1);
        for (std::uint64_t i = 0; i < packets; ++i) {
            offer(worker, key);
        }
    }
    void burst_at_all() {
        for (std::size_t worker = 0; worker < scenario_.workers; ++worker) {
            burst(worker, 20);
        }
    }
    void offer(std::size_t worker, std::uint64_t key) {
        (void)workers_.offer(worker, key, static_cast<std::uint32_t>(below(1, 3)), now_);
        ASSERT_LE(workers_.most_unsynced(key), kMaxUnsynced);
        ASSERT_LE(workers_.worst_overshoot(), workers_.promised_overshoot()) << scenario_.name;
    }
    void turns() {
        ++turn_;
        for (std::size_t worker = 0; worker < scenario_.workers; ++worker) {
            const bool stalls = worker < scenario_.stalled && (turn_ >> 7) % 2 == 1;
            const bool late = worker + 1 == scenario_.workers && turn_ % scenario_.slow != 0;
            if (!stalls && !late && below(0, 3) != 0) {
                workers_.poll(worker, now_);
            }
        }
    }

public:
    static constexpr std::uint64_t kMaxUnsynced = 9;

private:
    Workers& workers_;
    Scenario scenario_;
    std::mt19937_64 random_;
    Instant now_{std::chrono::seconds{1}};
    std::size_t rotated_ = 0;
    std::size_t turn_ = 0;
};

// Until every amount is contained somewhere.
inline void settle(Workers& workers, const Scenario& scenario, Instant& now) {
    for (int i = 0; i < 2'000 && !workers.synced(); ++i) {
        now += Nanoseconds{3'000'000};
        for (std::size_t worker = 0; worker < scenario.workers; ++worker) {
            workers.poll(worker, now);
        }
    }
}

}  // namespace sluice
