#include "lib/l7/stream/unit_parser.hpp"
#include "tests/packets/box.hpp"
#include "tests/packets/frame.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>

#include <unistd.h>

// A million requests that begin and are never whole, under the tables that a box has by default,
// where no service is declared.
// Without sanitizers it takes seconds; it is a suite of its own, so that it runs only so.
namespace sluice::half_head_flood_test {
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t kHeads = 1'000'000;
constexpr std::uint32_t kPerSource = 16;
constexpr Instant kStart{1h};
constexpr Nanoseconds kPerBurst{160'000};  // 200,000 heads a second
constexpr std::uint64_t kSlack = std::uint64_t{8} << 20;

const char* const kRules = R"yaml(version: 1
rules:
  - {id: each, mode: enforce, key: [http.host], limits: [{algorithm: token_bucket, rate: 1M/s, burst: 2M, per: request}]}
)yaml";
constexpr std::string_view kBegin = "GET /slow HTTP/1.1\r\nHost: a.exam";
constexpr std::string_view kRest = "ple\r\n\r\n";
constexpr std::string_view kWhole = "GET /page HTTP/1.1\r\nHost: b.example\r\n\r\n";

std::uint64_t resident_bytes() {
    std::ifstream file{"/proc/self/statm"};
    std::uint64_t all = 0;
    std::uint64_t resident = 0;
    file >> all >> resident;
    return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

test::Octets segment(std::string_view text, std::uint32_t at, std::uint16_t flags = 0x10) {
    const ByteView bytes = std::as_bytes(std::span{text});
    return test::tcp()
        .src("10.0.0.1")
        .sport(1)
        .dport(80)
        .seq(1000 + at)
        .flags(flags)
        .carries({bytes.begin(), bytes.end()})
        .bytes();
}

// What became of the segments of a burst.
struct Fates {
    std::uint64_t judged = 0;  // a request that a rule admitted
    std::uint64_t passed = 0;  // no rule has seen a request in it
    std::uint64_t dropped = 0;
};

class HalfHeadFlood : public testing::Test {
protected:
    // The same segment of so many connections.
    Fates send(const test::Octets& frame, std::uint32_t first, std::size_t count) {
        burst_.clear();
        for (std::size_t i = 0; i < count; ++i) {
            frames_[i] = frame;
            const std::uint32_t number = first + static_cast<std::uint32_t>(i);
            const std::uint32_t source = __builtin_bswap32(0x1000'0000U + number / kPerSource);
            const auto port = static_cast<std::uint16_t>(1024 + number % kPerSource);
            const std::uint16_t ordered = __builtin_bswap16(port);
            std::memcpy(frames_[i].data() + 14 + 12, &source, sizeof(source));
            std::memcpy(frames_[i].data() + 14 + 20, &ordered, sizeof(ordered));
            (void)burst_.add({frames_[i], static_cast<std::uint32_t>(frame.size())}, Direction::In,
                             1);
        }
        box_.run(burst_, now_);
        now_ += kPerBurst;
        Fates fates;
        for (const Packet& packet : burst_.packets()) {
            const bool judged = packet.decision.reason == Reason::WithinLimits;
            ++(!forwards(packet.decision.verdict) ? fates.dropped
               : judged                           ? fates.judged
                                                  : fates.passed);
        }
        return fates;
    }
    void begin(std::uint32_t from, std::uint32_t to) {
        for (std::uint32_t first = from; first < to; first += kMaxBurst) {
            ASSERT_EQ(send(syn_, first, kMaxBurst).passed, kMaxBurst);
            ASSERT_EQ(send(begin_, first, kMaxBurst).passed, kMaxBurst);
            if (first / kMaxBurst % 64 == 0) {
                ASSERT_EQ(send(syn_, kHeads + first, 1).passed, 1U);
                ASSERT_EQ(send(whole_, kHeads + first, 1).judged, 1U) << "beside them";
                ++pages_;
            }
        }
    }
    Fates go_on(std::uint32_t from, std::uint32_t to) {
        Fates all;
        for (std::uint32_t first = from; first < to; first += kMaxBurst) {
            const Fates fates = send(rest_, first, kMaxBurst);
            all.judged += fates.judged;
            all.passed += fates.passed;
            all.dropped += fates.dropped;
        }
        return all;
    }
    std::uint64_t counted(ConnectionEvent event) const { return parser_.connections().of(event); }
    void expect_the_budget() const {
        const ConnectionCounters& now = parser_.connections();
        EXPECT_LE(now.connections.read(), budget_.connections.connections);
        EXPECT_LE(now.half_heads.read(), budget_.connections.half_heads);
        EXPECT_LE(now.held_lines.read(), budget_.connections.half_head_lines);
        EXPECT_LE(now.given_up.read(), budget_.connections.given_up);
    }

    const UnitBudget budget_ = unit_budget({}, 1);
    const test::Octets syn_ = segment("", static_cast<std::uint32_t>(-1), 0x02);
    const test::Octets begin_ = segment(kBegin, 0);
    const test::Octets rest_ = segment(kRest, kBegin.size());
    const test::Octets whole_ = segment(kWhole, 0);
    UnitParser parser_{budget_};
    test::Box box_{kRules};
    Burst burst_;
    std::array<test::Octets, kMaxBurst> frames_;
    Instant now_ = kStart;
    std::uint64_t pages_ = 0;
};

TEST_F(HalfHeadFlood, StaysWithinItsMemoryAndCountsWhatGoesUnread) {
    burst_.find_units_by(parser_.finder());
    const std::uint64_t before = resident_bytes();
    const auto full_at = static_cast<std::uint32_t>(4 * budget_.connections.connections);
    begin(0, full_at);
    const std::uint64_t full = resident_bytes();
    begin(full_at, kHeads);
    const std::uint64_t after = resident_bytes();
    std::printf(
        "%u half heads and %llu pages; resident: %llu KiB before, %llu KiB when full, "
        "%llu KiB after; tables: %llu KiB\n",
        kHeads, static_cast<unsigned long long>(pages_),
        static_cast<unsigned long long>(before >> 10), static_cast<unsigned long long>(full >> 10),
        static_cast<unsigned long long>(after >> 10),
        static_cast<unsigned long long>(memory_of(budget_) >> 10));
    EXPECT_LE(full - std::min(full, before), memory_of(budget_) + kSlack);
    EXPECT_LE(after, full + kSlack);
    expect_the_budget();
    EXPECT_EQ(counted(ConnectionEvent::HalfHead), kHeads);
    EXPECT_EQ(box_.counters(0).admitted.read(), pages_);

    // As many as there is room for are held, and are judged as they become whole. What made room
    // for them has gone unread and passes.
    const Fates rest = go_on(0, kHeads);
    std::printf(
        "their rest: %llu judged, %llu dropped, %llu passed; unread: "
        "%llu\n",
        static_cast<unsigned long long>(rest.judged), static_cast<unsigned long long>(rest.dropped),
        static_cast<unsigned long long>(rest.passed),
        static_cast<unsigned long long>(counted(ConnectionEvent::Unread)));
    EXPECT_EQ(rest.judged, budget_.connections.half_heads);
    EXPECT_EQ(rest.dropped, 0U);
    EXPECT_EQ(rest.judged + rest.passed, kHeads);
    EXPECT_EQ(counted(ConnectionEvent::Unread), kHeads - budget_.connections.half_heads);
    expect_the_budget();
}

}  // namespace
}  // namespace sluice::half_head_flood_test
