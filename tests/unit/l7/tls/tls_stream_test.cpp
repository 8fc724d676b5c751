#include "lib/l7/tls/tls_stream.hpp"

#include "tests/unit/l7/hello_maker.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace sluice::tls_stream_test {
namespace {

using test::from_hex;
using test::HelloMaker;
using test::Octets;
using test::put;

struct Reader {
    HelloRead read(const Octets& stream) { return read(ByteView{stream}); }
    // In memory of its own size, so that a sanitizer sees a look beyond it.
    HelloRead read(ByteView stream) {
        kept = Octets{stream.begin(), stream.end()};
        return read_tls_stream(kept, *room, hello);
    }
    std::unique_ptr<HandshakeRoom> room = std::make_unique<HandshakeRoom>();
    ClientHello hello;
    Octets kept;
};

Octets part(const Octets& bytes, std::size_t from, std::size_t to) {
    return {bytes.begin() + static_cast<std::ptrdiff_t>(from),
            bytes.begin() + static_cast<std::ptrdiff_t>(to)};
}
HelloMaker usual() {
    return HelloMaker{}.sni("example.com").alpn({"h2"}).versions({0x0304});
}

TEST(TlsStream, AHelloInAnyRecordsIsTheSame) {
    const std::size_t size = usual().message().size();
    for (const std::size_t most :
         {size, size - 1, std::size_t{100}, std::size_t{7}, std::size_t{4}, std::size_t{3}}) {
        Octets stream = usual().records(most);
        const std::size_t end = stream.size();
        put(stream, Octets(9, std::byte{0xEE}));
        Reader reader;
        const HelloRead read = reader.read(stream);
        ASSERT_EQ(read.outcome, HelloOutcome::Whole) << most;
        EXPECT_EQ(read.at, end) << most;
        EXPECT_EQ(reader.hello.server_name.text(), "example.com") << most;
        EXPECT_EQ(reader.hello.alpn.size(), 2U) << most;
    }
}

// Cut at every byte: until the hello is whole each look asks for more, never for less than there is
// nor for more than the hello has, and who waits for so much needs no more looks than there are
// record headers.
TEST(TlsStream, CutAtEveryByteItAsksForWhatItNeeds) {
    for (const std::size_t most :
         {std::size_t{16'384}, std::size_t{50}, std::size_t{4}, std::size_t{3}}) {
        const Octets stream = usual().records(most);
        Reader reader;
        for (std::size_t size = 0; size < stream.size(); ++size) {
            const HelloRead read = reader.read(ByteView{stream}.first(size));
            ASSERT_EQ(read.outcome, HelloOutcome::NeedMore) << most << " " << size;
            ASSERT_GT(read.at, size);
            ASSERT_LE(read.at, stream.size());
        }
        ASSERT_EQ(reader.read(stream).outcome, HelloOutcome::Whole);
        std::size_t looks = 0;
        for (std::size_t size = 0; size < stream.size(); ++looks) {
            size = reader.read(ByteView{stream}.first(size)).at;
        }
        EXPECT_LE(looks, 2 * (stream.size() / (kRecordHeader + most) + 1) + 1);
    }
}

TEST(TlsStream, TheHelloMayEndBeforeItsRecord) {
    Octets message = usual().message();
    const std::size_t size = message.size();
    put(message, from_hex("0b000000"));
    for (const std::size_t most : {std::size_t{16'384}, size - 1}) {
        Reader reader;
        const HelloRead read = reader.read(HelloMaker::in_records(message, most));
        EXPECT_EQ(read.outcome, HelloOutcome::Whole);
        EXPECT_EQ(read.at, size + (most < size ? 2 : 1) * kRecordHeader);
        EXPECT_EQ(reader.hello.server_name.text(), "example.com");
    }
}

struct Row {
    std::string_view name;
    Octets stream;
    HelloOutcome outcome;
    HelloFault fault = HelloFault::None;
    unsigned at = 0;
};

HelloMaker padded(std::size_t bytes) {
    return usual().extension(21, Octets(bytes));
}
Octets repeated(const Octets& part, std::size_t times) {
    Octets all;
    for (std::size_t i = 0; i < times; ++i) {
        put(all, part);
    }
    return all;
}
Octets first_record_then(std::string_view hex) {
    Octets stream = usual().records(50);
    stream.resize(55);
    put(stream, from_hex(hex));
    return stream;
}

std::vector<Row> rows() {
    using enum HelloOutcome;
    return {
        {"nothing", {}, NeedMore, HelloFault::None, 5},
        {"one byte", from_hex("16"), NeedMore, HelloFault::None, 5},
        {"a header", from_hex("1603010200"), NeedMore, HelloFault::None, 9},
        {"a header and the type", from_hex("160301020001"), NeedMore, HelloFault::None, 9},
        {"a short record", from_hex("1603010002"), NeedMore, HelloFault::None, 7},
        {"HTTP", test::octets_of("GET / HTTP/1.1"), NotTls},
        {"H", test::octets_of("H"), NotTls},
        {"version 2", from_hex("1602"), NotTls},
        {"SSL 2.0's hello", from_hex("802e010002"), Malformed, HelloFault::Sslv2Framing},
        {"TLS 1.2's in its framing", from_hex("802e010303"), Malformed, HelloFault::Sslv2Framing},
        {"the beginning of one", from_hex("802e"), NeedMore, HelloFault::None, 5},
        {"another type in its place", from_hex("802e0403010000"), NotTls},
        {"another version in its place", from_hex("802e010003"), NotTls},
        {"an alert", from_hex("15030100020228"), NotTls},
        {"a record longer than they are", from_hex("1603014001"), NotTls},
        {"a server's hello", from_hex("160303007a02"), OtherHandshake},
        {"an empty record", from_hex("1603010000"), NeedMore, HelloFault::None, 10},
        {"too long", from_hex("16030140000100fffd"), Malformed, HelloFault::TooLong},
        {"the longest", from_hex("16030140000100fffc"), NeedMore, HelloFault::None, 16'389},
        {"an empty record between", first_record_then("1603010000"), NeedMore, HelloFault::None,
         65},
        {"an alert between", first_record_then("15"), Malformed, HelloFault::BadRecord},
        {"another version between", first_record_then("1604"), Malformed, HelloFault::BadRecord},
        {"a long record between", first_record_then("160301ffff"), Malformed,
         HelloFault::BadRecord},
        {"records of one byte and more than 1024", padded(1000).records(1), Malformed,
         HelloFault::TooManyRecords},
        {"no more than empty records", repeated(from_hex("1603010000"), kMaxHelloRecords),
         Malformed, HelloFault::TooManyRecords},
        {"a hello with a fault", HelloMaker{}.ciphers({}).records(20), Malformed,
         HelloFault::BadCipherSuites, 97},
    };
}

TEST(TlsStream, OutcomesAreWhatTheBytesAre) {
    for (const Row& row : rows()) {
        Reader reader;
        const HelloRead read = reader.read(row.stream);
        EXPECT_EQ(read.outcome, row.outcome) << row.name;
        EXPECT_EQ(read.fault, row.fault) << row.name;
        EXPECT_EQ(read.at, row.at) << row.name;
    }
}

// OpenSSL takes up to 32 empty records, NSS any number; both put together records of one byte.
TEST(TlsStream, EmptyRecordsAndSingleBytesAreReadAsServersReadThem) {
    for (const HelloMaker& maker : {usual(), padded(700)}) {
        Octets stream = from_hex("1603010000");
        const Octets singles = maker.records(1);
        put(stream, part(singles, 0, 6));
        put(stream, repeated(from_hex("1603030000"), 32));
        put(stream, part(singles, 6, singles.size()));
        Reader reader;
        const HelloRead read = reader.read(stream);
        ASSERT_EQ(read.outcome, HelloOutcome::Whole);
        EXPECT_EQ(read.at, stream.size());
        EXPECT_EQ(reader.hello.server_name.text(), "example.com");
    }
}

TEST(TlsStream, TheLongestHelloIsReadInOneRecordAndInMany) {
    const std::size_t without = HelloMaker{}.extension(21, {}).message().size();
    const HelloMaker longest = HelloMaker{}.extension(21, Octets(kMaxHello - without));
    for (const std::size_t most : {std::size_t{16'384}, std::size_t{300}}) {
        Reader reader;
        EXPECT_EQ(reader.read(longest.records(most)).outcome, HelloOutcome::Whole);
    }
}

}  // namespace
}  // namespace sluice::tls_stream_test
