#include "lib/l7/stream/track/segment_bytes.hpp"

#include "lib/packet/checksum_check.hpp"
#include "lib/packet/parse.hpp"
#include "tests/packets/frame.hpp"

#include <gtest/gtest.h>

namespace sluice::segment_bytes_test {
namespace {

using test::Frame;
using test::Octets;

struct ParsedFrame {
    explicit ParsedFrame(Octets frame) : bytes{std::move(frame)} {
        parse_frame({bytes, static_cast<std::uint32_t>(bytes.size())}, {}, headers);
    }
    [[nodiscard]] std::optional<TrackedSegment> segment() const {
        return read_tracked_segment(headers, bytes);
    }
    [[nodiscard]] ChecksumFinding finding() const {
        return find_checksums(headers, {bytes, static_cast<std::uint32_t>(bytes.size())});
    }
    Octets bytes;
    PacketHeaders headers;
};

Octets octets(std::initializer_list<unsigned> values) {
    Octets made;
    for (const unsigned value : values) {
        test::put8(made, value);
    }
    return made;
}

// A SYN with these options, of a multiple of four bytes.
std::optional<std::uint8_t> scale_of(std::initializer_list<unsigned> options,
                                     std::uint16_t flags = kTcpSyn) {
    const Octets bytes = octets(options);
    Frame frame{6};
    frame.flags(flags).carries(bytes).data_offset(static_cast<std::uint8_t>(5 + bytes.size() / 4));
    const auto segment = ParsedFrame{frame.bytes()}.segment();
    EXPECT_TRUE(segment.has_value());
    return segment->scale;
}

TEST(SegmentBytes, ReadsTheHeader) {
    for (const bool v6 : {false, true}) {
        Frame frame{6};
        if (v6) {
            frame.src("2001:db8::1");
        }
        frame.seq(0xFFFF'FFF0).ack(77).flags(kTcpAck | kTcpUrg).ttl(9).payload(30);
        ParsedFrame parsed{frame.bytes()};
        parsed.bytes.at(parsed.headers.l4_at + 19U) = std::byte{5};
        const auto segment = parsed.segment();
        ASSERT_TRUE(segment.has_value());
        EXPECT_EQ(segment->seq, 0xFFFF'FFF0);
        EXPECT_EQ(segment->ack, 77U);
        EXPECT_EQ(segment->flags, kTcpAck | kTcpUrg);
        EXPECT_EQ(segment->payload, 30U);
        EXPECT_EQ(segment->window, 0xFFFF);
        EXPECT_EQ(segment->urgent, 5);
        EXPECT_EQ(segment->ttl, 9);
        EXPECT_FALSE(segment->scale.has_value() || segment->is_fragment);
        EXPECT_EQ(segment->data_end(), 14U);
    }
    EXPECT_TRUE(ParsedFrame{Frame{6}.frag(0, true).bytes()}.segment()->is_fragment);
    EXPECT_FALSE(ParsedFrame{Frame{17}.bytes()}.segment().has_value());
    EXPECT_FALSE(ParsedFrame{Frame{6}.cut(14 + 20 + 19).bytes()}.segment().has_value());
}

TEST(SegmentBytes, ReadsTheScaleOfASyn) {
    EXPECT_EQ(scale_of({3, 3, 7, 0}), 7);
    EXPECT_EQ(scale_of({1, 3, 3, 9}), 9);
    EXPECT_EQ(scale_of({2, 4, 5, 180, 1, 3, 3, 14}), 14);
    EXPECT_EQ(scale_of({3, 3, 7, 0}, kTcpAck), std::nullopt);
    EXPECT_EQ(scale_of({0, 3, 3, 7}), std::nullopt);
    EXPECT_EQ(scale_of({2, 4, 5, 180}), std::nullopt);
    EXPECT_EQ(scale_of({1, 1, 1, 3}), std::nullopt);
    EXPECT_EQ(scale_of({8, 9, 3, 3}), std::nullopt);
    EXPECT_EQ(scale_of({8, 0, 3, 3}), std::nullopt);
    EXPECT_EQ(scale_of({3, 4, 7, 0}), std::nullopt);
    EXPECT_EQ(scale_of({}), std::nullopt);
}

TEST(SegmentBytes, ReadsTimestamps) {
    const auto stamps_of = [](std::initializer_list<unsigned> options) {
        const std::optional<TrackedTimestamps> read =
            ParsedFrame{Frame{6}.flags(kTcpAck).tcp_options(octets(options)).bytes()}
                .segment()
                ->timestamps;
        return read ? std::optional{std::pair{read->value, read->echo}} : std::nullopt;
    };
    const auto one = std::optional{std::pair{0x0102'0304U, 0x0506'0708U}};
    EXPECT_EQ(stamps_of({1, 1, 8, 10, 1, 2, 3, 4, 5, 6, 7, 8}), one);
    EXPECT_EQ(stamps_of({8, 10, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0}), one);
    EXPECT_EQ(stamps_of({5, 4, 0, 0, 1, 8, 10, 1, 2, 3, 4, 5, 6, 7, 8, 1}), one);
    EXPECT_EQ(stamps_of({8, 10, 9, 2, 3, 4, 5, 6, 7, 8, 8, 10, 1, 2, 3, 4, 5, 6, 7, 8}), one)
        << "the older one, whichever its receiver goes by";
    EXPECT_EQ(stamps_of({8, 9, 1, 2, 3, 4, 5, 6, 7, 1, 1, 1}), std::nullopt);
    EXPECT_EQ(stamps_of({1, 1, 1, 1, 1, 1, 8, 10}), std::nullopt);
    EXPECT_EQ(stamps_of({0, 1, 8, 10, 1, 2, 3, 4, 5, 6, 7, 8}), std::nullopt);
    EXPECT_EQ(stamps_of({}), std::nullopt);
}

// A RST with these options of TCP, of a multiple of four bytes.
bool is_doubtful(std::initializer_list<unsigned> options, std::uint16_t flags = kTcpRst) {
    const Octets bytes = octets(options);
    Frame frame{6};
    frame.flags(flags).carries(bytes).data_offset(static_cast<std::uint8_t>(5 + bytes.size() / 4));
    return ParsedFrame{frame.bytes()}.segment()->has_doubtful_options;
}

TEST(SegmentBytes, DoubtsARstForItsOptions) {
    EXPECT_FALSE(is_doubtful({}));
    EXPECT_FALSE(is_doubtful({1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2}));
    EXPECT_FALSE(is_doubtful({1, 1, 1, 0}));
    EXPECT_TRUE(is_doubtful({19, 18, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1}));
    EXPECT_TRUE(is_doubtful({29, 4, 0, 0}));
    EXPECT_TRUE(is_doubtful({1, 1, 1, 8}));
    EXPECT_TRUE(is_doubtful({8, 0, 0, 0}));
    EXPECT_TRUE(is_doubtful({8, 0, 0, 0}, kTcpSyn)) << "stacks differ in what they read behind it";
    EXPECT_TRUE(is_doubtful({29, 4, 0, 0}, kTcpAck)) << "an ACK may complete a handshake";
    const auto of_ip = [](Frame frame) {
        return ParsedFrame{frame.flags(kTcpRst).bytes()}.segment()->has_doubtful_options;
    };
    EXPECT_TRUE(of_ip(Frame{6}.options(octets({131, 7, 4, 10, 78, 0, 1, 0}))));
    EXPECT_FALSE(of_ip(Frame{6}.src("2001:db8::1")));
    EXPECT_TRUE(
        of_ip(Frame{6}.src("2001:db8::1").extensions(60, octets({6, 0, 0x9E, 4, 0, 0, 0, 0}))));
}

// A RST with these options of TCP, for which some host drops it.
bool may_be_dropped(std::initializer_list<unsigned> options) {
    const Octets bytes = octets(options);
    Frame frame{6};
    frame.flags(kTcpRst).carries(bytes).data_offset(
        static_cast<std::uint8_t>(5 + bytes.size() / 4));
    const ParsedFrame parsed{frame.bytes()};
    return may_be_dropped_for_options(parsed.headers, parsed.bytes);
}

TEST(SegmentBytes, KnowsForWhichOptionsAHostDropsARst) {
    EXPECT_FALSE(may_be_dropped({}));
    EXPECT_FALSE(may_be_dropped({1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2}));
    EXPECT_FALSE(may_be_dropped({30, 4, 0x80, 0})) << "Multipath TCP";
    EXPECT_FALSE(may_be_dropped({28, 4, 0, 1})) << "a user timeout";
    EXPECT_FALSE(may_be_dropped({1, 1, 5, 10, 0, 0, 0, 1, 0, 0, 0, 2})) << "SACK";
    EXPECT_FALSE(may_be_dropped({253, 4, 0, 0}));
    EXPECT_TRUE(may_be_dropped({29, 4, 0, 0}));
    EXPECT_TRUE(may_be_dropped({1, 1, 1, 8}));
}

// Bytes behind these options of TCP, or in this datagram.
bool is_doubtful(Frame frame) {
    return ParsedFrame{frame.flags(kTcpAck).bytes()}.segment()->has_doubtful_options;
}
bool are_doubtful(std::initializer_list<unsigned> options) {
    Octets bytes = octets(options);
    const auto words = static_cast<std::uint8_t>(5 + bytes.size() / 4);
    test::put8(bytes, 'x');
    return is_doubtful(Frame{6}.carries(bytes).data_offset(words));
}

TEST(SegmentBytes, DoubtsBytesForOptionsThatServersDropThemFor) {
    EXPECT_FALSE(are_doubtful({}));
    EXPECT_FALSE(are_doubtful({1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2}));
    EXPECT_FALSE(are_doubtful({1, 1, 5, 10, 0, 0, 0, 1, 0, 0, 0, 2})) << "SACK";
    EXPECT_FALSE(are_doubtful({30, 4, 0, 0})) << "a kind that few know";
    EXPECT_FALSE(are_doubtful({0, 19, 18, 1}));
    EXPECT_TRUE(are_doubtful({19, 18, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1}));
    EXPECT_TRUE(are_doubtful({29, 4, 0, 0}));
    EXPECT_TRUE(are_doubtful({1, 1, 1, 8}));
    EXPECT_TRUE(are_doubtful({8, 0, 0, 0}));
    EXPECT_TRUE(are_doubtful({8, 1, 0, 0}));
    EXPECT_TRUE(are_doubtful({8, 9, 0, 0}));
    const auto v4 = [](std::initializer_list<unsigned> options) {
        return is_doubtful(Frame{6}.payload(5).options(octets(options)));
    };
    EXPECT_FALSE(v4({148, 4, 0, 0})) << "router alert";
    EXPECT_FALSE(v4({1, 1, 0, 9}));
    EXPECT_TRUE(v4({148, 3, 0, 0}));
    EXPECT_TRUE(v4({134, 4, 0, 0})) << "a label of CIPSO";
    EXPECT_TRUE(v4({68, 4, 5, 0})) << "a timestamp";
    EXPECT_TRUE(v4({131, 7, 4, 10, 78, 0, 1, 0}));
    EXPECT_TRUE(v4({137, 7, 4, 10, 78, 0, 1, 0}));
    EXPECT_TRUE(v4({7, 7, 4, 0, 0, 0, 0, 0}));
    EXPECT_TRUE(v4({148, 9, 0, 0}));
    const auto v6 = [](unsigned kind, std::initializer_list<unsigned> extension) {
        return is_doubtful(Frame{6}
                               .src("2001:db8::1")
                               .payload(5)
                               .extensions(static_cast<std::uint8_t>(kind), octets(extension)));
    };
    EXPECT_FALSE(v6(60, {6, 0, 1, 4, 0, 0, 0, 0})) << "padding";
    EXPECT_FALSE(v6(0, {6, 0, 5, 2, 0, 0, 0, 0})) << "router alert";
    EXPECT_TRUE(v6(60, {6, 0, 0x9E, 4, 0, 0, 0, 0}));
    EXPECT_TRUE(v6(60, {6, 0, 5, 2, 0, 0, 0, 0})) << "no router is to look at it";
    EXPECT_TRUE(v6(60, {6, 0, 0x1E, 4, 0, 0, 0, 0})) << "hosts may step over it";
    EXPECT_TRUE(v6(60, {6, 0, 1, 4, 0, 1, 0, 0})) << "padding that is not zero";
    EXPECT_TRUE(v6(60, {6, 1, 1, 6, 0, 0, 0, 0, 0, 0, 1, 4, 0, 0, 0, 0})) << "too much of it";
    EXPECT_FALSE(v6(60, {60, 0, 1, 4, 0, 0, 0, 0, 6, 0, 1, 4, 0, 0, 0, 0}));
    EXPECT_TRUE(v6(60, {0, 0, 1, 4, 0, 0, 0, 0, 6, 0, 5, 2, 0, 0, 0, 0})) << "not the first";
    EXPECT_FALSE(v6(44, {6, 0, 0, 0, 0, 0, 0, 1})) << "a fragment that is all of it";
    EXPECT_TRUE(v6(44, {44, 0, 0, 0, 0, 0, 0, 1, 6, 0, 0, 0, 0, 0, 0, 1}));
    EXPECT_TRUE(v6(43, {6, 0, 4, 1, 0, 0, 0, 0})) << "routing";
    EXPECT_TRUE(v6(43, {6, 0, 0, 0, 0, 0, 0, 0})) << "and at its end";
    EXPECT_TRUE(v6(51, {6, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1})) << "authentication";
    // An acknowledgement counts as bytes do.
    EXPECT_TRUE(is_doubtful(Frame{6}.options(octets({7, 3, 4, 0}))));
    EXPECT_FALSE(is_doubtful(Frame{6}.options(octets({1, 1, 1, 0}))));
}

// Whatever number its client has chosen, no byte of it arrives.
TEST(SegmentBytes, AProbeHasNoBytesAndRightChecksums) {
    for (const bool v6 : {false, true}) {
        for (const std::uint32_t seq : {0U, 0x3FFF'FFFFU, 0x4000'0000U, 0xFFFF'FFF0U}) {
            Frame frame{6};
            if (v6) {
                frame.src("2001:db8::1");
            }
            ParsedFrame parsed{frame.flags(kTcpAck | kTcpPsh | kTcpFin | kTcpUrg)
                                   .seq(seq)
                                   .payload(700)
                                   .summed(1)
                                   .bytes()};
            make_probe(parsed.headers, parsed.bytes);
            const ParsedFrame after{parsed.bytes};
            EXPECT_EQ(after.segment()->seq, seq - 0x4000'0000U);
            EXPECT_EQ(after.headers.payload_len, 0U);
            EXPECT_EQ(after.headers.tcp_flags, kTcpAck);
            EXPECT_EQ(after.finding(), ChecksumFinding::Right);
        }
    }
}

TEST(SegmentBytes, RewritesAndKeepsTheChecksumWhatItWas) {
    for (const bool v6 : {false, true}) {
        for (const std::uint16_t off_by : std::initializer_list<std::uint16_t>{0, 1, 77}) {
            for (unsigned ttl = 1; ttl < 256; ttl += 9) {
                Frame frame{6};
                if (v6) {
                    frame.src("2001:db8::1");
                }
                frame.flags(kTcpAck | kTcpUrg | 0x08).ttl(static_cast<std::uint8_t>(ttl));
                frame.seq(ttl * 0x0101'0101).payload(ttl).summed(off_by);
                ParsedFrame parsed{frame.bytes()};
                const ChecksumFinding before = parsed.finding();
                EXPECT_EQ(before, off_by == 0 ? ChecksumFinding::Right : ChecksumFinding::Wrong);
                clear_urgent(parsed.headers, parsed.bytes);
                set_ttl(parsed.headers, 32, parsed.bytes);
                const ParsedFrame after{parsed.bytes};
                EXPECT_EQ(after.finding(), before);
                EXPECT_EQ(after.headers.tcp_flags, kTcpAck | 0x08);
                EXPECT_EQ(after.headers.ttl, 32);
                EXPECT_EQ(after.segment()->urgent, 0);
                EXPECT_EQ(after.headers.payload_len, ttl);
            }
        }
    }
}

TEST(SegmentBytes, KnowsOptionsThatMayMoveItsBytes) {
    const auto is_unknown = [](std::initializer_list<unsigned> options) {
        return ParsedFrame{Frame{6}.flags(kTcpAck).tcp_options(octets(options)).bytes()}
            .segment()
            ->has_unknown_options;
    };
    EXPECT_TRUE(is_unknown({30, 4, 1, 1})) << "Multipath TCP: MP_CAPABLE";
    EXPECT_TRUE(is_unknown({1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2, 30, 4, 0x20, 1}));
    EXPECT_TRUE(is_unknown({69, 2, 1, 1})) << "TCP-ENO";
    EXPECT_TRUE(is_unknown({253, 4, 0, 0})) << "an experiment";
    EXPECT_FALSE(is_unknown({1, 1, 8, 10, 30, 4, 1, 1, 30, 4, 1, 1})) << "within timestamps";
    EXPECT_FALSE(is_unknown({2, 4, 5, 180, 4, 2, 3, 3, 7, 0, 30, 4})) << "behind the end";
    EXPECT_FALSE(is_unknown({1, 1, 5, 10, 0, 0, 0, 1, 0, 0, 0, 2}));
    EXPECT_FALSE(is_unknown({34, 2, 28, 4, 0, 1, 1, 1}));
    EXPECT_FALSE(is_unknown({}));
}

TEST(SegmentBytes, OptionsThatMayMoveItsBytesBecomePadding) {
    for (const std::uint16_t off_by : std::initializer_list<std::uint16_t>{0, 77}) {
        for (unsigned size = 0; size < 6; ++size) {
            ParsedFrame parsed{
                Frame{6}
                    .flags(kTcpAck)
                    .tcp_options(octets({1, 30, 5, 0x20, 1, 9, 69, 3,   7, 8, 10, 0,
                                         0, 0,  1, 0,    0, 0, 2,  253, 2, 0, 30, 4}))
                    .payload(size)
                    .summed(off_by)
                    .bytes()};
            const Octets before = parsed.bytes;
            const ChecksumFinding finding = parsed.finding();
            clear_options(parsed.headers, parsed.bytes);
            const ParsedFrame after{parsed.bytes};
            EXPECT_EQ(after.finding(), finding) << size;
            EXPECT_FALSE(after.segment()->has_unknown_options);
            EXPECT_EQ(after.segment()->timestamps->value, 1U);
            const std::size_t at = after.headers.l4_at + 20U;
            EXPECT_EQ(
                Octets(after.bytes.begin() + static_cast<std::ptrdiff_t>(at),
                       after.bytes.begin() + static_cast<std::ptrdiff_t>(at + 24)),
                octets({1, 1, 1, 1, 1, 1, 1, 1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2, 1, 1, 0, 30, 4}));
            EXPECT_EQ(Octets(after.bytes.begin() + static_cast<std::ptrdiff_t>(at + 24),
                             after.bytes.end()),
                      Octets(before.begin() + static_cast<std::ptrdiff_t>(at + 24), before.end()));
        }
    }
}

}  // namespace
}  // namespace sluice::segment_bytes_test
