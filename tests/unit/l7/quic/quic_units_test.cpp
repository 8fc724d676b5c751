#include "lib/l7/quic/quic_units.hpp"

#include "lib/l7/http1/request_texts.hpp"
#include "lib/l7/stream/wanted_protocols.hpp"

#include "lib/l7/stream/wanted_protocols.hpp"
#include "tests/unit/l7/quic/quic_datagrams.hpp"
#include "tests/unit/l7/quic/quic_finder.hpp"
#include "tests/unit/l7/stream/unit_probe.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace sluice::quic_units_test {
namespace {

using namespace std::chrono_literals;
using test::crypto;
using test::InitialMaker;
using test::Octets;
using test::ProbedPacket;
using test::quic_frame;
using test::quic_hello;
using test::quic_id;
using test::quic_initial;
using test::quic_part;
using test::UnitProbe;
using Texts = std::map<std::string, std::string>;

constexpr Instant kNow{std::chrono::hours{1}};

struct Worker {
    explicit Worker(const QuicBudget& budget = {.connections = 256, .half_hellos = 16})
        : quic{budget, *InitialOpener::make()} {
        probe.service = test::enforced_service(ServiceProtocol::Quic);
    }

    ProbedPacket send(const InitialMaker& initial, bool forwarded = true, Instant now = kNow) {
        return probe.take(quic_frame(initial.packet()), now, forwarded);
    }
    ProbedPacket from(std::string_view src, const InitialMaker& initial, Instant now = kNow) {
        return probe.take(quic_frame(initial.packet(), src), now);
    }

