#include "lib/l7/quic/initial_reader.hpp"

#include "lib/l7/tls/ja4.hpp"
#include "tests/unit/l7/hello_maker.hpp"
#include "tests/unit/l7/quic/initial_maker.hpp"
#include "tests/unit/l7/quic/rfc_packets.hpp"

#include <gtest/gtest.h>

namespace sluice::initial_reader_test {
namespace {

using test::crypto;
using test::from_hex;
using test::HelloMaker;
using test::InitialMaker;
using test::Octets;
using test::put;

constexpr std::size_t kRoom = 4096;

struct Reader {
    explicit Reader(std::size_t size = kRoom, std::uint32_t initials = 100)
        : room(size), stream{room}, budget{initials} {}
    std::string_view read(const Octets& datagram) {
        last = reader.read(datagram, stream, budget, hello);
        return outcome();
    }
    std::string_view read_on(const Octets& datagram, const ConnectionId& id) {
        last = reader.read_on(datagram, id, stream, budget, hello);
        return outcome();
    }
    [[nodiscard]] std::string_view outcome() const {
        return kQuicHelloOutcomes[static_cast<std::size_t>(last.outcome)].name;
    }
    InitialReader reader{*InitialOpener::make()};
    Octets room;
    CryptoStream stream;
    InitialBudget budget;
    ClientHello hello;
    QuicHelloRead last;
};

Octets usual_hello() {
    return HelloMaker{}.sni("Quic.Example").alpn({"h3"}).versions({0x0304}).message();
}
Octets whole(const Octets& hello) {
    return crypto(0, hello);
}

TEST(InitialReader, ReadsThePacketsOfTheStandards) {
    for (const auto& [packet, version] :
         {std::pair{test::kRfc9001Initial, kQuicV1}, std::pair{test::kRfc9369Initial, kQuicV2}}) {
        Reader reader;
        EXPECT_EQ(reader.read(from_hex(packet)), "whole");
        EXPECT_EQ(reader.hello.server_name.text(), "example.com");
        EXPECT_EQ(reader.last.version, version);
        EXPECT_TRUE(std::ranges::equal(reader.last.client_dcid.bytes(), from_hex(test::kRfcDcid)));
        EXPECT_TRUE(std::ranges::equal(reader.stream.contiguous(), from_hex(test::kRfcHello)));
        EXPECT_EQ(reader.budget.left(), 99U);
    }
}

TEST(InitialReader, TheSameIdHasOtherKeysInAnotherVersion) {
    const Octets hello = usual_hello();
    const auto second_half = crypto(60, hello, 60, hello.size());
    for (const auto& [first, second] : {std::pair{kQuicV1, kQuicV2}, std::pair{kQuicV2, kQuicV1}}) {
        Octets datagram = InitialMaker{}.version(first).carries(crypto(0, hello, 0, 60)).packet();
        put(datagram, InitialMaker{}.version(second).number(1, 1).carries(second_half).packet());
        Reader reader;
        EXPECT_EQ(reader.read(datagram), "whole");
        EXPECT_EQ(reader.last.version, second);
    }
}

// Each byte of a packet is covered, its header too.
TEST(InitialReader, AChangedBitIsNotAuthentic) {
    const Octets packet = InitialMaker{}.carries(whole(usual_hello())).packet();
    Reader reader{kRoom, 10'000};
    for (std::size_t at = 0; at < packet.size(); ++at) {
        for (const unsigned bit : {0x01U, 0x08U}) {
            Octets changed = packet;
            changed[at] ^= static_cast<std::byte>(bit);
            const std::string_view outcome = reader.read(changed);
            ASSERT_TRUE(outcome == "not_authentic" || outcome == "no_initial") << at << outcome;
            ASSERT_TRUE(reader.stream.empty());
        }
    }
    EXPECT_EQ(reader.read(packet), "whole");
}

TEST(InitialReader, NumbersHaveOneToFourBytes) {
    for (std::size_t bytes = 1; bytes <= 4; ++bytes) {
        for (const std::uint32_t version : {kQuicV1, kQuicV2}) {
            Reader reader;
            const Octets packet = InitialMaker{}
                                      .version(version)
                                      .number(200 + (bytes > 2 ? 70'000U : 0U), bytes)
                                      .token(Octets(70, std::byte{9}))
                                      .carries(whole(usual_hello()))
                                      .packet();
            EXPECT_EQ(reader.read(packet), "whole") << bytes;
            EXPECT_EQ(reader.hello.server_name.text(), "quic.example");
        }
    }
}

// PING, ACK with two ranges, ACK with ECN, CONNECTION_CLOSE, PADDING.
TEST(InitialReader, OtherFramesAreSteppedOver) {
    const Octets hello = usual_hello();
    Octets frames = from_hex("01");
    put(frames, from_hex("02441010020a01020304"));
    put(frames, crypto(20, hello, 20, hello.size()));
    put(frames, from_hex("030500000001024100"));
    put(frames, from_hex("1c020603616263"));
    put(frames, crypto(0, hello, 0, 20));
    Reader reader;
    EXPECT_EQ(reader.read(InitialMaker{}.carries(frames).padded_to(1100).packet()), "whole");
    EXPECT_EQ(reader.hello.server_name.text(), "quic.example");
}

TEST(InitialReader, PaddingOfAnyLengthEndsWhereAFrameBegins) {
    const Octets hello = usual_hello();
    for (std::size_t size = 0; size < 40; ++size) {
        Octets frames = from_hex("01");
        frames.resize(1 + size);
        put(frames, whole(hello));
        frames.resize(frames.size() + size);
        Reader reader;
        ASSERT_EQ(reader.read(InitialMaker{}.carries(frames).packet()), "whole") << size;
    }
}

struct Row {
    std::string_view name;
    Octets frames;
    std::string_view outcome;
};

std::vector<Row> rows() {
    const Octets hello = usual_hello();
    return {
        {"no bytes of the handshake", from_hex("0100000000"), "no_crypto"},
        {"some from further on", crypto(50, hello, 50, 60), "need_more"},
        {"the beginning", crypto(0, hello, 0, 100), "need_more"},
        {"STREAM", from_hex("080001020304"), "bad_frame"},
        {"CONNECTION_CLOSE of an application", from_hex("1d00000000"), "bad_frame"},
        {"a CRYPTO that goes on", from_hex("06004010010203"), "bad_frame"},
        {"an ACK that goes on", from_hex("02000005000000"), "bad_frame"},
        {"an ACK of 2^62 ranges", from_hex("0200 00ffffffffffffffff00"), "bad_frame"},
        {"a hello, and then what must not be there",
         [&] {
             Octets frames = whole(hello);
             put(frames, from_hex("08"));
             return frames;
         }(),
         "bad_frame"},
        {"a server's hello", crypto(0, from_hex("02000010")), "other_handshake"},
        {"a malformed hello", whole(HelloMaker{}.ciphers({}).message()), "malformed"},
        {"a hello for which there is no room", crypto(0, from_hex("01002000")), "beyond_room"},
        {"bytes for which there is none", crypto(kRoom - 2, Octets(10)), "beyond_room"},
        {"pieces",
         [&] {
             Octets frames;
             for (std::size_t i = 0; i <= CryptoStream::kMaxPieces; ++i) {
                 put(frames, crypto(4 * i, Octets(1, std::byte{1})));
             }
             return frames;
         }(),
         "too_many_pieces"},
        {"bytes that come as others in one packet",
         [&] {
             Octets frames = crypto(50, hello, 50, 60);
             put(frames, crypto(52, Octets(1, std::byte{0xEE})));
             return frames;
         }(),
         "differs"},
    };
}

TEST(InitialReader, OutcomesAreWhatTheFramesAre) {
    for (const Row& row : rows()) {
        Reader reader;
        EXPECT_EQ(reader.read(InitialMaker{}.carries(row.frames).packet()), row.outcome)
            << row.name;
    }
}

TEST(InitialReader, NoFramesAtAllIsNotAllowed) {
    Reader reader;
    EXPECT_EQ(reader.read(InitialMaker{}.number(0, 4).packet()), "bad_frame");
}

TEST(InitialReader, AHelloOverTwoDatagramsInEitherOrder) {
    const Octets hello = usual_hello();
    for (const std::uint32_t version : {kQuicV1, kQuicV2}) {
        for (std::size_t cut = 1; cut < hello.size(); ++cut) {
            const Octets first = InitialMaker{}
                                     .version(version)
                                     .carries(crypto(0, hello, 0, cut))
                                     .padded_to(99)
                                     .packet();
            const Octets second = InitialMaker{}
                                      .version(version)
                                      .number(1, 1)
                                      .carries(crypto(cut, hello, cut, hello.size()))
                                      .packet();
            Reader forwards;
            ASSERT_EQ(forwards.read(first), "need_more");
            ASSERT_EQ(forwards.read(second), "whole");
            Reader backwards;
            ASSERT_EQ(backwards.read(second), "need_more");
            ASSERT_EQ(backwards.read(first), "whole");
            ASSERT_EQ(backwards.hello.server_name.text(), "quic.example");
        }
    }
}

// The second Initial goes to the id that the server chose, under the keys of the first.
TEST(InitialReader, KeysAreThoseOfTheFirstId) {
    const Octets hello = usual_hello();
    const Octets chosen(5, std::byte{0x77});
    const Octets first = InitialMaker{}.carries(crypto(0, hello, 0, 50)).packet();
    const Octets second = InitialMaker{}
                              .dcid(chosen)
                              .keys_of(Octets(8, std::byte{0xD1}))
                              .number(1, 2)
                              .carries(crypto(50, hello, 50, hello.size()))
                              .packet();
    Reader reader;
    ASSERT_EQ(reader.read(first), "need_more");
    const ConnectionId id = reader.last.client_dcid;
    EXPECT_EQ(reader.read(second), "not_authentic");
    EXPECT_EQ(reader.read_on(second, id), "whole");
}

TEST(InitialReader, InitialsOfOneDatagramCountTogether) {
    const Octets hello = usual_hello();
    Octets datagram = InitialMaker{}.carries(crypto(0, hello, 0, 50)).packet();
    Octets broken = InitialMaker{}.number(7, 1).carries(crypto(50, Octets(90))).packet();
    broken.back() ^= std::byte{1};
    put(datagram, broken);
    put(datagram,
        InitialMaker{}.number(1, 1).carries(crypto(50, hello, 50, hello.size())).packet());
    Reader reader;
    EXPECT_EQ(reader.read(datagram), "whole");
    EXPECT_EQ(reader.budget.left(), 97U);
}

TEST(InitialReader, OfOneDatagramSoManyAreOpened) {
    const Octets one = InitialMaker{}.carries(from_hex("01000000")).packet();
    Octets datagram;
    for (std::size_t i = 0; i < InitialReader::kMaxInitials; ++i) {
        put(datagram, one);
    }
    Reader reader;
    EXPECT_EQ(reader.read(datagram), "no_crypto");
    put(datagram, InitialMaker{}.carries(whole(usual_hello())).packet());
    EXPECT_EQ(reader.read(datagram), "too_many_initials");
    EXPECT_EQ(reader.budget.left(), 100U - 2 * InitialReader::kMaxInitials);
}

TEST(InitialReader, WithoutBudgetNothingIsOpened) {
    const Octets packet = InitialMaker{}.carries(whole(usual_hello())).packet();
    Reader reader{kRoom, 1};
    EXPECT_EQ(reader.read(from_hex("c0fa1a2a3a021122013399")), "no_initial");
    EXPECT_EQ(reader.budget.left(), 1U);
    EXPECT_EQ(reader.read(packet), "whole");
    reader.stream.clear();
    EXPECT_EQ(reader.read(packet), "over_budget");
    EXPECT_TRUE(reader.stream.empty());
    reader.budget = InitialBudget{1};
    EXPECT_EQ(reader.read(packet), "whole");
}

}  // namespace
}  // namespace sluice::initial_reader_test
