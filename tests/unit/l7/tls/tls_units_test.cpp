#include "lib/l7/tls/tls_units.hpp"
#include "lib/l7/stream/unit_parser.hpp"
#include "lib/l7/tls/hello_texts.hpp"
#include "lib/l7/tls/tls_stream.hpp"
#include "tests/unit/l7/hello_maker.hpp"
#include "tests/unit/l7/stream/unit_probe.hpp"

#include <gtest/gtest.h>

namespace sluice::tls_units_test {
namespace {

using test::HelloMaker;
using test::Octets;
using test::ProbedPacket;
using test::segment;
using test::UnitProbe;
using namespace std::chrono_literals;
using Texts = std::map<std::string, std::string>;

constexpr Instant kNow{std::chrono::hours{1}};

HelloMaker hello() {
    return HelloMaker{}.sni("WWW.Example.com").alpn({"h2", "http/1.1"});
}
Octets part(const Octets& bytes, std::size_t from, std::size_t to) {
    return {bytes.begin() + static_cast<std::ptrdiff_t>(from),
            bytes.begin() + static_cast<std::ptrdiff_t>(to)};
}
Octets record(unsigned type, const Octets& content) {
    Octets out;
    test::put8(out, type);
    test::put16(out, 0x0303);
    test::put(out, test::behind16(content));
    return out;
}
Octets cipher_change() {
    return record(20, Octets(1, std::byte{1}));
}

constexpr bool kOfService = true;
constexpr bool kElsewhere = false;

// The segments of one connection, in the order in which they are sent.
class Connection {
public:
    explicit Connection(bool of_service = kOfService) {
        probe.service = of_service ? test::enforced_service(ServiceProtocol::Tls) : nullptr;
    }

    ProbedPacket send(const Octets& payload, bool forwarded = true) {
        const ProbedPacket probed = take(next_, payload, forwarded);
        next_ += static_cast<std::uint32_t>(payload.size());
        return probed;
    }
    ProbedPacket take(std::uint32_t seq, const Octets& payload, bool forwarded = true,
                      Instant now = kNow) {
        if (!is_open_) {
            (void)probe.take(test::opening(seq, 443, sport_), now);
            is_open_ = true;
        }
        return probe.take(segment(seq, payload, 443, sport_), now, forwarded);
    }
    // The next one at the same box.
    void begin_another() {
        ++sport_;
        is_open_ = false;
        next_ = 1000;
    }