    QuicUnits quic;
    UnitProbe probe{test::quic_finder(quic)};
};

TEST(Quic, AnInitialWithAHelloIsAHandshake) {
    for (const auto& [version, text] :
         {std::pair{kQuicV1, "1"}, std::pair{kQuicV2, "1798521807"}}) {
        Worker worker;
        const ProbedPacket probed = worker.send(
            quic_initial("Quic.Example").version(version).token(Octets(3, std::byte{7})));
        ASSERT_EQ(probed.kinds, std::vector<std::string>{"handshake"});
        Texts texts = probed.texts.front();
        EXPECT_EQ(texts["tls.ja4"].substr(0, 10), "q13d0203h3");
        texts.erase("tls.ja4");
        EXPECT_EQ(texts, (Texts{{"proto.l7", "quic"},
                                {"proto.scheme", "https"},
                                {"quic.packet_type", "initial"},
                                {"quic.version", text},
                                {"quic.token_len", "3"},
                                {"quic.sni", "quic.example"},
                                {"tls.alpn", "h3"}}));
        EXPECT_TRUE(probed.remembered);
    }
}

TEST(Quic, ARepeatedInitialIsNoUnitAndGoesWhereItsFirstWent) {
    for (const bool forwarded : {true, false}) {
        Worker worker;
        EXPECT_EQ(worker.send(quic_initial("a"), forwarded).units("handshake"), 1U);
        for (unsigned number = 1; number < 4; ++number) {
            const ProbedPacket again = worker.send(quic_initial("a").number(number, 1));
            EXPECT_EQ(again.kinds, std::vector<std::string>{"packet"});
            EXPECT_EQ(again.dropped, forwarded ? "" : "retransmission");
            EXPECT_EQ(again.events.at("quic_hello_again"), 1U);
        }
        // Another connection of the same client is one.
        EXPECT_EQ(worker.send(quic_initial("a", 2)).units("handshake"), 1U);
        // By another path a server may take it for another one as well.
        const ProbedPacket other = worker.from("10.0.0.2", quic_initial("a"));
        EXPECT_EQ(other.units("handshake"), forwarded ? 1U : 0U);
        EXPECT_EQ(other.dropped, forwarded ? "" : "retransmission");
    }
}

// A repeat is the same bytes: another hello under the id of one that was judged is one more, in one
// datagram or in parts, and so is the first one behind it.
TEST(Quic, AnotherHelloUnderOneIdIsJudgedAndCounted) {
    const Octets other = quic_hello("other.example");
    for (const bool in_parts : {false, true}) {
        Worker worker;
        EXPECT_EQ(worker.send(quic_initial("decoy.example")).units("handshake"), 1U);
        ProbedPacket second;
        if (in_parts) {
            EXPECT_EQ(worker.send(quic_part(other, 0, 60)).units("handshake"), 0U);
            second = worker.send(quic_part(other, 60, other.size()));
        } else {
            second = worker.send(quic_initial("other.example"));
        }
        ASSERT_EQ(second.units("handshake"), 1U);
        EXPECT_EQ(second.texts.front().at("quic.sni"), "other.example");
        EXPECT_EQ(second.events.at("quic_other_hello"), 1U);
        EXPECT_TRUE(second.remembered);
        // Repeats of it are no units.
        EXPECT_EQ(worker.send(quic_initial("other.example").number(4, 1)).units("handshake"), 0U);
        // One that came in parts stands: its server may have some of it.
        const ProbedPacket decoy = worker.send(quic_initial("decoy.example"));
        EXPECT_EQ(decoy.units("handshake"), in_parts ? 0U : 1U);
        EXPECT_EQ(decoy.dropped, in_parts ? "overlap" : "");
    }
}

TEST(Quic, AnotherHelloThatIsRefusedStaysRefused) {
    Worker worker;
    EXPECT_EQ(worker.send(quic_initial("decoy.example")).units("handshake"), 1U);
    EXPECT_EQ(worker.send(quic_initial("other.example"), false).units("handshake"), 1U);
    EXPECT_EQ(worker.send(quic_initial("other.example")).dropped, "retransmission");
}

// Parts of a judged hello, in any cut and order, and one of them alone: none is charged or dropped,
// nor what its client sends afterwards.
TEST(Quic, PartsOfAJudgedHelloAreRepeats) {
    const Octets hello = quic_hello("parts.example");
    for (const std::size_t cut : {std::size_t{1}, std::size_t{60}, hello.size() - 1}) {
        Worker worker;
        (void)worker.send(quic_part(hello, 0, 50));
        EXPECT_EQ(worker.send(quic_part(hello, 50, hello.size())).units("handshake"), 1U);
        for (const bool swapped : {false, true, false}) {
            for (const bool second : {swapped, !swapped}) {
                const ProbedPacket again = worker.send(second ? quic_part(hello, cut, hello.size())
                                                              : quic_part(hello, 0, cut));
                EXPECT_EQ(again.kinds, std::vector<std::string>{"packet"});
                EXPECT_EQ(again.dropped, "");
            }
        }
        EXPECT_EQ(worker.send(quic_part(hello, cut, hello.size())).dropped, "");
        // Under the id that the server chose.
        EXPECT_EQ(worker
                      .send(InitialMaker{}
                                .dcid(quic_id(9))
                                .keys_of(quic_id(1))
                                .carries({std::byte{1}})
                                .padded_to(test::kInitialPayload),
                            true, kNow + 20s)
                      .dropped,
                  "");
    }
}

// The box and a server read the same bytes.
TEST(Quic, BytesOfAHalfHelloThatComeAsOthersAreDropped) {
    const Octets hello = quic_hello("a.example");
    const Octets other = quic_hello("b.example");
    Worker worker;
    EXPECT_EQ(worker.send(quic_part(hello, 0, 100)).dropped, "");
    EXPECT_EQ(worker.send(quic_part(other, 0, 100)).dropped, "overlap");
    EXPECT_EQ(worker.send(quic_part(hello, 100, hello.size())).units("handshake"), 1U);
    Worker elsewhere;
    elsewhere.probe.service = nullptr;
    EXPECT_EQ(elsewhere.send(quic_part(hello, 0, 100)).dropped, "");
    EXPECT_EQ(elsewhere.send(quic_part(other, 0, 100)).dropped, "");
}

// The verdict of a packet of the same burst is known when it is the repeated one's turn.
TEST(Quic, ARepeatedInitialFollowsOneThatIsNotDecidedYet) {
    Worker worker;
    const UnitFinder finder = test::quic_finder(worker.quic);
    const Octets frame = quic_frame(quic_initial("a").packet());
    PacketHeaders headers;
    const FrameView view{frame, static_cast<std::uint32_t>(frame.size())};
    parse_frame(view, {}, headers);
    const KeyHasher hash{HashSecret{1, 2}};
    const RequestTexts requests;
    BurstUnits units{finder};
    const UnitSource packet{.headers = headers,
                            .frame = view,
                            .wanted = kQuicTexts,
                            .counted = {Per::Handshake},
                            .requests = requests,
                            .hash = hash,
                            .now = kNow};
    units.find(0, packet);
    units.find(1, packet);
    EXPECT_EQ(units.remembered(), 1U);
    EXPECT_EQ(units.following(), 2U);
    EXPECT_FALSE(units.repeats_refused(1));
}

TEST(Quic, AHelloOverSeveralDatagramsIsOneUnitInEveryCutAndOrder) {
    const Octets hello = quic_hello("Split.Example");
    for (std::size_t cut = 1; cut < hello.size(); cut += 3) {
        for (const bool swapped : {false, true}) {
            Worker worker;
            const InitialMaker parts[] = {quic_part(hello, 0, cut),
                                          quic_part(hello, cut, hello.size()).number(1, 2)};
            const ProbedPacket first = worker.send(parts[swapped ? 1 : 0]);
            EXPECT_EQ(first.kinds, std::vector<std::string>{"packet"});
            EXPECT_EQ(first.dropped, "");
            const ProbedPacket second = worker.send(parts[swapped ? 0 : 1]);
            ASSERT_EQ(second.units("handshake"), 1U) << cut;
            EXPECT_EQ(second.texts.front().at("quic.sni"), "split.example");
            EXPECT_EQ(worker.quic.gauges().half_hellos.read(), 0U);
            EXPECT_EQ(worker.send(parts[0]).units("handshake"), 0U);
        }
    }
}

TEST(Quic, AHelloInManyPiecesInAnyOrderIsOneUnitAtItsLast) {
    const Octets hello = quic_hello("pieces.example");
    constexpr std::size_t kPieces = 8;
    for (unsigned seed = 1; seed <= 20; ++seed) {
        std::mt19937 random{seed};
        std::vector<std::size_t> order(kPieces);
        std::iota(order.begin(), order.end(), 0U);
        std::shuffle(order.begin(), order.end(), random);
        Worker worker;
        for (std::size_t i = 0; i < kPieces; ++i) {
            const std::size_t begin = order[i] * hello.size() / kPieces;
            const std::size_t end = (order[i] + 1) * hello.size() / kPieces;
            EXPECT_EQ(worker.send(quic_part(hello, begin, end)).units("handshake"),
                      i + 1 == kPieces ? 1U : 0U)
                << "seed " << seed;
        }
    }
}

TEST(Quic, CoalescedInitialsAreReadTogether) {
    const Octets hello = quic_hello("both.example");
    Octets datagram = InitialMaker{}.dcid(quic_id(1)).carries(crypto(0, hello, 0, 60)).packet();
    test::put(datagram, quic_part(hello, 60, hello.size()).number(1, 1).packet());
    Worker worker;
    EXPECT_EQ(worker.probe.take(quic_frame(datagram), kNow).units("handshake"), 1U);
}

// After the server has answered, a client speaks to the id that the server chose.
TEST(Quic, AHelloGoesOnUnderTheIdThatAServerChose) {
    const Octets hello = quic_hello("late.example");
    Worker worker;
    (void)worker.send(quic_part(hello, 0, 70));
    const ProbedPacket second =
        worker.send(quic_part(hello, 70, hello.size(), 0xBEEF).keys_of(quic_id(1)).number(2, 1));
    EXPECT_EQ(second.units("handshake"), 1U);
    // The Initial that only acknowledges is under the keys of the first.
    const ProbedPacket third = worker.send(InitialMaker{}
                                               .dcid(quic_id(0xBEEF))
                                               .keys_of(quic_id(1))
                                               .carries({std::byte{1}})
                                               .padded_to(test::kInitialPayload));
    EXPECT_EQ(third.kinds, std::vector<std::string>{"packet"});
    EXPECT_EQ(third.dropped, "");
    EXPECT_EQ(third.events.count("quic_not_authentic"), 0U);
}

// The rest of a hello, sent again under the id that its server chose.
InitialMaker rest_again(const Octets& hello, unsigned server, unsigned client = 1) {
    return quic_part(hello, 70, hello.size(), server).keys_of(quic_id(client)).number(3, 1);
}

TEST(Quic, WhatRepeatsAHelloUnderTheIdThatAServerChoseGoesWhereItWent) {
    const Octets hello = quic_hello("late.example");
    for (const bool under_first : {true, false}) {
        for (const bool forwarded : {true, false}) {
            Worker worker;
            (void)worker.send(quic_part(hello, 0, 70));
            const InitialMaker rest = under_first ? quic_part(hello, 70, hello.size()).number(1, 1)
                                                  : rest_again(hello, 0xBEEF);
            EXPECT_EQ(worker.send(rest, forwarded).units("handshake"), 1U);
            for (unsigned i = 0; i < 3; ++i) {
                const ProbedPacket again = worker.send(rest_again(hello, 0xBEEF));
                EXPECT_EQ(again.units("handshake"), 0U);
                EXPECT_EQ(again.dropped, forwarded ? "" : "retransmission");
            }
            // The same id may lead its server to the hello, by another path too.
            EXPECT_EQ(worker.from("10.0.0.2", rest_again(hello, 0xBEEF)).dropped, "lost_head");
        }
    }
}

// A flood of hellos does not bring it through, whether they come whole or in parts.
TEST(Quic, ARefusedHelloInPartsIsKnownThroughAFlood) {
    const Octets hello = quic_hello("late.example");
    for (const bool in_parts : {true, false}) {
        Worker worker{{.connections = 16, .half_hellos = 4}};
        (void)worker.send(quic_part(hello, 0, 70));
        EXPECT_EQ(worker.send(quic_part(hello, 70, hello.size()), false).units("handshake"), 1U);
        for (unsigned id = 100; id < 200; ++id) {
            const std::string src = "10.0.1." + std::to_string(id);
            (void)worker.from(src, in_parts ? quic_part(hello, 0, 70, id) : quic_initial("a", id));
        }
        EXPECT_EQ(worker.send(rest_again(hello, 0xBEEF)).dropped, "retransmission");
        // Under its own id it is new, and passes when all of it is there.
        EXPECT_EQ(worker.send(quic_part(hello, 70, hello.size())).dropped, "lost_head");
        EXPECT_EQ(worker.send(quic_part(hello, 0, 70)).units("handshake"), 1U);
    }
}

// Where no more paths can be remembered no server may learn a part before the whole.
TEST(Quic, BeyondHalfTheTablePartsWaitForTheWhole) {
    Worker worker{{.connections = 16, .half_hellos = 4}};
    const Octets hello = quic_hello("late.example");
    const auto source = [](unsigned id) { return "10.0.1." + std::to_string(id); };
    unsigned passed = 0;
    for (unsigned id = 0; id < 20; ++id) {
        passed += worker.from(source(id), quic_part(hello, 0, 70, id)).dropped.empty() ? 1U : 0U;
    }
    EXPECT_EQ(passed, 8U);
    EXPECT_EQ(worker.from(source(19), quic_part(hello, 70, hello.size(), 19)).units("handshake"),
              1U);
    EXPECT_EQ(worker.from(source(19), quic_part(hello, 0, 70, 19)).dropped, "");
    // What was forwarded gives its path's place to others, and so does time.
    const Instant late = kNow + 120s;
    for (unsigned id = 0; id < 20; ++id) {
        const Instant now = late + id * 1ms;
        EXPECT_EQ(worker.from(source(id), quic_part(hello, 0, 70, 100 + id), now).dropped, "");
        EXPECT_EQ(
            worker.from(source(id), quic_part(hello, 70, hello.size(), 100 + id), now).dropped, "");
    }
}

TEST(Quic, SeveralConnectionsOfOnePathAreEachJudgedOnce) {
    const Octets hello = quic_hello("one.example");
    Worker worker;
    EXPECT_EQ(worker.send(quic_part(hello, 0, 70, 1)).units("handshake"), 0U);
    EXPECT_EQ(worker.send(quic_part(hello, 0, 70, 2)).units("handshake"), 0U);
    EXPECT_EQ(worker.send(quic_part(hello, 70, hello.size(), 1)).units("handshake"), 1U);
    // Which of them goes on under an unknown id nobody can tell: it does not pass.
    EXPECT_EQ(worker
                  .send(InitialMaker{}
                            .dcid(quic_id(9))
                            .keys_of(quic_id(7))
                            .carries({std::byte{1}})
                            .padded_to(test::kInitialPayload))
                  .dropped,
              "lost_head");
    EXPECT_EQ(worker.send(quic_part(hello, 70, hello.size(), 2)).units("handshake"), 1U);
}

// After a Retry a client sends the same hello to the id that the server chose, with a token. Where
// servers are not heard none is seen.
TEST(Quic, TheHelloAfterARetryIsTheSameHandshake) {
    Service inbound = *test::enforced_service(ServiceProtocol::Quic);
    inbound.path = ServicePath::Inbound;
    for (const bool forwarded : {true, false}) {
        Worker worker;
        worker.probe.service = &inbound;
        EXPECT_EQ(worker.send(quic_initial("a", 1), forwarded).units("handshake"), 1U);
        const InitialMaker after = quic_initial("a", 2).token(Octets(16, std::byte{9}));
        const ProbedPacket retried = worker.send(after);
        EXPECT_EQ(retried.kinds, std::vector<std::string>{"packet"});
        EXPECT_EQ(retried.texts.front().at("quic.sni"), "a");
        EXPECT_EQ(retried.dropped, forwarded ? "" : "retransmission");
        EXPECT_EQ(worker.send(after).dropped, forwarded ? "" : "retransmission");
        // Once: whoever goes on so begins new connections.
        EXPECT_EQ(worker.send(quic_initial("a", 3).token(Octets(16))).units("handshake"), 1U);
    }
}

TEST(Quic, LongHeadersHaveTheirFieldsWhateverTheyCarry) {
    struct Row {
        const char* name;
        Octets datagram;
        std::uint16_t dport;
        Texts texts;  // none: it is not QUIC
    };
    Octets handshake = test::from_hex(
        "e000000001"
        "04d1d1d1d1"
        "00"
        "05"
        "0011223344");
    const Octets retry = test::from_hex(
        "f000000001"
        "00"
        "04d1d1d1d1"
        "aabb"
        "00112233445566778899aabbccddeeff");
    const Octets negotiation = test::from_hex(
        "8000000000"
        "00"
        "04d1d1d1d1"
        "00000001");
    const Octets other = test::from_hex(
        "c0babababa"
        "00"
        "04d1d1d1d1"
        "0000");
    const Octets draft = test::from_hex(
        "c0ff00001d"
        "00"
        "04d1d1d1d1"
        "0000");
    const auto texts = [](const char* type, const char* version, const char* token) {
        return Texts{{"proto.l7", "quic"},
                     {"quic.packet_type", type},
                     {"quic.version", version},
                     {"quic.token_len", token}};
    };
    const Row rows[] = {
        {"a handshake packet", handshake, 443, texts("handshake", "1", "0")},
        {"on another port", handshake, 8443, texts("handshake", "1", "0")},
        {"a retry", retry, 443, texts("retry", "1", "2")},
        {"a version negotiation", negotiation, 443, texts("version_negotiation", "0", "0")},
        {"another version", other, 443, texts("other_version", "3132799674", "0")},
        {"another version on another port", other, 8443, {}},
        {"a short header", Octets(40, std::byte{0x41}), 443, {}},
        {"half a header", {handshake.begin(), handshake.begin() + 9}, 443, {}},
        {"nothing", {}, 443, {}},
        {"a version that servers may have", draft, 443, texts("other_version", "4278190109", "0")},
        {"the same on another port", draft, 8443, {}},
    };
    const auto is_refused_of_a_service = [](const Row& row) {
        return std::string_view{row.name}.starts_with("half") ||
               row.name == std::string_view{"a version that servers may have"} ||
               row.name == std::string_view{"the same on another port"};
    };
    for (const Row& row : rows) {
        const Octets frame = quic_frame(row.datagram, "10.0.0.1", 40'000, row.dport);
        Worker of_service;
        EXPECT_EQ(of_service.probe.take(frame, kNow).dropped,
                  is_refused_of_a_service(row) ? "unreadable" : "")
            << row.name;
        Worker worker;
        worker.probe.service = nullptr;
        const ProbedPacket probed = worker.probe.take(frame, kNow);
        ASSERT_EQ(probed.kinds.size(), row.texts.empty() ? 0U : 1U) << row.name;
        if (!row.texts.empty()) {
            EXPECT_EQ(probed.kinds.front(), "packet") << row.name;
            EXPECT_EQ(probed.texts.front(), row.texts) << row.name;
        }
        EXPECT_EQ(probed.dropped, "") << row.name;
    }
}

TEST(Quic, WhatNobodyReadsIsNotDecrypted) {
    Worker worker;
    worker.probe.wanted = {TextField::ProtoL7, TextField::QuicVersion};
    worker.probe.counts_handshakes = false;
    const ProbedPacket probed = worker.send(quic_initial("a"));
    EXPECT_EQ(probed.kinds, std::vector<std::string>{"packet"});
    EXPECT_EQ(probed.events, (std::map<std::string, unsigned>{{"quic_packet", 1}}));
    EXPECT_EQ(worker.quic.gauges().hellos.read(), 0U);
    worker.probe.counts_handshakes = true;
    EXPECT_EQ(worker.send(quic_initial("a")).units("handshake"), 1U);
    worker.probe.counts_handshakes = false;
    worker.probe.wanted = {TextField::QuicSni};
    EXPECT_EQ(worker.send(quic_initial("a", 2)).units("handshake"), 1U);
}

TEST(Quic, WhatServersDropIsNotDecrypted) {
    Worker worker;
    const Octets hello = quic_hello("a");
    const ProbedPacket probed =
        worker.send(InitialMaker{}.dcid(quic_id(1)).carries(crypto(0, hello)).padded_to(1000));
    EXPECT_TRUE(probed.kinds.empty());
    EXPECT_EQ(probed.dropped, "unreadable");
    EXPECT_EQ(probed.events.at("quic_short"), 1U);
}

TEST(Quic, WhatIsMalformedIsDroppedAndCounted) {
    struct Row {
        const char* event;
        const char* reason;
        Octets frames;
    };
    const Octets bad_name = test::HelloMaker{}.sni(std::string(256, 'a')).message();
    const Octets no_ciphers = test::HelloMaker{}.ciphers({}).message();
    const Octets finished(40, std::byte{20});
    Octets pieces;
    for (std::uint64_t i = 0; i < 40; ++i) {
        test::put(pieces, crypto(1 + 2 * i, Octets(1)));
    }
    const Row rows[] = {
        {"hello_bad_server_name", "unreadable_hello", crypto(0, bad_name)},
        {"hello_bad_cipher_suites", "malformed_hello", crypto(0, no_ciphers)},
        {"quic_malformed", "malformed_hello", crypto(0, finished)},
        {"quic_malformed", "malformed_hello", Octets(1, std::byte{0x1E})},
        {"quic_malformed", "too_many_pieces", pieces},
        {"quic_too_long", "head_too_long", crypto(8190, Octets(40))},
    };
    for (const Row& row : rows) {
        Worker worker;
        const ProbedPacket probed = worker.send(
            InitialMaker{}.dcid(quic_id(1)).carries(row.frames).padded_to(test::kInitialPayload));
        EXPECT_EQ(probed.dropped, row.reason) << row.event;
        EXPECT_EQ(probed.events.at(row.event), 1U) << row.event;
        EXPECT_EQ(probed.units("handshake"), 0U);
    }
}

// The rest of a hello that was given up does not pass, under whichever id; the whole of it is
// judged.
TEST(Quic, WhatTookTooLongIsGivenUp) {
    const Octets hello = quic_hello("slow.example");
    Worker worker;
    (void)worker.send(quic_part(hello, 0, 70));
    const Instant late = kNow + 11s;
    const InitialMaker rest = quic_part(hello, 70, hello.size());
    const ProbedPacket second = worker.send(rest, true, late);
    EXPECT_EQ(second.units("handshake"), 0U);
    EXPECT_EQ(second.dropped, "lost_head");
    EXPECT_EQ(second.events.at("quic_given_up"), 1U);
    const ProbedPacket other =
        worker.send(quic_part(hello, 70, hello.size(), 0xBEEF).keys_of(quic_id(2)), true, late);
    EXPECT_EQ(other.dropped, "lost_head");
    EXPECT_EQ(worker.send(quic_part(hello, 0, 70), true, late).units("handshake"), 1U);
    // In the end all of it is forgotten.
    for (int i = 0; i < 4; ++i) {
        (void)worker.from("10.9.9.9", quic_initial("b", 50), late + 61s + i * 1s);
    }
    EXPECT_EQ(worker.quic.gauges().hellos.read(), 2U);
}

TEST(Quic, ASourceHasItsShareOfHalfHellos) {
    Worker worker{{.connections = 256, .half_hellos = 16, .half_hellos_per_source = 4}};
    const Octets hello = quic_hello("flood.example");
    unsigned given_up = 0;
    for (unsigned id = 0; id < 20; ++id) {
        given_up += worker.send(quic_part(hello, 0, 70, id)).events["quic_given_up"];
    }
    EXPECT_EQ(worker.quic.gauges().half_hellos.read(), 4U);
    EXPECT_EQ(given_up, 16U);
    (void)worker.from("10.0.0.2", quic_part(hello, 0, 70));
    EXPECT_EQ(worker.quic.gauges().half_hellos.read(), 5U);
    EXPECT_EQ(worker.from("10.0.0.2", quic_part(hello, 70, hello.size())).units("handshake"), 1U);
}

TEST(Quic, WhereThereIsNoRoomTheSourceWithMostLosesItsOldest) {
    Worker worker{{.connections = 256, .half_hellos = 8, .half_hellos_per_source = 8}};
    const Octets hello = quic_hello("full.example");
    const auto first = [&](std::string_view src, unsigned id) {
        return worker.from(src, quic_part(hello, 0, 70, id));
    };
    const auto second = [&](std::string_view src, unsigned id) {
        return worker.from(src, quic_part(hello, 70, hello.size(), id));
    };
    (void)first("10.0.0.1", 100);
    for (unsigned id = 0; id < 7; ++id) {
        (void)first("10.0.0.2", id);
    }
    EXPECT_EQ(first("10.0.0.3", 200).events.at("quic_given_up"), 1U);
    EXPECT_EQ(worker.quic.gauges().half_hellos.read(), 8U);
    EXPECT_EQ(second("10.0.0.1", 100).units("handshake"), 1U);
    EXPECT_EQ(second("10.0.0.3", 200).units("handshake"), 1U);
    EXPECT_EQ(second("10.0.0.2", 0).dropped, "lost_head");
    EXPECT_EQ(second("10.0.0.2", 6).units("handshake"), 1U);
}

TEST(Quic, AFullTableForgetsTheLongestSilent) {
    Worker worker{{.connections = 16, .half_hellos = 4}};
    unsigned forgotten = 0;
    for (unsigned id = 0; id < 100; ++id) {
        const ProbedPacket probed = worker.send(quic_initial("a" + std::to_string(id), id));
        EXPECT_EQ(probed.units("handshake"), 1U);
        const auto count = probed.events.find("quic_forgotten");
        forgotten += count == probed.events.end() ? 0 : count->second;
    }
    EXPECT_LE(worker.quic.gauges().hellos.read(), 16U);
    EXPECT_EQ(forgotten, 200U - 16U);
    EXPECT_EQ(worker.send(quic_initial("a99", 99)).units("handshake"), 0U);
    EXPECT_EQ(worker.send(quic_initial("a0", 0)).units("handshake"), 1U);
}

// What was given up does not go on as something new, however many hellos come meanwhile.
TEST(Quic, TheRestOfAGivenUpHelloIsKnownThroughAFlood) {
    Worker worker{{.connections = 16, .half_hellos = 4}};
    const Octets hello = quic_hello("slow.example");
    EXPECT_EQ(worker.send(quic_part(hello, 0, 70, 7)).dropped, "");
    const Instant late = kNow + 11s;
    for (unsigned id = 100; id < 120; ++id) {
        (void)worker.from("10.0.0.2", quic_initial("a" + std::to_string(id), id), late);
    }
    EXPECT_EQ(worker.send(rest_again(hello, 0xBEEF, 7), true, late).dropped, "lost_head");
    EXPECT_EQ(worker.send(quic_part(hello, 70, hello.size(), 7), true, late).dropped, "lost_head");
    const ProbedPacket whole = worker.send(quic_part(hello, 0, 70, 7), true, late);
    EXPECT_EQ(whole.units("handshake"), 1U);
    EXPECT_EQ(whole.dropped, "");
    // Of others nothing waits.
    EXPECT_EQ(worker.from("10.0.0.3", quic_part(hello, 0, 70, 8), late).dropped, "");
}

// A flood of Initials costs the worker's share of time, and no more.
TEST(Quic, DecryptionHasItsShareOfTime) {
    Worker worker{{.connections = 4096, .half_hellos = 16, .percent = 10}};
    const auto saved = static_cast<unsigned>(OpeningTime::kMostSaved / 10 / kInitialCost);
    unsigned judged = 0;
    unsigned over = 0;
    for (unsigned id = 0; id < saved + 50; ++id) {
        const ProbedPacket probed =
            worker.send(quic_initial("a" + std::to_string(id), id), id != 0);
        judged += probed.units("handshake") == 1 ? 1U : 0U;
        if (probed.events.contains("quic_over_budget")) {
            ++over;
            EXPECT_EQ(probed.dropped, "initial_budget");
            EXPECT_EQ(probed.kinds, std::vector<std::string>{"packet"});
        }
    }
    EXPECT_EQ(judged, saved);
    EXPECT_EQ(over, 50U);
    // A refused connection is known without decrypting, a repeat by its bytes; and time brings
    // more, a tenth of it.
    EXPECT_EQ(worker.send(quic_initial("a0", 0)).dropped, "retransmission");
    EXPECT_EQ(worker.send(quic_initial("a1", 1)).dropped, "initial_budget");
    judged = 0;
    for (unsigned id = 0; id < 50; ++id) {
        judged += worker.send(quic_initial("b" + std::to_string(id), 2000 + id), true, kNow + 1ms)
                              .units("handshake") == 1
                      ? 1U
                      : 0U;
    }
    EXPECT_EQ(judged, 1'000'000U / 10 / 4'000);
}

TEST(Quic, DamagedInitialsSpendTheSameTime) {
    Worker worker{{.connections = 256, .half_hellos = 16, .percent = 1}};
    const auto saved = static_cast<unsigned>(OpeningTime::kMostSaved / 100 / kInitialCost);
    unsigned tried = 0;
    for (unsigned id = 0; id < saved + 20; ++id) {
        Octets datagram = quic_initial("a", id).packet();
        datagram.back() ^= std::byte{1};
        const ProbedPacket probed = worker.probe.take(quic_frame(datagram), kNow);
        const bool was_tried = probed.events.contains("quic_not_authentic");
        tried += was_tried ? 1U : 0U;
        EXPECT_EQ(probed.dropped, was_tried ? "lost_head" : "initial_budget");
    }
    EXPECT_EQ(tried, saved);
}

}  // namespace
}  // namespace sluice::quic_units_test
