#include "tests/packets/box.hpp"
#include "tests/packets/frame.hpp"
#include "tests/rounds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <iostream>
#include <random>
#include <span>

// What windows of the clock admit while somebody sets it.
namespace sluice::wall_clock_test {
namespace {

using namespace std::chrono_literals;

using test::Box;

constexpr std::size_t kCount = 20;
constexpr std::string_view kRules = R"(version: 1
rules:
  - id: by-clock
    mode: enforce
    key: [ip.src]
    limits: [{algorithm: fixed_window, count: 20, window: 1s, phase: clock}]
)";

// Wall clock and instants, as a worker passes them down; and a source that sends a thousand packets
// a second, beside others that come and go, so that forgotten buckets' places are taken.
class Site {
public:
    // UTC becomes so much more, or less.
    void set_clock(Nanoseconds by) {
        now_.utc_ahead += by;
        now_.set_back += by < 0s ? -by : 0ns;
    }
    // How many packets are admitted from here on.
    std::size_t run(Nanoseconds time) {
        std::size_t admitted = 0;
        for (const Instant end = now_.at + time; now_.at < end; now_.at += 1ms) {
            admitted += judge();
        }
        return admitted;
    }
    // The most that were admitted in any second.
    [[nodiscard]] std::size_t most() const { return most_; }

private:
    std::size_t judge() {
        const FrameView frame{frame_, static_cast<std::uint32_t>(frame_.size())};
        const bool admitted = box_.judge(frame, now_).verdict == Verdict::Pass;
        box_.idle(now_.at);
        if (admitted) {
            recent_.push_back(now_.at);
        }
        while (!recent_.empty() && recent_.front() + 1s <= now_.at) {
            recent_.pop_front();
        }
        most_ = std::max(most_, recent_.size());
        return admitted ? 1 : 0;
    }

    Box box_{kRules};
    std::vector<std::byte> frame_ = test::udp().bytes();
    Now now_{Instant{1s}, 1'700'000'000s, 0s};
    std::deque<Instant> recent_;
    std::size_t most_ = 0;
};

// In each of these UTC stood still for days once, and each of its seconds was a new window.
TEST(WallClock, SetAheadAndBackGivesOneWindowMore) {
    constexpr auto kInto = std::to_array<Nanoseconds>({300ms, 999ms, 0ms, 1ms, 700ms});
    const auto moments = static_cast<std::size_t>(test::rounds(static_cast<int>(kInto.size())));
    for (const Nanoseconds days : {Nanoseconds{24h * 3}, Nanoseconds{24h * 400 + 123'456'789ns}}) {
        for (const Nanoseconds into : std::span{kInto}.first(moments)) {
            Site site;
            EXPECT_EQ(site.run(2s + into),
                      2 * kCount + std::min(static_cast<std::size_t>(into / 1ms), kCount));
            site.set_clock(days);
            (void)site.run(3s);
            site.set_clock(-days);
            EXPECT_LE(site.run(60s), 61 * kCount);
            EXPECT_EQ(site.run(60s), 60 * kCount);
            EXPECT_LE(site.most(), 3 * kCount);
        }
    }
}

TEST(WallClock, SetBackGivesNothing) {
    for (const Nanoseconds back :
         {Nanoseconds{1ms}, Nanoseconds{999ms}, Nanoseconds{3h + 500ms}, Nanoseconds{24h * 400}}) {
        Site site;
        (void)site.run(2s + 600ms);
        site.set_clock(-back);
        EXPECT_LE(site.run(10s), 10 * kCount);
        EXPECT_GE(site.run(10s), 10 * kCount);
        EXPECT_LE(site.most(), 2 * kCount);
    }
}

// Back again and again, before any window has ended: never more than one count in each second.
TEST(WallClock, SetBackAllTheTimeGivesNothing) {
    const std::uint64_t seed = std::random_device{}();
    std::cout << "seed " << seed << '\n';
    std::mt19937_64 random{seed};
    Site site;
    std::size_t admitted = 0;
    Nanoseconds passed{};
    for (int step = 0; step < 200; ++step) {
        const auto lasts = std::chrono::milliseconds{1 + random() % 700};
        admitted += site.run(lasts);
        passed += lasts;
        site.set_clock(-std::chrono::milliseconds{1 + random() % 100'000});
    }
    EXPECT_LE(admitted, kCount * (static_cast<std::size_t>(passed / 1s) + 2));
    EXPECT_LE(site.most(), 2 * kCount);
    EXPECT_GE(site.run(60s), 59 * kCount);
}

}  // namespace
}  // namespace sluice::wall_clock_test