    UnitParser parser{test::small_unit_budget()};
    UnitProbe probe{parser.finder()};

private:
    std::uint16_t sport_ = 40'000;
    std::uint32_t next_ = 1000;
    bool is_open_ = false;
};

TEST(Tls, AHelloIsAHandshakeWithItsTexts) {
    Connection connection;
    const ProbedPacket probed = connection.send(hello().records());
    ASSERT_EQ(probed.kinds, std::vector<std::string>{"handshake"});
    Texts texts = probed.texts.front();
    EXPECT_EQ(texts["tls.ja4"].substr(0, 10), "t12d0202h2");
    texts.erase("tls.ja4");
    EXPECT_EQ(texts, (Texts{{"proto.l7", "tls"},
                            {"proto.scheme", "https"},
                            {"tls.handshake.type", "1"},
                            {"tls.sni", "www.example.com"},
                            {"tls.alpn", "h2"}}));
    EXPECT_EQ(probed.events, (std::map<std::string, unsigned>{{"tls_hello", 1}}));
    EXPECT_TRUE(probed.remembered);
}

TEST(Tls, WhatAHelloDoesNotSayIsAbsent) {
    Connection connection;
    connection.probe.wanted = {TextField::TlsSni, TextField::TlsAlpn};
    const ProbedPacket probed = connection.send(HelloMaker{}.records());
    ASSERT_EQ(probed.kinds, std::vector<std::string>{"handshake"});
    EXPECT_EQ(probed.texts.front(),
              (Texts{{"proto.l7", "tls"}, {"proto.scheme", "https"}, {"tls.handshake.type", "1"}}));
}

TEST(Tls, AHelloIsOneUnitWhereverItIsCut) {
    Connection connection;
    for (const std::size_t most : {std::size_t{16'384}, std::size_t{50}}) {
        const Octets stream = hello().records(most);
        for (std::size_t cut = 1; cut < stream.size(); ++cut) {
            connection.begin_another();
            const ProbedPacket first = connection.send(part(stream, 0, cut));
            EXPECT_EQ(first.kinds.size(), 0U) << "cut at " << cut;
            EXPECT_EQ(first.dropped, "") << "cut at " << cut;
            const ProbedPacket second = connection.send(part(stream, cut, stream.size()));
            ASSERT_EQ(second.units("handshake"), 1U) << "cut at " << cut;
            EXPECT_EQ(second.texts.front().at("tls.sni"), "www.example.com");
            EXPECT_EQ(second.texts.front().at("tls.alpn"), "h2");
        }
    }
}

TEST(Tls, AHelloInSingleBytesIsOneUnitAtItsLast) {
    const Octets stream = hello().records();
    Connection connection;
    for (std::size_t at = 0; at < stream.size(); ++at) {
        const ProbedPacket probed = connection.send(part(stream, at, at + 1));
        EXPECT_EQ(probed.units("handshake"), at + 1 == stream.size() ? 1U : 0U) << at;
    }
}

TEST(Tls, ARepeatedHelloIsNoUnitAndGoesWhereItsFirstWent) {
    for (const bool forwarded : {true, false}) {
        Connection connection;
        const Octets stream = hello().records();
        EXPECT_EQ(connection.take(1, stream, forwarded).units("handshake"), 1U);
        const ProbedPacket again = connection.take(1, stream);
        EXPECT_EQ(again.kinds.size(), 0U);
        EXPECT_EQ(again.dropped, forwarded ? "" : "retransmission");
    }
}

struct SecondHello {
    const char* name;
    std::vector<Octets> between;  // the first hello and the second
    bool early_data;
    bool found;
};
const SecondHello kSecondHellos[] = {
    {"at once", {}, false, true},
    {"behind a change of cipher", {cipher_change()}, false, true},
    {"behind several", {cipher_change(), cipher_change()}, false, true},
    {"behind an alert in clear", {record(21, test::from_hex("015a"))}, false, true},
    {"behind an alert and a change of cipher",
     {record(21, test::from_hex("015a")), cipher_change()},
     false,
     true},
    {"behind an alert that is encrypted", {record(21, Octets(24))}, false, false},
    {"behind early data that was announced",
     {cipher_change(), record(23, Octets(300)), record(23, Octets(5000))},
     true,
     true},
    {"behind early data that was not", {record(23, Octets(300))}, false, false},
    {"behind more early data than is stepped over",
     {record(23, Octets(16'000)), record(23, Octets(16'000)), record(23, Octets(16'000)),
      record(23, Octets(16'000)), record(23, Octets(16'000)), record(23, Octets(16'000))},
     true,
     false},
    {"behind another handshake message", {record(22, Octets(40, std::byte{16}))}, false, false},
    {"behind an empty record", {record(22, {})}, false, true},
    {"behind what is no record", {Octets(40, std::byte{0x80})}, false, false},
};

TEST(Tls, ASecondHelloHasTextsAndIsNoHandshake) {
    for (const SecondHello& row : kSecondHellos) {
        SCOPED_TRACE(row.name);
        Connection connection;
        HelloMaker first = hello();
        if (row.early_data) {
            first.extension(42, {});
        }
        EXPECT_EQ(connection.send(first.records()).units("handshake"), 1U);
        for (const Octets& bytes : row.between) {
            const ProbedPacket probed = connection.send(bytes);
            EXPECT_EQ(probed.kinds.size(), 0U);
            EXPECT_EQ(probed.dropped, "");
            EXPECT_FALSE(probed.remembered);
        }
        const ProbedPacket second = connection.send(hello().versions({0x0304}).records());
        ASSERT_EQ(second.units("handshake"), 0U);
        ASSERT_EQ(second.units("packet"), row.found ? 1U : 0U);
        if (row.found) {
            EXPECT_EQ(second.texts.front().at("tls.sni"), "www.example.com");
            EXPECT_EQ(second.events.at("tls_second_hello"), 1U);
            EXPECT_EQ(second.events.count("tls_other_hello"), 0U);
        }
    }
}

// A server goes by the name in the second hello, which no honest client changes.
TEST(Tls, ASecondHelloThatAsksForAnotherIsAHandshake) {
    const HelloMaker others[] = {
        HelloMaker{}.sni("other.example").alpn({"h2", "http/1.1"}),
        HelloMaker{}.sni("WWW.Example.com").alpn({"http/1.1"}),
        HelloMaker{}.sni("WWW.Example.com"),
        HelloMaker{}.alpn({"h2", "http/1.1"}),
        HelloMaker{},
    };
    for (const bool of_service : {kOfService, kElsewhere}) {
        for (const bool changes_cipher : {false, true}) {
            Connection connection{of_service};
            for (const HelloMaker& other : others) {
                connection.begin_another();
                EXPECT_EQ(connection.send(hello().records()).units("handshake"), 1U);
                if (changes_cipher) {
                    (void)connection.send(cipher_change());
                }
                const ProbedPacket second = connection.send(other.records());
                EXPECT_EQ(second.units("handshake"), 1U);
                EXPECT_EQ(second.events.at("tls_other_hello"), 1U);
            }
        }
    }
}

TEST(Tls, ASecondHelloIsFoundWhereverItsRecordsAreCut) {
    Octets behind = cipher_change();
    test::put(behind, HelloMaker{}.sni("other.example").records(60));
    Connection connection;
    // It asks for another name, so it is a handshake.
    for (std::size_t cut = 1; cut < behind.size(); ++cut) {
        connection.begin_another();
        (void)connection.send(hello().records());
        const ProbedPacket first = connection.send(part(behind, 0, cut));
        const ProbedPacket second = connection.send(part(behind, cut, behind.size()));
        EXPECT_EQ(first.units("handshake") + second.units("handshake"), 1U) << "cut at " << cut;
    }
}

TEST(Tls, EncryptedRecordsAreNotHeldAndNothingIsFoundInThem) {
    Connection connection;
    (void)connection.send(hello().records());
    Octets flight = cipher_change();
    test::put(flight, record(23, Octets(58)));
    EXPECT_EQ(connection.send(flight).kinds.size(), 0U);
    EXPECT_EQ(connection.send(hello().records()).kinds.size(), 0U);
    EXPECT_EQ(connection.take(900'000, test::octets_of("GET / HTTP/1.1\r\n\r\n")).kinds.size(), 0U);
    EXPECT_EQ(connection.parser.connections().half_heads.read(), 0U);
}

struct Malformed {
    const char* event;
    Octets stream;
};
std::vector<Malformed> malformed_hellos() {
    return {
        {"hello_bad_cipher_suites", HelloMaker{}.ciphers({}).records()},
        {"hello_bad_compression", HelloMaker{}.compression({}).records()},
        {"hello_repeated_extension", HelloMaker{}.sni("a").sni("b").records()},
        {"hello_bad_version", HelloMaker{}.legacy_version(0x0200).records()},
        {"hello_bad_extensions", HelloMaker{}.trailing(Octets(3)).records()},
    };
}

TEST(Tls, AMalformedHelloOfAServiceIsDroppedAndCountedByItsFault) {
    for (const Malformed& row : malformed_hellos()) {
        Connection connection;
        const ProbedPacket probed = connection.take(1, row.stream);
        EXPECT_EQ(probed.dropped, "malformed_hello") << row.event;
        EXPECT_EQ(probed.kinds.size(), 0U) << row.event;
        EXPECT_EQ(probed.events, (std::map<std::string, unsigned>{{row.event, 1}}));
        // Nor does it pass when it is sent again, or the connection goes on.
        EXPECT_EQ(connection.take(1, row.stream).dropped, "retransmission") << row.event;
    }
}

TEST(Tls, AMalformedHelloElsewherePassesAndItsConnectionGoesUnread) {
    for (const Malformed& row : malformed_hellos()) {
        SCOPED_TRACE(row.event);
        Connection connection{kElsewhere};
        const ProbedPacket probed = connection.send(row.stream);
        EXPECT_EQ(probed.dropped, "");
        EXPECT_EQ(probed.kinds, std::vector<std::string>{"packet"}) << "it is no handshake";
        EXPECT_EQ(probed.texts.front().at("proto.l7"), "tls");
        EXPECT_EQ(probed.events, (std::map<std::string, unsigned>{{row.event, 1}}));
        EXPECT_EQ(connection.parser.connections().of(ConnectionEvent::Unread), 1U);
        const ProbedPacket next = connection.send(hello().records());
        EXPECT_EQ(next.kinds.size(), 0U);
        EXPECT_EQ(next.dropped, "");
    }
}

// The text of a reason, as `stats` and the manual have it, is true of all that it is given for: a
// hello that is too large, or in too many pieces, has reasons of its own.
TEST(Tls, TheReasonOfAHelloSaysWhatIsWrongWithIt) {
    const std::map<HelloDoubt, Reason> reasons{{HelloDoubt::NoServer, Reason::MalformedHello},
                                               {HelloDoubt::SomeServers, Reason::UnreadableHello},
                                               {HelloDoubt::Size, Reason::HeadTooLong},
                                               {HelloDoubt::Pieces, Reason::TooManyPieces}};
    for (const HelloFaultRow& row : kHelloFaults) {
        if (row.fault != HelloFault::None) {
            EXPECT_EQ(reason_of(row.fault), reasons.at(row.doubt)) << row.name;
        }
    }
    const std::string said{row_of(Reason::MalformedHello).help};
    EXPECT_NE(said.find("out of form, or where no client sends one"), std::string::npos);
    for (const char* untrue : {"no server", "large", "pieces"}) {
        EXPECT_EQ(said.find(untrue), std::string::npos) << untrue;
    }
    EXPECT_NE(row_of(Reason::UnreadableHello).help.find("server"), std::string_view::npos)
        << "some servers go on with it";
}

// Some servers take them, and their fields are not read: the reason says so.
TEST(Tls, AnUnreadableHelloOfAServiceIsRefusedWithItsReason) {
    struct Row {
        const char* event;
        const char* reason;
        Octets stream;
    };
    Octets between = part(hello().records(50), 0, 55);
    test::put(between, cipher_change());
    const Row rows[] = {
        {"hello_sslv2_framing", "unreadable_hello",
         test::from_hex("802c010303000300000020"
                        "00009c")},
        {"hello_bad_record", "unreadable_hello", between},
        {"hello_bad_server_name", "unreadable_hello",
         HelloMaker{}.sni(std::string(256, 'a')).records()},
        {"hello_bad_alpn", "unreadable_hello",
         HelloMaker{}.extension(16, test::from_hex("00020568")).records()},
        {"hello_too_many_records", "too_many_pieces",
         HelloMaker{}.extension(21, Octets(1000)).records(1)},
        {"hello_too_long", "head_too_long", test::from_hex("16030140000100fffd")},
    };
    for (const Row& row : rows) {
        Connection connection;
        const ProbedPacket probed = connection.take(1, row.stream);
        EXPECT_EQ(probed.dropped, row.reason) << row.event;
        EXPECT_EQ(probed.kinds.size(), 0U) << row.event;
        EXPECT_EQ(probed.events, (std::map<std::string, unsigned>{{row.event, 1}}));
        EXPECT_EQ(connection.take(1, row.stream).dropped, "retransmission") << row.event;
    }
}

// A hello of so many bytes.
HelloMaker padded_to(std::size_t size) {
    const std::size_t least = hello().extension(21, {}).message().size();
    return hello().extension(21, Octets(size - least));
}
// The last segment's, or that of the first that is dropped.
ProbedPacket send_in(Connection& connection, const Octets& stream, std::size_t most) {
    ProbedPacket probed;
    for (std::size_t at = 0; at < stream.size() && probed.dropped.empty(); at += most) {
        probed = connection.send(part(stream, at, std::min(at + most, stream.size())));
    }
    return probed;
}

// OpenSSL's smallest records of a hello have 512 bytes, so that none of its hellos has as many.
TEST(Tls, AHelloIsReadInAsManyRecordsAsTheBoundSaysAndNoMore) {
    for (const std::size_t segment_size : {std::size_t{1400}, std::size_t{60'000}}) {
        Connection reads;
        const ProbedPacket most =
            send_in(reads, padded_to(kMaxHelloRecords).records(1), segment_size);
        EXPECT_EQ(most.dropped, "");
        ASSERT_EQ(most.units("handshake"), 1U);
        EXPECT_EQ(most.texts.front().at("tls.sni"), "www.example.com");
        Connection refuses;
        EXPECT_EQ(
            send_in(refuses, padded_to(kMaxHelloRecords + 1).records(1), segment_size).dropped,
            "too_many_pieces");
    }
}

// The bound of a head in bytes (packets: connections: head_bytes) is one of hellos in segments too.
TEST(Tls, AHelloInSegmentsIsReadUpToTheBytesOfAHead) {
    const std::size_t heads = test::small_unit_budget().connections.head_bytes;
    for (const std::size_t record_size : {std::size_t{512}, std::size_t{16'384}}) {
        const std::size_t framing = kRecordHeader * (heads / record_size + 1);
        Connection reads;
        const ProbedPacket most =
            send_in(reads, padded_to(heads - framing).records(record_size), 1400);
        EXPECT_EQ(most.dropped, "") << record_size;
        EXPECT_EQ(most.units("handshake"), 1U) << record_size;
        Connection refuses;
        EXPECT_EQ(send_in(refuses, padded_to(heads + 1400).records(record_size), 1400).dropped,
                  "head_too_long")
            << record_size;
    }
}

// A rule without a service refuses nothing for being unreadable, nor what follows it.
TEST(Tls, AnywhereAnUnreadableHelloPassesAndItsConnectionGoesUnread) {
    for (const Octets& bytes :
         {test::from_hex("802c010303000300000020"
                         "00009c"),
          HelloMaker{}.ciphers({}).records(), HelloMaker{}.sni("a").sni("b").records(),
          test::from_hex("16030140000100fffd"),
          HelloMaker{}.extension(21, Octets(1000)).records(1)}) {
        Connection connection{kElsewhere};
        const ProbedPacket probed = connection.send(bytes);
        EXPECT_EQ(probed.dropped, "");
        EXPECT_EQ(probed.units("handshake"), 0U);
        const ProbedPacket next = connection.send(record(23, Octets(99)));
        EXPECT_EQ(next.dropped, "");
        EXPECT_EQ(next.kinds.size(), 0U);
    }
}

// TLS 1.2, resumed: a change of cipher spec, and a Finished under an explicit nonce that may begin
// with any byte.
TEST(Tls, AnEncryptedFinishedIsNoSecondHello) {
    for (const bool of_service : {kOfService, kElsewhere}) {
        for (unsigned second = 0; second < 256; ++second) {
            for (const unsigned version : {0x0303U, 0x9B1FU}) {
                Connection connection{of_service};
                (void)connection.send(hello().records());
                Octets finished(40, std::byte{0x77});
                finished[0] = std::byte{1};
                finished[1] = static_cast<std::byte>(second);
                finished[4] = static_cast<std::byte>(version >> 8);
                finished[5] = static_cast<std::byte>(version);
                Octets flight = cipher_change();
                test::put(flight, record(22, finished));
                EXPECT_EQ(connection.send(flight).dropped, "") << second;
                for (unsigned i = 0; i < 3; ++i) {
                    const ProbedPacket data = connection.send(record(23, Octets(1400)));
                    EXPECT_EQ(data.dropped, "") << second;
                    EXPECT_EQ(data.kinds.size(), 0U) << second;
                }
                EXPECT_EQ(connection.parser.connections().half_heads.read(), 0U);
            }
        }
    }
}

// The client is silent behind it, as where the server speaks first, and longer than a half head may
// be.
TEST(Tls, AnEncryptedFinishedThatLooksLikeAHelloIsNotGivenUp) {
    Connection connection;
    (void)connection.send(hello().records());
    Octets finished(40, std::byte{0x77});
    const Octets beginning = test::from_hex("010007d00303");
    std::copy(beginning.begin(), beginning.end(), finished.begin());
    Octets flight = cipher_change();
    test::put(flight, record(22, finished));
    EXPECT_EQ(connection.take(1000 + static_cast<std::uint32_t>(hello().records().size()), flight)
                  .dropped,
              "");
    const auto next = static_cast<std::uint32_t>(1000 + hello().records().size() + flight.size());
    EXPECT_EQ(connection.take(next, record(23, Octets(900)), true, kNow + 20s).dropped, "");
    EXPECT_EQ(connection.take(next + 905, record(23, Octets(900)), true, kNow + 20s).dropped, "");
}

// Cut so that its version is in another record, which no encrypted one can be.
TEST(Tls, ASecondHelloInShortRecordsIsFoundBehindAChangeOfCipher) {
    for (const std::size_t most : {1U, 3U, 15U, 16U, 60U}) {
        Connection connection;
        (void)connection.send(hello().records());
        Octets flight = cipher_change();
        test::put(flight, HelloMaker{}.sni("other.example").records(most));
        const ProbedPacket second = connection.send(flight);
        ASSERT_EQ(second.units("handshake"), 1U) << most;
        EXPECT_EQ(second.texts.front().at("tls.sni"), "other.example");
    }
}

HelloMaker other_hello() {
    return HelloMaker{}.sni("other.example").versions({0x0304});
}

// Servers that speak TLS 1.3 go by supported_versions, and by nothing else of a version.
TEST(Tls, ASecondHelloOfAnyVersionIsFoundBehindAChangeOfCipher) {
    for (const unsigned version : {0x0301U, 0x0303U, 0x0403U, 0x7F7FU}) {
        for (const std::size_t most : {std::size_t{16'384}, std::size_t{16}, std::size_t{60}}) {
            for (const bool of_service : {kOfService, kElsewhere}) {
                Connection connection{of_service};
                (void)connection.send(hello().records());
                (void)connection.send(cipher_change());
                const ProbedPacket second =
                    connection.send(other_hello()
                                        .legacy_version(static_cast<std::uint16_t>(version))
                                        .records(most));
                EXPECT_EQ(second.units("handshake"), 1U) << version << " in " << most;
            }
        }
    }
}

// Behind what no server minds it is found; with something in it that some servers pass over it is
// refused, as a first hello is.
TEST(Tls, WhatStandsBeforeOrInASecondHelloHidesItNot) {
    struct Row {
        const char* name;
        Octets bytes;
        const char* within;
    };
    const Row rows[] = {
        {"a warning", record(21, test::from_hex("015a")), "unreadable_hello"},
        {"another change of cipher", cipher_change(), "unreadable_hello"},
        {"an empty record", record(22, {}), ""},
        {"empty records",
         [] {
             Octets both = record(22, {});
             test::put(both, record(22, {}));
             return both;
         }(),
         ""},
    };
    for (const Row& row : rows) {
        for (const bool changes_cipher : {false, true}) {
            for (const bool in_one : {false, true}) {
                SCOPED_TRACE(row.name);
                Octets second = changes_cipher ? cipher_change() : Octets{};
                const Octets other = other_hello().records(60);
                constexpr std::size_t kFirstRecord = 65;
                if (!in_one) {
                    test::put(second, row.bytes);
                }
                test::put(second, part(other, 0, kFirstRecord));
                if (in_one) {
                    test::put(second, row.bytes);
                }
                test::put(second, part(other, kFirstRecord, other.size()));
                Connection connection;
                for (std::size_t cut = 1; cut < second.size(); cut += 3) {
                    connection.begin_another();
                    (void)connection.send(hello().records());
                    const ProbedPacket first = connection.send(part(second, 0, cut));
                    const ProbedPacket last = connection.send(part(second, cut, second.size()));
                    const std::string_view reason = in_one ? row.within : "";
                    EXPECT_EQ(first.units("handshake") + last.units("handshake"),
                              reason.empty() ? 1U : 0U)
                        << cut;
                    EXPECT_EQ(first.dropped == reason || last.dropped == reason, true) << cut;
                }
            }
        }
    }
}

// Longer than what is read, and not than what servers take.
TEST(Tls, ASecondHelloThatIsTooLongIsRefused) {
    for (const unsigned size : {65'536U, 131'396U}) {
        Octets beginning = test::from_hex(
            "01000000"
            "0303");
        beginning[1] = static_cast<std::byte>(size >> 16);
        beginning[2] = static_cast<std::byte>(size >> 8);
        beginning[3] = static_cast<std::byte>(size);
        test::put(beginning, Octets(1000));
        Connection connection;
        (void)connection.send(hello().records());
        (void)connection.send(cipher_change());
        EXPECT_EQ(connection.send(record(22, beginning)).dropped, "") << "it may be a Finished";
        std::string refused;
        for (unsigned i = 0; i < 70 && refused.empty(); ++i) {
            refused = connection.send(record(22, Octets(1000))).dropped;
        }
        EXPECT_EQ(refused, "head_too_long");
        EXPECT_NE(connection.send(record(23, Octets(1000))).dropped, "");
    }
}

// Of early data that was announced too: some servers pass over it wherever it stands.
TEST(Tls, EarlyDataWithinASecondHelloIsRefused) {
    Connection connection;
    (void)connection.send(hello().extension(42, {}).records());
    (void)connection.send(cipher_change());
    const Octets other = other_hello().records(60);
    Octets second = part(other, 0, 65);
    test::put(second, record(23, Octets(20)));
    test::put(second, part(other, 65, other.size()));
    EXPECT_EQ(connection.send(second).dropped, "unreadable_hello");
}

// Sessions of TLS 1.2 whose Finished begins as a hello of any length that a server takes: what
// follows it, and no less than what a server takes for a hello, says that it is none.
TEST(Tls, ASessionWhoseFinishedBeginsAsAHelloGoesOn) {
    struct Row {
        const char* name;
        std::vector<Octets> records;
    };
    const Octets data = record(23, Octets(1400));
    const Row rows[] = {
        {"its data", {data}},
        {"an alert", {record(21, Octets(26))}},
        {"its data, and an alert", {data, record(21, Octets(26))}},
        {"another handshake, then data",
         {record(22, Octets(700)), record(22, Octets(120)), record(20, Octets(25)),
          record(22, Octets(40)), data}},
        {"a record as long as encrypted ones are", {record(22, Octets(16'384 + 256)), data}},
        {"a heartbeat", {record(24, Octets(60)), data}},
    };
    Connection connections[]{Connection{kOfService}, Connection{kElsewhere}};
    for (const Row& row : rows) {
        SCOPED_TRACE(row.name);
        for (const std::uint32_t length :
             {3U, 30U, 37U, 300U, 0x07D0U, 16'384U, 65'532U, 65'533U, 131'396U, 131'397U}) {
            for (const unsigned version : {0x0303U, 0x9B1FU}) {
                for (Connection& connection : connections) {
                    connection.begin_another();
                    (void)connection.send(hello().records());
                    Octets finished(40, std::byte{0x77});
                    finished[0] = std::byte{1};
                    finished[1] = static_cast<std::byte>(length >> 16);
                    finished[2] = static_cast<std::byte>(length >> 8);
                    finished[3] = static_cast<std::byte>(length);
                    finished[4] = static_cast<std::byte>(version >> 8);
                    finished[5] = static_cast<std::byte>(version);
                    Octets flight = cipher_change();
                    test::put(flight, record(22, finished));
                    EXPECT_EQ(connection.send(flight).dropped, "") << length;
                    for (const Octets& bytes : row.records) {
                        // In two segments each.
                        for (const auto& [from, to] : {std::pair{std::size_t{0}, std::size_t{3}},
                                                       std::pair{std::size_t{3}, bytes.size()}}) {
                            const ProbedPacket probed = connection.send(part(bytes, from, to));
                            EXPECT_EQ(probed.dropped, "") << length;
                            EXPECT_EQ(probed.kinds.size(), 0U) << length;
                        }
                    }
                    EXPECT_EQ(connection.parser.connections().half_heads.read(), 0U) << length;
                }
            }
        }
    }
}

TEST(Tls, WhatIsNoHelloIsNobodys) {
    for (const Octets& bytes : {record(23, Octets(40)), record(22, Octets(40, std::byte{2})),
                                Octets(40), test::octets_of("SSH-2.0-x\r\n")}) {
        Connection connection{kElsewhere};
        const ProbedPacket probed = connection.send(bytes);
        EXPECT_EQ(probed.kinds.size(), 0U);
        EXPECT_EQ(probed.dropped, "");
        EXPECT_TRUE(probed.events.empty());
        EXPECT_EQ(Connection{}.send(bytes).dropped, "unreadable");
    }
}

}  // namespace
}  // namespace sluice::tls_units_test
