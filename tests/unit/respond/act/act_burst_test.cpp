#include "lib/respond/act/act_burst.hpp"

#include "lib/packet/parse.hpp"
#include "tests/packets/frame.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <string>
#include <utility>
#include <vector>

namespace sluice::act_burst_test {
namespace {

using namespace std::chrono_literals;
using test::checksum_of;
using test::Frame;
using test::Octets;
using test::udp;

// Of Multipath TCP: a kind that nobody knows here.
const Octets kMpDss{std::byte{30}, std::byte{4}, std::byte{0}, std::byte{0}};

// A burst as columns, which shares nothing with the rows of the pipeline.
struct Columns {
    std::deque<Octets> frames;
    std::deque<PacketHeaders> packet_headers;
    std::deque<Decision> decisions;
    std::deque<Normalization> normalizations{};

    void add(const Frame& frame, const Decision& decision) {
        const Octets& bytes = frames.emplace_back(frame.bytes());
        parse_frame({bytes, static_cast<std::uint32_t>(bytes.size())}, {},
                    packet_headers.emplace_back());
        decisions.push_back(decision);
    }
    template <typename Visit>
    void for_each_packet(Visit&& visit) const noexcept {
        for (std::size_t row = 0; row < frames.size(); ++row) {
            visit(row);
        }
    }
    [[nodiscard]] const PacketHeaders& headers(std::size_t row) const noexcept {
        return packet_headers[row];
    }
    [[nodiscard]] Decision& decision(std::size_t row) noexcept { return decisions[row]; }
    [[nodiscard]] SegmentGlance glance(std::size_t /*row*/) const noexcept { return {}; }
    [[nodiscard]] bool has_tcp(std::size_t row) const noexcept {
        return packet_headers[row].fields.has(Field::TcpFlags);
    }
    [[nodiscard]] bool has_tcp() const noexcept {
        return std::ranges::any_of(packet_headers, [](const PacketHeaders& one) {
            return one.fields.has(Field::TcpFlags);
        });
    }
    [[nodiscard]] Normalization normalization(std::size_t row) const noexcept {
        return row < normalizations.size() ? normalizations[row] : Normalization{};
    }
    [[nodiscard]] bool normalizes() const noexcept { return !normalizations.empty(); }
    [[nodiscard]] AnsweredPacket answered(std::size_t row) const noexcept {
        return {.headers = packet_headers[row],
                .frame = {frames[row], static_cast<std::uint32_t>(frames[row].size())}};
    }
};

// Writes down what it is told.
struct Record {
    Columns& burst;
    bool memory = true;
    std::vector<std::string> done{};

