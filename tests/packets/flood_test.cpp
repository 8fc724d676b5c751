#include "tests/packets/box.hpp"
#include "tests/packets/frame.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <vector>

// A hundred million sources through a table of a million, by the way that enforces. Without
// sanitizers it takes seconds; it is a suite of its own, so that it runs only so.
namespace sluice::flood_test {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kTable = 1'000'000;
constexpr std::uint32_t kResidents = 500'000;
constexpr std::uint64_t kFlood = 100'000'000;
constexpr Instant kStart{1h};
constexpr Nanoseconds kPerBurst{3200};  // ten million new sources a second

// One packet is owed for ten seconds, so a flood of ten million sources a second would need a
// hundred times the table.
const char* const kRules = R"yaml(version: 1
rules:
  - id: each
    mode: enforce
    key: [ip.src]
    on_full: {coarsen: {factor: 16}}
    limits: [{algorithm: token_bucket, rate: 6/m, burst: 10}]
)yaml";
constexpr std::uint64_t kBurst = 10;

// Thirty-two frames whose sources change.
class Sender {
public:
    Sender() { frames_.fill(test::udp().src("10.0.0.1").size(64).bytes()); }
    // Packets of one burst that passed.
    std::uint64_t send(test::Box& box, const std::array<std::uint32_t, kMaxBurst>& sources,
                       Instant now) {
        burst_.clear();
        for (std::size_t i = 0; i < kMaxBurst; ++i) {
            const std::uint32_t ordered = __builtin_bswap32(sources[i]);
            std::memcpy(frames_[i].data() + 14 + 12, &ordered, sizeof(ordered));
            (void)burst_.add({frames_[i], 64}, Direction::In, 1);
        }
        box.run(burst_, now);
        std::uint64_t passed = 0;
        for (const Packet& packet : burst_.packets()) {
            passed += packet.decision.verdict == Verdict::Pass ? 1U : 0U;
        }
        return passed;
    }

private:
    std::array<test::Octets, kMaxBurst> frames_;
    Burst burst_;
};

// Residents live in 16.0.0.0/8, scattered; the flood comes from everywhere else.
std::uint32_t resident(std::uint32_t number) {
    return 0x1000'0000U | ((number * 0x9E37'79B1U) & 0x00FF'FFFFU);
}
std::uint32_t stranger(std::uint64_t number) {
    const auto mixed = static_cast<std::uint32_t>(number * 0x9E37'79B1U);  // odd: no two are equal
    return mixed >> 24 == 0x10 ? mixed ^ 0x2000'0000U : mixed;
}

// What passes when every resident sends `packets` at once.
std::uint64_t send_residents(Sender& sender, test::Box& box, int packets, Instant now) {
    std::uint64_t passed = 0;
    for (std::uint32_t first = 0; first < kResidents; first += kMaxBurst) {
        std::array<std::uint32_t, kMaxBurst> sources;
        for (std::uint32_t i = 0; i < kMaxBurst; ++i) {
            sources[i] = resident(first + i);
        }
        for (int i = 0; i < packets; ++i) {
            passed += sender.send(box, sources, now);
        }
    }
    return passed;
}

struct Flooded {
    std::uint64_t passed = 0;
    Instant end;
};

Flooded flood(Sender& sender, test::Box& box, Instant from, std::uint64_t strangers) {
    Flooded out{0, from};
    for (std::uint64_t first = 0; first < strangers; first += kMaxBurst) {
        std::array<std::uint32_t, kMaxBurst> sources;
        for (std::uint64_t i = 0; i < kMaxBurst; ++i) {
            sources[i] = stranger(first + i);
        }
        out.passed += sender.send(box, sources, out.end);
        out.end += kPerBurst;
    }
    return out;
}

// What on_full promises, step by step, over `length`: sources with a place may spend their burst,
// networks 16 times as much, the rule 16^3 times.
std::uint64_t promised(test::Box& box, std::uint64_t places, Nanoseconds length) {
    const auto earned = static_cast<std::uint64_t>(length / 10s) + 1;
    return places * (kBurst + earned) + box.buckets().parents.slots() * 16 * (kBurst + earned) +
           4096 * (kBurst + earned);
}

TEST(Flood, ForgetsNoDebtOfResidentsAndIsHeldToWhatOnFullPromises) {
    test::Box box{kRules, {}, kTable};
    Sender sender;
    ASSERT_EQ(send_residents(sender, box, kBurst, kStart), kResidents * kBurst);
    EXPECT_EQ(send_residents(sender, box, 1, kStart), 0U);

    const Flooded flooded = flood(sender, box, kStart, kFlood);
    const Nanoseconds length = flooded.end - kStart;
    const std::uint64_t places = box.buckets().keys.slots() - kResidents;
    EXPECT_LE(flooded.passed, promised(box, places, length));
    EXPECT_GT(box.counted(TableEvent::Coarsened1), 0U);
    EXPECT_GT(box.counted(TableEvent::CoarsenedToRule), 0U);
    EXPECT_EQ(box.counted(TableEvent::Closed), 0U);

    // Ten seconds have given every resident one packet back, and nobody more.
    ASSERT_EQ(length, 10s);
    EXPECT_EQ(send_residents(sender, box, 1, flooded.end), kResidents);
    EXPECT_EQ(send_residents(sender, box, 1, flooded.end), 0U);

    // What a burst spends on searching is bounded, so a packet's time is.
    const std::uint64_t bursts = kFlood / kMaxBurst;
    EXPECT_LT(box.buckets().keys.failed_searches(), bursts / 16);
}

// Residents that owe nothing lose their places, and nothing else.
TEST(Flood, MayTakeThePlacesOfTheIdle) {
    test::Box box{kRules, {}, kTable};
    Sender sender;
    ASSERT_EQ(send_residents(sender, box, 1, kStart), kResidents);
    const Instant idle = kStart + 10s;
    const Flooded flooded = flood(sender, box, idle, 20 * kTable);
    EXPECT_LE(flooded.passed, promised(box, box.buckets().keys.slots(), flooded.end - idle));
    // When the flood has paid its debts, everything is as it was.
    const Instant over = flooded.end + 1h;
    EXPECT_EQ(send_residents(sender, box, kBurst, over), kResidents * kBurst);
    EXPECT_EQ(send_residents(sender, box, 1, over), 0U);
}

}  // namespace
}  // namespace sluice::flood_test
