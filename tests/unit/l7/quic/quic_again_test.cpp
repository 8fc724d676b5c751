#include "lib/l7/quic/quic_units.hpp"
#include "lib/l7/stream/wanted_protocols.hpp"
#include "tests/unit/l7/quic/quic_datagrams.hpp"
#include "tests/unit/l7/quic/quic_finder.hpp"
#include "tests/unit/l7/stream/unit_probe.hpp"

#include <gtest/gtest.h>

// A hello that comes again once its server may have forgotten it: what is served is counted.
namespace sluice::quic_again_test {
namespace {

using namespace std::chrono_literals;
using test::crypto;
using test::InitialMaker;
using test::Octets;
using test::quic_frame;
using test::quic_hello;
using test::quic_id;
using test::quic_initial;
using test::quic_part;

constexpr Instant kNow{std::chrono::hours{1}};
constexpr Nanoseconds kMoment = 10ms;  // more than a tick

enum class Stance { Both, Inbound, Anywhere };

// A long header whose ids nobody compares, in the types of version 1.
Octets server_packet(unsigned first, unsigned version = 1, unsigned servers_id = 0xBEEF) {
    Octets packet;
    test::put8(packet, first);
    test::put32(packet, version);
    test::put8(packet, 4);
    test::put32(packet, 0x5C1D);
    test::put8(packet, 4);
    test::put32(packet, servers_id);
    packet.resize(1200);
    return packet;
}
const Octets kServerInitial = server_packet(0xC0);
const Octets kServerHandshake = server_packet(0xE0);
const Octets kRetry = server_packet(0xF0);
const Octets kNegotiation = server_packet(0xC0, 0);

// A client's Initial with other frames than those of a hello.
InitialMaker frames_only(const Octets& frames) {
    return InitialMaker{}
        .dcid(quic_id(1))
        .number(7, 1)
        .carries(frames)
        .padded_to(test::kInitialPayload);
}
const Octets kPing(1, std::byte{1});
const Octets kClose = test::from_hex("1c000000");

struct Worker {
    explicit Worker(Stance stance = Stance::Both,
                    const QuicBudget& budget = {.connections = 4096, .half_hellos = 16})
        : quic{budget, *InitialOpener::make()} {
        service.protocol = ServiceProtocol::Quic;
        service.mode = Mode::Enforce;
        service.path = stance == Stance::Inbound ? ServicePath::Inbound : ServicePath::Both;
        probe.service = stance == Stance::Anywhere ? nullptr : &service;
    }

    // Each packet comes a moment after the one before it.
    test::ProbedPacket send(const InitialMaker& initial, bool forwarded = true) {
        now += kMoment;
        return probe.take(quic_frame(initial.packet()), now, forwarded);
    }
    // The number of handshakes that are counted.
    std::size_t counts(const InitialMaker& initial) { return send(initial).units("handshake"); }

    // The other direction of quic_frame()'s packets.
    void answer(const Octets& datagram, std::uint16_t client_port = 40'000,
                Direction direction = Direction::Out) {
        const Octets frame = test::Frame{17}
                                 .src("198.51.100.1")
                                 .dst("10.0.0.1")
                                 .sport(443)
                                 .dport(client_port)
                                 .carries(datagram)
                                 .bytes();
        now += kMoment;
        const FrameView view{frame, static_cast<std::uint32_t>(frame.size())};
        PacketHeaders headers;
        parse_frame(view, {}, headers);
        headers.dir = direction;
        if (quic.expects_answers(direction)) {
            quic.on_answer(*read_payload(headers, frame), headers, hash, now);
        }
    }