    void forward(std::size_t row) noexcept { done.push_back("forward " + std::to_string(row)); }
    void drop(std::size_t row) noexcept { done.push_back("drop " + std::to_string(row)); }
    template <typename Write>
    [[nodiscard]] bool rewrite(std::size_t row, Write&& write) noexcept {
        if (memory) {
            write(MutableBytes{burst.frames[row]});
            done.push_back("rewrite " + std::to_string(row));
        }
        return memory;
    }
    template <typename Write>
    [[nodiscard]] bool emit(std::size_t /*row*/, Toward /*side*/, std::size_t size,
                            Write&& write) noexcept {
        Octets made(size);
        write(MutableBytes{made});
        return memory;
    }
};

// The same, with a clock.
struct DelayingRecord : Record {
    [[nodiscard]] Instant now() const noexcept { return Instant{1h}; }
    void hold(std::size_t row, Instant until) noexcept {
        done.push_back("hold " + std::to_string(row) + " for " +
                       std::to_string((until - now()).count()));
    }
};
static_assert(Sink<Record> && !HoldingSink<Record>);
static_assert(HoldingSink<DelayingRecord>);

const std::vector<Action> kActions{
    kPass, kDrop, {Verdict::Tag, {.dscp = 46, .pcp = 5}}, {Verdict::Tag, {.pcp = 1}}};

Decision decided(ActionIndex action, Reason reason = Reason::OverLimit) {
    return {.verdict = kActions[action].verdict, .reason = reason, .action = action, .rule = 7};
}

TEST(ActBurst, SendsEachPacketOneWayInOrder) {
    Columns burst;
    burst.add(udp(), {});
    burst.add(udp(), decided(kDropAction));
    burst.add(udp(), decided(2));
    burst.add(udp(), decided(kPassAction));
    burst.add(udp(), dropped_for(Reason::TruncatedL4));
    Record sink{burst};
    act_burst(burst, kActions, sink);
    EXPECT_EQ(sink.done, (std::vector<std::string>{"forward 0", "drop 1", "rewrite 2", "forward 2",
                                                   "forward 3", "drop 4"}));
}

// The action that the decision names, not another one of its rule; nothing else changes.
TEST(ActBurst, WritesTheTagThatTheDecisionNames) {
    Columns burst;
    const Frame frame = udp().vlan(7).payload(30);
    burst.add(frame, decided(2));
    burst.add(frame, decided(3, Reason::Banned));
    burst.add(frame, decided(kPassAction));
    Record sink{burst};
    act_burst(burst, kActions, sink);
    const auto octet = [&](std::size_t row, std::size_t at) {
        return std::to_integer<unsigned>(burst.frames[row][at]);
    };
    EXPECT_EQ(octet(0, 14) >> 5, 5U);
    EXPECT_EQ(octet(0, 19) >> 2, 46U);
    EXPECT_EQ(checksum_of(burst.frames[0], 18, 20), 0U);
    EXPECT_EQ(octet(1, 14) >> 5, 1U);
    EXPECT_EQ(octet(1, 19), octet(2, 19));
    EXPECT_EQ(burst.frames[2], frame.bytes());
}

TEST(ActBurst, WithoutMemoryToRewriteInThePacketIsDropped) {
    Columns burst;
    burst.add(udp(), decided(2));
    burst.add(udp(), decided(kPassAction));
    Record sink{burst, false};
    act_burst(burst, kActions, sink);
    EXPECT_EQ(sink.done, (std::vector<std::string>{"drop 0", "forward 1"}));
    EXPECT_EQ(burst.decisions[0].verdict, Verdict::Drop);
    EXPECT_EQ(burst.decisions[0].reason, Reason::NoMemory);
    EXPECT_EQ(burst.decisions[0].rule, kNoRule);
    EXPECT_EQ(burst.decisions[1].reason, Reason::OverLimit);
}

// What is delayed leaves at its instant where the sink has a clock, at once where it has none.
TEST(ActBurst, HoldsWhatIsDelayed) {
    Columns burst;
    burst.add(udp(), {.verdict = Verdict::Shape, .reason = Reason::OverLimit, .wait = 30ns});
    burst.add(udp(), decided(kPassAction));
    DelayingRecord delaying{{burst}};
    act_burst(burst, kActions, delaying);
    EXPECT_EQ(delaying.done, (std::vector<std::string>{"hold 0 for 30", "forward 1"}));
    Record plain{burst};
    act_burst(burst, kActions, plain);
    EXPECT_EQ(plain.done, (std::vector<std::string>{"forward 0", "forward 1"}));
}

// Packets that depart later depart normalised and tagged.
TEST(ActBurst, NormalisesWhatIsDelayed) {
    const std::vector<Action> actions{kPass, kDrop, {Verdict::Shape}};
    Columns burst;
    const Frame frame = test::tcp().ttl(3).flags(0x30).tcp_options(kMpDss).payload(20);
    burst.add(frame,
              {.verdict = Verdict::Shape, .reason = Reason::OverLimit, .action = 2, .wait = 5ms});
    burst.add(frame, {.verdict = Verdict::Drop, .reason = Reason::OverLimit, .action = 1});
    burst.normalizations.resize(2);
    for (Normalization& change : burst.normalizations) {
        change.clears_urgent = true;
        change.clears_options = true;
        change.raises_to = 32;
        change.void_line({4, 12});
    }
    DelayingRecord sink{{burst}};
    act_burst(burst, actions, sink);
    EXPECT_EQ(sink.done, (std::vector<std::string>{"rewrite 0", "hold 0 for 5000000", "drop 1"}));
    PacketHeaders headers;
    const FrameView sent{burst.frames[0], static_cast<std::uint32_t>(burst.frames[0].size())};
    parse_frame(sent, {}, headers);
    EXPECT_EQ(headers.ttl, 32);
    EXPECT_EQ(headers.tcp_flags & 0x20, 0);
    EXPECT_EQ(burst.frames[0][headers.payload_at - 4U], std::byte{1});
    EXPECT_EQ(burst.frames[0][headers.payload_at + 4U], std::byte{'x'});
    EXPECT_EQ(burst.frames[1], frame.bytes());
}

// Opens the first 60 bytes.
struct ShortRecord : Record {
    template <typename Write>
    [[nodiscard]] bool rewrite(std::size_t row, Write&& write) noexcept {
        write(MutableBytes{burst.frames[row]}.first(60));
        return true;
    }
};

// A frame in several buffers, of which the sink opens the first: nothing goes on half changed.
TEST(ActBurst, DropsWhatCannotBeNormalisedWhole) {
    Columns burst;
    burst.add(test::tcp().payload(20), {});
    burst.add(test::tcp().payload(20), {});
    burst.normalizations.resize(2);
    burst.normalizations[0].void_line({0, 6});
    burst.normalizations[1].void_line({0, 7});
    ShortRecord sink{{burst}};
    act_burst(burst, kActions, sink);
    EXPECT_EQ(sink.done, (std::vector<std::string>{"forward 0", "drop 1"}));
    EXPECT_EQ(burst.decisions[1].reason, Reason::NoMemory);
}

TEST(ActBurst, WhatIsAnsweredDoesNotGoOn) {
    for (const Verdict verdict : {Verdict::Decoy, Verdict::Reply, Verdict::Reset}) {
        Columns burst;
        burst.add(udp(), {.verdict = verdict});
        Record sink{burst};
        act_burst(burst, kActions, sink);
        EXPECT_EQ(sink.done, std::vector<std::string>{"drop 0"}) << name_of(verdict);
    }
}

TEST(ActBurst, AnEmptyBurstIsNothingToDo) {
    Columns burst;
    Record sink{burst};
    act_burst(burst, kActions, sink);
    EXPECT_TRUE(sink.done.empty());
}

}  // namespace
}  // namespace sluice::act_burst_test
