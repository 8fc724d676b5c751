#include "lib/l7/stream/service_datagrams.hpp"

#include "lib/packet/parse.hpp"
#include "tests/packets/frame.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace sluice::service_datagrams_test {
namespace {

using What = FragmentReading::What;
using test::Frame;
using test::Octets;

constexpr Instant kNow{std::chrono::hours{1}};

// A datagram of UDP from port 40000 to 53, its header included.
Octets datagram(std::size_t payload, std::uint16_t length = 0) {
    Octets bytes;
    test::put16(bytes, 40'000);
    test::put16(bytes, 53);
    test::put16(bytes, length != 0 ? length : static_cast<unsigned>(8 + payload));
    test::put16(bytes, 0);
    for (std::size_t i = 0; i < payload; ++i) {
        test::put8(bytes, static_cast<unsigned>(i * 11 + i / 256));
    }
    return bytes;
}

struct Service {
    // The datagram's bytes from `from` to `to`.
    FragmentReading take(const Octets& bytes, std::size_t from, std::size_t to,
                         bool of_service = true) {
        to = std::min(to, bytes.size());
        const Octets part{bytes.begin() + static_cast<std::ptrdiff_t>(from),
                          bytes.begin() + static_cast<std::ptrdiff_t>(to)};
        const std::size_t header = from == 0 ? 8 : 0;  // of UDP, which Frame makes
        frame = Frame{17}
                    .src(source)
                    .dst(source.find(':') == std::string::npos ? "198.51.100.1" : "2001:db8::9")
                    .payload(part.size() - header)
                    .frag(static_cast<std::uint16_t>(from / 8), to != bytes.size())
                    .bytes();
        std::copy(part.begin(), part.end(), frame.end() - static_cast<std::ptrdiff_t>(part.size()));
        frame[24] ^= static_cast<std::byte>(off_by);  // of the checksum of IPv4
        PacketHeaders headers;
        const FrameView view{frame, static_cast<std::uint32_t>(frame.size())};
        parse_frame(view, {}, headers);
        const PortChecksums checksums{verifies ? ChecksumPolicy::Verify : ChecksumPolicy::Trust};
        return datagrams.take({headers, view, hash, kNow, counters},
                              of_service && from == 0 ? std::uint16_t{0} : kNoService,
                              {&checksums, 1});
    }
    std::string source = "10.0.0.1";
    bool verifies = false;
    unsigned off_by = 0;
    Octets frame;
    KeyHasher hash{HashSecret{1, 2}};
    UnitEventCounters counters;
    ServiceDatagrams datagrams{AssemblyBudget{.datagrams = 64, .rooms = 4, .rooms_per_source = 2}};
};

TEST(ServiceDatagrams, TheLastFragmentHasThePayloadOfAllOfThem) {
    const Octets bytes = datagram(3000);
    for (const char* const source : {"10.0.0.1", "2001:db8::1"}) {
        Service service;
        service.source = source;
        EXPECT_EQ(service.take(bytes, 0, 1480).what, What::Passes);
        EXPECT_EQ(service.take(bytes, 2960, 9999).what, What::Passes);
        EXPECT_EQ(service.take(bytes, 2960, 9999).what, What::Passes);
        const FragmentReading last = service.take(bytes, 1480, 2960);
        ASSERT_EQ(last.what, What::Read);
        EXPECT_EQ(last.ports.from, 40'000);
        EXPECT_EQ(last.ports.to, 53);
        const auto payload = service.datagrams.payload_of(last.datagram);
        ASSERT_TRUE(payload.has_value());
        EXPECT_EQ(Octets(payload->begin(), payload->end()), Octets(bytes.begin() + 8, bytes.end()));
        EXPECT_EQ(service.take(bytes, 1480, 2960).what, What::Follows);
        service.datagrams.settle(last.datagram, false);
        EXPECT_TRUE(service.datagrams.is_refused(last.datagram));
        EXPECT_EQ(service.take(bytes, 1480, 2960).why, Reason::FragmentOfRefused);
    }
}

TEST(ServiceDatagrams, OfNoServiceTheyAreNotRead) {
    const Octets bytes = datagram(3000);
    Service service;
    EXPECT_EQ(service.take(bytes, 0, 1480, false).what, What::NotMine);
    EXPECT_EQ(service.take(bytes, 1480, 9999).what, What::NotMine);
}

// A receiver takes as many bytes as the header says, and none where there are fewer.
TEST(ServiceDatagrams, ItsHeaderSaysWhereItEnds) {
    Service service;
    const Octets shorter = datagram(3000, 1008);
    (void)service.take(shorter, 0, 1480);
    const FragmentReading read = service.take(shorter, 1480, 9999);
    ASSERT_EQ(read.what, What::Read);
    EXPECT_EQ(service.datagrams.payload_of(read.datagram).value().size(), 1000U);
    for (const std::uint16_t length : {std::uint16_t{7}, std::uint16_t{4000}}) {
        Service other;
        const Octets wrong = datagram(3000, length);
        (void)other.take(wrong, 0, 1480);
        const FragmentReading refused = other.take(wrong, 1480, 9999);
        EXPECT_EQ(refused.what, What::Refused);
        EXPECT_EQ(refused.why, Reason::Unreadable);
    }
}

TEST(ServiceDatagrams, AWrongChecksumIsRefusedWhereItIsVerified) {
    Octets bytes = datagram(3000);
    bytes[6] = std::byte{1};
    for (const bool verifies : {false, true}) {
        Service service;
        service.verifies = verifies;
        (void)service.take(bytes, 0, 1480);
        const FragmentReading last = service.take(bytes, 1480, 9999);
        EXPECT_EQ(last.what, verifies ? What::Refused : What::Read);
        EXPECT_EQ(service.take(bytes, 1480, 9999).what, verifies ? What::Refused : What::Follows);
        EXPECT_EQ(last.why, verifies ? Reason::WrongChecksum : Reason::Unmatched);
    }
}

TEST(ServiceDatagrams, AFragmentWithAWrongHeaderIsRefusedWhereChecksumsAreVerified) {
    const Octets bytes = datagram(3000);
    for (const bool verifies : {false, true}) {
        Service service;
        service.verifies = verifies;
        service.off_by = 1;
        EXPECT_EQ(service.take(bytes, 0, 1480).what, verifies ? What::Refused : What::Passes);
        service.off_by = 0;
        EXPECT_EQ(service.take(bytes, 0, 1480).what, What::Passes);
        service.off_by = 1;
        EXPECT_EQ(service.take(bytes, 1480, 9999).what, verifies ? What::Refused : What::Read);
        service.off_by = 0;
        EXPECT_EQ(service.take(bytes, 1480, 9999).what, verifies ? What::Read : What::Follows);
    }
}

// A later fragment that came first was forwarded, and nobody knows its bytes.
TEST(ServiceDatagrams, BehindALaterFragmentTheFirstIsRefused) {
    const Octets bytes = datagram(3000);
    Service service;
    EXPECT_EQ(service.take(bytes, 1480, 9999).what, What::NotMine);
    EXPECT_EQ(service.take(bytes, 0, 1480).why, Reason::LostHead);
    EXPECT_EQ(service.counters[static_cast<std::size_t>(UnitEvent::DatagramDisordered)].read(), 1U);
    service.source = "10.0.0.2";
    EXPECT_EQ(service.take(bytes, 0, 1480).what, What::Passes);
}

TEST(ServiceDatagrams, EachRefusalHasItsReason) {
    const Octets bytes = datagram(3000);
    Octets other = bytes;
    other[1000] ^= std::byte{1};
    Service service;
    EXPECT_EQ(service.take(bytes, 0, 1480).what, What::Passes);
    EXPECT_EQ(service.take(other, 0, 1480).why, Reason::OverlappingFragment);
    EXPECT_EQ(service.take(bytes, 1480, 9999).why, Reason::LostHead);
    EXPECT_EQ(Service{}.take(bytes, 0, 1483).why, Reason::Unreadable);
    Service full;
    for (unsigned i = 0; i < 64; ++i) {
        full.source = "10.0.1." + std::to_string(i);
        EXPECT_EQ(full.take(bytes, 0, 1480).what, What::Passes);
    }
    full.source = "10.0.2.1";
    EXPECT_EQ(full.take(bytes, 0, 1480).why, Reason::NoHeadRoom);
    EXPECT_EQ(full.counters[static_cast<std::size_t>(UnitEvent::DatagramGivenUp)].read(), 60U);
}

// A flood of later fragments to anybody, 20 times of what an application sends.
TEST(ServiceDatagrams, FewFirstFragmentsAreMistakenForLateOnesInAFlood) {
    RecentDigests early{std::chrono::seconds{60}, ServiceDatagrams::kEarly};
    const KeyHasher hash{HashSecret{1, 2}};
    const auto digest = [&](std::uint64_t number) {
        return hash.digest(std::as_bytes(std::span{&number, 1}));
    };
    std::uint64_t number = 0;
    const auto mistaken = [&] {
        unsigned count = 0;
        for (std::uint64_t other = 0; other < 20'000; ++other) {
            count += early.may_have(digest(1'000'000'000 + other), kNow) ? 1 : 0;
        }
        return count;
    };
    for (; number < 50'000; ++number) {
        early.note(digest(number), kNow);
    }
    EXPECT_EQ(mistaken(), 0U);
    for (; number < 1'000'000; ++number) {
        early.note(digest(number), kNow);
    }
    EXPECT_LT(mistaken(), 20'000U / 28U);
}

}  // namespace
}  // namespace sluice::service_datagrams_test