    Instant now = kNow;
    Service service;
    QuicUnits quic;
    KeyHasher hash{HashSecret{1, 2}};  // the probe's
    test::UnitProbe probe{test::quic_finder(quic)};
};

TEST(QuicAgain, ARepeatIsFreeUntilTheServerHasAnswered) {
    Worker worker;
    EXPECT_EQ(worker.counts(quic_initial("a")), 1U);
    for (unsigned i = 0; i < 20; ++i) {
        EXPECT_EQ(worker.counts(quic_initial("a").number(i, 1)), 0U);
    }
    for (unsigned i = 0; i < 5; ++i) {
        worker.answer(i % 2 == 0 ? kServerInitial : kServerHandshake);
        const test::ProbedPacket again = worker.send(quic_initial("a"));
        EXPECT_EQ(again.units("handshake"), 1U);
        EXPECT_EQ(again.events.at("quic_hello_anew"), 1U);
        EXPECT_TRUE(again.remembered);
        EXPECT_EQ(worker.counts(quic_initial("a")), 0U) << "none has been answered since";
    }
}

TEST(QuicAgain, WhatIsRefusedThenStaysRefused) {
    Worker worker;
    EXPECT_EQ(worker.counts(quic_initial("a")), 1U);
    worker.answer(kServerInitial);
    EXPECT_EQ(worker.send(quic_initial("a"), false).units("handshake"), 1U);
    worker.answer(kServerHandshake);
    const test::ProbedPacket third = worker.send(quic_initial("a"));
    EXPECT_EQ(third.units("handshake"), 0U);
    EXPECT_EQ(third.dropped, "retransmission");
}

TEST(QuicAgain, OnlyAnAnswerOfTheServersSideOnThisPathCounts) {
    struct Row {
        const char* name;
        Octets datagram;
        std::uint16_t client_port = 40'000;
        Direction direction = Direction::Out;
        std::size_t counted = 0;
    };
    const Row rows[] = {
        {.name = "an Initial", .datagram = kServerInitial, .counted = 1},
        {.name = "a Handshake packet", .datagram = kServerHandshake, .counted = 1},
        {.name = "of version 2, whose types differ",
         .datagram = server_packet(0xF0, kQuicV2),
         .counted = 1},
        {.name = "of another version", .datagram = server_packet(0xF0, 0xFF00'001D), .counted = 1},
        {.name = "its first bytes alone",
         .datagram = {kServerInitial.begin(), kServerInitial.begin() + 5},
         .counted = 1},
        {.name = "less than a version",
         .datagram = {kServerInitial.begin(), kServerInitial.begin() + 4}},
        {.name = "a Retry", .datagram = kRetry},
        {.name = "a Retry of version 2", .datagram = server_packet(0xC0, kQuicV2)},
        {.name = "a Version Negotiation", .datagram = kNegotiation},
        {.name = "to another port", .datagram = kServerInitial, .client_port = 40'001},
        {.name = "forged outside", .datagram = kServerInitial, .direction = Direction::In},
    };
    for (const Row& row : rows) {
        Worker worker;
        EXPECT_EQ(worker.counts(quic_initial("a")), 1U);
        worker.answer(row.datagram, row.client_port, row.direction);
        EXPECT_EQ(worker.counts(quic_initial("a")), row.counted) << row.name;
    }
}

// Initials of a connection that stands, and those under its server's id, pass as ever.
TEST(QuicAgain, WhatIsNoHelloPassesUnchargedBehindAnAnswer) {
    Worker worker;
    EXPECT_EQ(worker.counts(quic_initial("a")), 1U);
    worker.answer(kServerInitial);
    for (const Octets& frames : {kPing, test::from_hex("0200000000"), Octets(40)}) {
        for (const bool under_server_id : {false, true}) {
            InitialMaker initial = frames_only(frames);
            if (under_server_id) {
                initial.dcid(quic_id(0xBEEF)).keys_of(quic_id(1));
            }
            const test::ProbedPacket probed = worker.send(initial);
            EXPECT_EQ(probed.kinds, std::vector<std::string>{"packet"});
            EXPECT_EQ(probed.dropped, "");
        }
    }
    EXPECT_EQ(worker.counts(quic_initial("a")), 1U);
}

// A server forgets what is closed at once, and need not have answered.
TEST(QuicAgain, WhatItsClientHasClosedIsNewWhenItComesAgain) {
    Octets both = crypto(0, quic_hello("a"));
    test::put(both, kClose);
    Octets behind = quic_initial("a").packet();
    test::put(behind, frames_only(kClose).packet());
    Worker apart;
    EXPECT_EQ(apart.counts(quic_initial("a")), 1U);
    EXPECT_EQ(apart.counts(frames_only(kClose)), 0U);
    EXPECT_EQ(apart.counts(quic_initial("a")), 1U);
    Worker within;
    Worker coalesced;
    for (unsigned i = 0; i < 3; ++i) {
        EXPECT_EQ(within.counts(frames_only(both)), 1U);
        coalesced.now += kMoment;
        EXPECT_EQ(coalesced.probe.take(quic_frame(behind), coalesced.now).units("handshake"), 1U);
    }
}

// Cut and order differ from one time to the next, and parts go to the id that a server has chosen.
TEST(QuicAgain, AHelloInPartsIsCountedEachTimeItIsWholeBehindAnAnswer) {
    const Octets hello = quic_hello("parts.example");
    for (const bool swapped : {false, true}) {
        for (const bool under_server_id : {false, true}) {
            Worker worker;
            std::size_t counted = 0;
            for (unsigned time = 0; time < 4; ++time) {
                const std::size_t cut = 50 + 20 * time;
                InitialMaker second =
                    swapped ? quic_part(hello, 0, cut) : quic_part(hello, cut, hello.size());
                const InitialMaker first =
                    swapped ? quic_part(hello, cut, hello.size()) : quic_part(hello, 0, cut);
                const test::ProbedPacket begun = worker.send(first);
                EXPECT_EQ(begun.dropped, "");
                counted += begun.units("handshake");
                worker.answer(kServerInitial);  // which acknowledges it
                if (under_server_id) {
                    second.dcid(quic_id(0xBE00 + time)).keys_of(quic_id(1));
                }
                counted += worker.counts(second);
                worker.answer(kServerHandshake);
            }
            EXPECT_EQ(counted, 4U) << swapped << under_server_id;
        }
    }
}

// The server knows a part that came before its answer to others.
TEST(QuicAgain, PartsThatCameBeforeTheAnswerAreOfTheNextHello) {
    const Octets hello = quic_hello("parts.example");
    Worker worker;
    EXPECT_EQ(worker.counts(quic_initial("parts.example")), 1U);
    EXPECT_EQ(worker.counts(quic_part(hello, 0, 60)), 0U);
    worker.answer(kServerInitial);
    EXPECT_EQ(worker.counts(quic_part(hello, 60, hello.size())), 1U);
    // And what is not known any more: a part that was given up.
    worker.answer(kServerInitial);
    EXPECT_EQ(worker.counts(quic_initial("parts.example")), 1U);
    EXPECT_EQ(worker.counts(quic_part(hello, 0, 60)), 0U);
    worker.now += 11s;
    EXPECT_EQ(worker.counts(frames_only(kPing)), 0U);
    worker.answer(kServerInitial);
    EXPECT_EQ(worker.send(quic_initial("longer.parts.example")).dropped, "overlap");
    EXPECT_EQ(worker.send(quic_part(hello, 60, hello.size())).dropped, "lost_head");
    EXPECT_EQ(worker.counts(quic_part(hello, 0, 60)), 1U);
}

TEST(QuicAgain, AHelloIsForgottenWithAPartThatCameBehindIt) {
    const Octets hello = quic_hello("parts.example");
    Worker worker;
    EXPECT_EQ(worker.counts(quic_initial("parts.example")), 1U);
    worker.now += 55s;
    EXPECT_EQ(worker.counts(quic_part(hello, 0, 60)), 0U);
    worker.now += 8s;  // nothing is known of the hello now
    EXPECT_EQ(worker.counts(quic_part(hello, 60, hello.size())), 1U);
}

TEST(QuicAgain, OneWayARepeatIsFreeForTenSecondsAndFourTimes) {
    for (const Stance stance : {Stance::Inbound, Stance::Anywhere}) {
        Worker often{stance};
        std::size_t counted = 0;
        for (unsigned i = 0; i < 15; ++i) {
            counted += often.counts(quic_initial("a"));
            often.answer(kServerInitial);  // which is not asked for
        }
        EXPECT_EQ(counted, 3U);
        Worker late{stance};
        EXPECT_EQ(late.counts(quic_initial("a")), 1U);
        late.now += 9s;
        EXPECT_EQ(late.counts(quic_initial("a")), 0U);
        late.now += 1s;
        EXPECT_EQ(late.counts(quic_initial("a")), 1U);
        EXPECT_EQ(late.counts(quic_initial("a")), 0U);
    }
}

// One way the parts of another hello go on with what came before the bound.
TEST(QuicAgain, OneWayPartsThatCameBeforeTheBoundAreOfTheNextHello) {
    const Octets other = quic_hello("other.example");
    Worker worker{Stance::Inbound};
    EXPECT_EQ(worker.counts(quic_initial("a")), 1U);
    for (unsigned i = 0; i < 4; ++i) {
        EXPECT_EQ(worker.counts(quic_part(other, 0, 60)), 0U);
    }
    EXPECT_EQ(worker.counts(quic_part(other, 60, other.size())), 1U);
}

// Without a Retry, a token and another id are a connection more.
TEST(QuicAgain, AHelloIsFreeBehindARetryAlone) {
    const Octets token(16, std::byte{9});
    const auto under = [&](unsigned id) { return quic_initial("a", id).token(token); };
    Worker without;
    EXPECT_EQ(without.counts(quic_initial("a")), 1U);
    EXPECT_EQ(without.counts(under(2)), 1U);
    Worker worker;
    EXPECT_EQ(worker.counts(quic_initial("a")), 1U);
    worker.answer(kRetry);
    EXPECT_EQ(worker.counts(under(2)), 0U);
    EXPECT_EQ(worker.counts(under(2)), 0U);
    EXPECT_EQ(worker.counts(quic_initial("a")), 1U) << "its id was given up with the Retry";
    worker.answer(kServerInitial);
    EXPECT_EQ(worker.counts(under(2)), 1U);
    EXPECT_EQ(worker.counts(under(3)), 1U);
    Worker answered;
    EXPECT_EQ(answered.counts(quic_initial("a")), 1U);
    answered.answer(kRetry);
    answered.answer(kServerInitial);
    EXPECT_EQ(answered.counts(under(2)), 1U);
}

// Packets passed unread, or under other rules: answers may have been among them.
TEST(QuicAgain, BehindAGapARepeatIsCounted) {
    Worker worker;
    EXPECT_EQ(worker.counts(quic_initial("a")), 1U);
    worker.probe.unread_bursts = 1;
    EXPECT_EQ(worker.counts(quic_initial("a")), 1U);
    EXPECT_EQ(worker.counts(quic_initial("a")), 0U);
}

// No flood makes a worker forget that a hello was answered, and only few of others' are taken for
// its own.
TEST(QuicAgain, AnswersToOthersHideNone) {
    Worker worker;
    EXPECT_EQ(worker.counts(quic_initial("a")), 1U);
    worker.answer(kServerInitial);
    for (std::uint16_t port = 1; port < 20'000; ++port) {
        worker.answer(kServerInitial, port);
        worker.now -= kMoment;
    }
    EXPECT_EQ(worker.counts(quic_initial("a")), 1U);
    std::size_t taken = 0;
    for (unsigned i = 0; i < 200; ++i) {
        EXPECT_EQ(worker.counts(quic_initial("b", 100 + i)), 1U);
        worker.answer(kServerInitial, static_cast<std::uint16_t>(1 + i));
        taken += worker.counts(quic_initial("b", 100 + i));
    }
    EXPECT_LE(taken, 5U);
}

// Whose verdict made room in a flood: it is free for as long as its server has not answered.
TEST(QuicAgain, AForgottenVerdictIsRecalledUntilTheServerHasAnswered) {
    for (const Stance stance : {Stance::Both, Stance::Inbound}) {
        for (const bool answered : {false, true}) {
            Worker worker{stance, {.connections = 64, .half_hellos = 16}};
            EXPECT_EQ(worker.counts(quic_initial("a")), 1U);
            if (answered) {
                worker.answer(kServerInitial);
            }
            for (unsigned id = 100; id < 132; ++id) {
                EXPECT_EQ(worker.counts(quic_initial("b" + std::to_string(id), id)), 1U);
            }
            const bool is_free = stance == Stance::Both && !answered;
            EXPECT_EQ(worker.counts(quic_initial("a")), is_free ? 0U : 1U);
            EXPECT_EQ(worker.counts(quic_initial("a")), 0U);
        }
    }
}

// Under the id that a server chose, of the connection that began under `id`.
InitialMaker under_servers_id(unsigned servers_id, unsigned id) {
    Octets dcid;
    test::put32(dcid, servers_id);
    return frames_only(kPing).dcid(dcid).keys_of(quic_id(id));
}

// Who began by the same ports: strangers cannot name the ids that the server chose for them.
TEST(QuicAgain, WhoNamesTheServersIdIsNotPushedOutByOthersOfItsPath) {
    const Octets hello = quic_hello("decoy.example");
    for (const bool confirmed : {false, true}) {
        Worker worker;
        EXPECT_EQ(worker.counts(quic_initial("a")), 1U);
        worker.answer(kServerInitial);
        if (confirmed) {
            EXPECT_EQ(worker.send(under_servers_id(0xBEEF, 1)).dropped, "");
        }
        for (unsigned i = 100; i < 108; ++i) {
            EXPECT_EQ(worker.send(quic_part(hello, 0, 40, i)).units("handshake"), 0U);
            EXPECT_EQ(worker.counts(quic_part(hello, 40, hello.size(), i)), 1U);
            worker.answer(server_packet(0xC0, 1, 0xAB00 + i));
            EXPECT_EQ(worker.send(under_servers_id(0xDEAD, i)).dropped, "");
        }
        const test::ProbedPacket next = worker.send(under_servers_id(0xBEEF, 1));
        EXPECT_EQ(next.dropped, confirmed ? "" : "lost_head");
        // Whoever begins behind them finds a place.
        EXPECT_EQ(worker.counts(quic_initial("b", 2)), 1U);
        EXPECT_EQ(worker.send(under_servers_id(0xFEED, 2)).dropped, "");
    }
}

TEST(QuicAgain, OfFiveConnectionsOfOnePathTheFifthWaits) {
    const Octets hello = quic_hello("parts.example");
    Worker worker;
    for (unsigned id = 1; id <= 4; ++id) {
        EXPECT_EQ(worker.counts(quic_initial("a", id)), 1U);
        worker.answer(server_packet(0xC0, 1, 0xBE00 + id));
        EXPECT_EQ(worker.send(under_servers_id(0xBE00 + id, id)).dropped, "");
    }
    EXPECT_EQ(worker.counts(quic_part(hello, 0, 40, 5)), 0U);
    EXPECT_EQ(worker.counts(quic_part(hello, 40, hello.size(), 5)), 1U);
    worker.answer(server_packet(0xC0, 1, 0xBE05));
    EXPECT_EQ(worker.send(under_servers_id(0xBE05, 5)).dropped, "lost_head");
    for (unsigned id = 1; id <= 4; ++id) {
        EXPECT_EQ(worker.send(under_servers_id(0xBE00 + id, id)).dropped, "");
    }
}

}  // namespace
}  // namespace sluice::quic_again_test
