#include "lib/l7/stream/unit_parser.hpp"
#include "tests/guarded_memory.hpp"
#include "tests/unit/l7/hello_maker.hpp"
#include "tests/unit/l7/stream/unit_probe.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <string_view>
#include <vector>

// Streams of services over the end of a process: what the next one makes of the bytes that follow.
namespace sluice::streams_kept_test {
namespace {

using test::GuardedMemory;
using test::octets_of;
using test::ProbedPacket;
using test::segment;
using test::small_unit_budget;
using test::UnitProbe;

constexpr Instant kNow{std::chrono::hours{1}};

struct Region {
    GuardedMemory memory{UnitParser::kept_of(small_unit_budget())};

    [[nodiscard]] KeptMemory kept() const {
        return {memory.base(), UnitParser::kept_of(small_unit_budget()), 4096};
    }
};

struct Process {
    explicit Process(const Region& region, ServiceProtocol protocol = ServiceProtocol::Http)
        : parser{small_unit_budget(), region.kept()} {
        parser.take_over(kNow);
        probe.service = test::enforced_service(protocol);
    }
    ProbedPacket send(std::size_t at, std::string_view text, bool forwarded = true) {
        const auto seq = static_cast<std::uint32_t>(1000 + at);
        return probe.take(segment(seq, octets_of(text), 80), kNow, forwarded);
    }
    UnitParser parser;
    UnitProbe probe{parser.finder()};
};

const std::string kRequest = "GET /b HTTP/1.1\r\nHost: a\r\n\r\n";
const std::string kChunks = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";

struct Row {
    const char* what;
    std::string before;  // the first process ends behind it
    std::string after;
    std::size_t requests;  // in what follows
    std::string dropped;
};
std::vector<Row> rows() {
    const std::string body = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 90\r\n\r\n";
    return {
        {"a head begins", kRequest, kRequest, 1, ""},
        {"a body of known length goes on", body + "aaaaa", std::string(85, 'b') + kRequest, 1, ""},
        {"text in it that looks like a request", body, kRequest + std::string(61, 'x'), 0, ""},
        {"a chunk goes on", kChunks + "40\r\naaaa",
         std::string(60, 'b') + "\r\n0\r\n\r\n" + kRequest, 1, ""},
        {"text in it that looks like a request", kChunks + "1000\r\n", kRequest, 0, ""},
        {"a chunk's size goes on", kChunks + "1", "c\r\n" + kRequest + "\r\n0\r\n\r\n", 0, ""},
        {"the rest of half a head", kRequest.substr(0, 20), kRequest.substr(20), 1, ""},
        {"what cannot be followed", "\x16\x03\x01 no request at all\r\n\r\n", kRequest, 0,
         "unreadable"},
    };
}

TEST(StreamsKept, AStreamIsReadOnWhereItWas) {
    for (const Row& row : rows()) {
        SCOPED_TRACE(row.what);
        Region region;
        {
            Process first{region};
            (void)first.probe.take(test::opening(1000, 80), kNow);
            (void)first.send(0, row.before);
        }
        Process next{region};
        const ProbedPacket packet = next.send(row.before.size(), row.after);
        EXPECT_EQ(packet.units("request"), row.requests);
        EXPECT_EQ(packet.dropped, row.dropped);
    }
}

// Behind its hello a session is not read, and not refused.
TEST(StreamsKept, AnUpgradedOrEncryptedStreamStaysUnread) {
    Region region;
    const std::string record{"\x17\x03\x03\x00\x05hello", 10};
    {
        Process first{region, ServiceProtocol::Tls};
        (void)first.probe.take(test::opening(1000, 80), kNow);
        (void)first.send(0, std::string_view{"\x14\x03\x03\x00\x01\x01", 6});
    }
    Process next{region, ServiceProtocol::Tls};
    const ProbedPacket packet = next.send(6, record);
    Region other;
    Process alone{other, ServiceProtocol::Tls};
    (void)alone.probe.take(test::opening(1000, 80), kNow);
    (void)alone.send(0, std::string_view{"\x14\x03\x03\x00\x01\x01", 6});
    EXPECT_EQ(packet.dropped, alone.send(6, record).dropped) << "as without a restart";
}

// Requests behind a PROXY header are its client's in the next process too, whichever store of the
// header's segment the first one was killed at: its proxy sends that again where it had no answer.
// A header that came in two segments is lost as half a head is, and nothing passes behind it.
TEST(StreamsKept, TheClientOfAProxysConnectionIsKnown) {
    const VersionedAddress client = parse_address("192.0.2.9").value();
    const std::string header = "PROXY TCP4 192.0.2.9 192.0.2.8 1 2\r\n";
    for (const std::size_t cut : {std::size_t{0}, std::size_t{9}}) {
        Region region;
        Region other;
        Process first{region};
        first.probe.proxied_from = 1000;
        (void)first.probe.take(test::opening(1000, 80), kNow);
        (void)first.send(0, header.substr(0, cut));
        const std::string rest = header.substr(cut) + kRequest;
        std::size_t instants = 0;
        const auto killed = [&](bool is_again) {
            other.memory.copy_from(region.memory);
            Process next{other};
            next.probe.proxied_from = 1000;
            ++instants;
            const std::string dropped = is_again ? next.send(cut, rest).dropped : "";
            EXPECT_TRUE(dropped.empty() || (cut != 0 && dropped == "lost_head")) << instants;
            const ProbedPacket packet = next.send(cut + rest.size(), kRequest);
            EXPECT_EQ(packet.dropped, dropped) << instants;
            EXPECT_EQ(packet.units("request"), dropped.empty() ? 1U : 0U) << instants;
            EXPECT_TRUE(packet.client == client || !dropped.empty()) << instants;
        };
        region.memory.run_guarded([&] { (void)first.send(cut, rest); }, [&] { killed(true); });
        killed(false);
        EXPECT_GT(instants, 10U);
    }
}

// Judged bytes meet their verdict once more, and others in their place are refused.
TEST(StreamsKept, VerdictsAndContentsStick) {
    for (const bool forwarded : {true, false}) {
        Region region;
        {
            Process first{region};
            (void)first.probe.take(test::opening(1000, 80), kNow);
            (void)first.send(0, kRequest, forwarded);
        }
        Process next{region};
        const ProbedPacket again = next.send(0, kRequest);
        EXPECT_EQ(again.units("request"), 0U);
        EXPECT_EQ(again.dropped, forwarded ? "" : "retransmission");
        const ProbedPacket other = next.send(0, "GET /c HTTP/1.1\r\nHost: a\r\n\r\n");
        EXPECT_NE(other.dropped, "");
    }
}

// Bytes may have passed another way while there was no box. What comes first and lies ahead is not
// forwarded unread: a client whose segments were lost begins with the oldest.
TEST(StreamsKept, WhatLiesAheadOfAllThatWasReadIsNotForwardedUnread) {
    using namespace std::chrono_literals;
    Region region;
    {
        Process first{region};
        (void)first.probe.take(test::opening(1000, 80), kNow);
        (void)first.send(0, kRequest);
    }
    Region honest;
    honest.memory.copy_from(region.memory);
    {
        Process next{honest};
        const std::size_t at = kRequest.size();
        EXPECT_EQ(next.send(2 * at, kRequest).dropped, "lost_head");
        EXPECT_EQ(next.send(at, kRequest).units("request"), 1U);
        EXPECT_EQ(next.send(2 * at, kRequest).units("request"), 1U);
        EXPECT_EQ(next.send(4 * at, kRequest).dropped, "") << "held, as ever";
    }
    Process next{region};
    Instant now = kNow + 2s;
    const auto later = [&](std::size_t at, const std::string& text) {
        const auto seq = static_cast<std::uint32_t>(1000 + at);
        return next.probe.take(segment(seq, octets_of(text), 80), now);
    };
    EXPECT_EQ(later(700, kRequest).dropped, "lost_head");
    now += 2s;
    EXPECT_EQ(later(700, kRequest).units("request"), 1U) << "the oldest comes again";
    EXPECT_EQ(later(700 + kRequest.size(), kRequest).units("request"), 1U);
    EXPECT_EQ(later(700 + 2 * kRequest.size(), "no request\r\n\r\n").dropped, "unreadable");
}

// Each segment is killed before each store that it makes. The client sends it again: what follows
// is read as if nothing had happened, and each request is counted once or, where its process
// ended in the middle of it, once more.
TEST(StreamsKept, AKillAtAnyStoreLosesNoStream) {
    const std::vector<std::string> segments{kRequest,
                                            kChunks,
                                            "20\r\n0123456789",
                                            "abcdef0123456789abcdef\r",
                                            "\n5\r\nGET /\r\n0\r\n\r\n",
                                            kRequest};
    Region region;
    Region other;
    Process process{region};
    (void)process.probe.take(test::opening(1000, 80), kNow);
    std::size_t at = 0;
    std::size_t instants = 0;
    for (std::size_t i = 0; i < segments.size(); ++i) {
        const auto killed = [&] {
            other.memory.copy_from(region.memory);
            Process next{other};
            ++instants;
            std::size_t from = at;
            std::size_t requests = 0;
            for (std::size_t later = i; later < segments.size(); ++later) {
                const ProbedPacket packet = next.send(from, segments[later]);
                EXPECT_EQ(packet.dropped, "") << "segment " << i << ", then " << later;
                requests += packet.units("request");
                from += segments[later].size();
            }
            const std::size_t whole = (i <= 1 ? 1U : 0U) + (i == 0 ? 1U : 0U) + 1U;
            EXPECT_LE(requests, whole) << "segment " << i;
            EXPECT_GE(requests + 1, whole) << "segment " << i;
        };
        region.memory.run_guarded([&] { (void)process.send(at, segments[i]); }, killed);
        killed();
        at += segments[i].size();
    }
    EXPECT_GT(instants, 60U);
}

TEST(StreamsKept, ARegionOfAnyContentIsTakenOver) {
    std::mt19937_64 random{29};
    for (int round = 0; round < 20; ++round) {
        Region region;
        auto* const bytes = static_cast<std::uint8_t*>(region.memory.base());
        for (std::size_t i = 0; i < UnitParser::kept_of(small_unit_budget()); ++i) {
            const std::uint64_t number = random();
            bytes[i] =
                static_cast<std::uint8_t>(number % 3 == 0 ? number >> 8U & 7U : number >> 8U);
        }
        Process process{region};
        for (std::size_t at = 0; at < 4000; at += 40) {
            (void)process.send(at, kChunks.substr(0, 20 + random() % 20));
        }
    }
}

}  // namespace
}  // namespace sluice::streams_kept_test
