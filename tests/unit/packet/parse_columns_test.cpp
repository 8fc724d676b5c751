#include "lib/packet/parse_columns.hpp"

#include "tests/packets/seen.hpp"
#include "tests/rounds.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>

namespace sluice::parse_columns_test {
namespace {

using test::Frame;
using test::Octets;
using test::tcp;
using test::udp;

struct Sample {
    Octets bytes;
    std::uint32_t wire = 0;
    Direction dir = Direction::In;
    std::uint64_t port = 0;
};

Sample whole(const Frame& frame) {
    Octets bytes = frame.bytes();
    const auto size = static_cast<std::uint32_t>(bytes.size());
    return {std::move(bytes), size};
}

// Every column and every mask of one row, beside what parse_frame() says.
void expect_row(const HeaderColumns& columns, std::size_t row, const PacketHeaders& headers,
                ByteView frame) {
    const RowMask bit = row_bit(row);
    EXPECT_EQ(columns.parsed[row], headers.parsed);
    EXPECT_EQ((columns.malformed & bit) != 0, is_malformed(headers.parsed));
    EXPECT_EQ(columns.byte_units[row], headers.byte_units);
    EXPECT_EQ((columns.v6 & bit) != 0, headers.ip_version == IpVersion::V6);
    EXPECT_TRUE((columns.rows() & bit) != 0);
    EXPECT_FALSE((columns.common & columns.malformed & bit) != 0);
    if (headers.fields.has(Field::PayloadLen)) {
        EXPECT_EQ(columns.payload_at[row], headers.payload_at);
    }
    for (const FieldRow& field : kFields) {
        const bool has = (columns.present_rows(field.field) & bit) != 0;
        EXPECT_EQ(has, headers.fields.has(field.field)) << field.name;
        if (!has || !headers.fields.has(field.field)) {
            continue;
        }
        if (field.kind == FieldKind::Address) {
            EXPECT_EQ(columns.address(field.field, row), read_address(field.field, headers, frame))
                << field.name;
            continue;
        }
        RowNumbers numbers{};
        EXPECT_EQ(columns.gather(field.field, bit, numbers), bit) << field.name;
        EXPECT_EQ(numbers[row], read_number(field.field, headers, frame)) << field.name;
    }
    if (headers.ip_version == IpVersion::V4) {
        EXPECT_EQ(columns.src_host[row], load_be<std::uint32_t>(headers.src.bytes.data()));
        EXPECT_EQ(columns.dst_host[row], load_be<std::uint32_t>(headers.dst.bytes.data()));
    }
}

// Frames that end where a page ends that nobody may read beyond.
class GuardedFrames {
public:
    GuardedFrames() {
        const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
        const std::size_t room = 32 * page;
        for (std::byte*& end : ends_) {
            void* const at = ::mmap(nullptr, room + page, PROT_READ | PROT_WRITE,
                                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            end = static_cast<std::byte*>(at) + room;
            ::mprotect(end, page, PROT_NONE);
        }
    }
    // The bytes of row `row` of the burst.
    ByteView place(std::size_t row, const Octets& bytes) {
        std::byte* const at = ends_[row] - bytes.size();
        std::copy(bytes.begin(), bytes.end(), at);
        return {at, bytes.size()};
    }

private:
    std::array<std::byte*, kMaxBurst> ends_{};
};

void expect_same(const std::vector<Sample>& burst, const ParseOptions& options) {
    static GuardedFrames memory;
    static const auto columns = std::make_unique<HeaderColumns>();
    FrameColumns frames;
    for (std::size_t row = 0; row < burst.size(); ++row) {
        frames.add(memory.place(row, burst[row].bytes), burst[row].wire);
        columns->set_ingress(row, burst[row].dir, burst[row].port);
    }
    parse_columns(frames, options, *columns);
    EXPECT_EQ(columns->rows(), first_rows(burst.size()));
    for (const RowMask mask : columns->present) {
        EXPECT_EQ(mask & ~columns->rows(), 0U);
    }
    EXPECT_EQ(
        (columns->malformed | columns->common | columns->not_ip | columns->bad_ipv4 | columns->v6) &
            ~columns->rows(),
        0U);
    for (std::size_t row = 0; row < burst.size(); ++row) {
        PacketHeaders headers;
        headers.dir = burst[row].dir;
        headers.port = burst[row].port;
        const FrameView frame = frames.frame(row);
        if (parse_frame(frame, options.tunnels, headers) == Parsed::Cut && !options.captured) {
            headers.parsed = Parsed::TooDeep;
        }
        SCOPED_TRACE("row " + std::to_string(row));
        expect_row(*columns, row, headers, frame.bytes);
        EXPECT_EQ(columns->headers(row), headers);
    }
}

Octets ports_only(std::uint16_t source, std::uint16_t destination) {
    Octets bytes;
    test::put16(bytes, source);
    test::put16(bytes, destination);
    return bytes;
}

std::vector<Sample> samples() {
    const auto v6 = [](Frame frame) { return frame.src("2001:db8::1").dst("2001:db8:7::2"); };
    const std::vector<Frame> frames{
        udp().src("10.0.0.1").dst("192.0.2.200").sport(7).dport(53).size(100),
        tcp().src("10.0.0.1").sport(9).dport(443).flags(0xF5A).ttl(3).tos(0xB8).size(1500),
        tcp().src("255.255.255.255").data_offset(15).payload(40),
        v6(udp()).sport(60000).dport(53).size(100),
        v6(tcp()).dport(443).flags(0x12).ttl(200).tos(0x2C).size(90),
        v6(udp()).tos(0xB8),
        udp().src("10.0.0.1").pad(18),
        udp().src("10.0.0.1"),
        tcp().src("10.0.0.1"),
        udp().src("10.0.0.1").vlan(5).size(64),
        tcp().src("10.0.0.1").vlan(4095, 0x88A8).size(90),
        v6(tcp()).vlan(7, 0x9100).size(100),
        v6(udp()).vlan(8, 0x9200),
        udp().src("10.0.0.1").vlan(5).vlan(6),
        udp().src("10.0.0.1").options(Octets(4)).size(90),
        udp().src("10.0.0.1").frag(0, true).size(90),
        tcp().src("10.0.0.1").frag(8, false).size(90),
        udp().src("10.0.0.1").udp_len(7),
        udp().src("10.0.0.1").udp_len(8).size(90),
        udp().src("10.0.0.1").udp_len(0).size(90),
        udp().src("10.0.0.1").udp_len(500).size(90),
        tcp().src("10.0.0.1").data_offset(15),
        tcp().src("10.0.0.1").data_offset(4),
        udp().src("10.0.0.1").ip_len(2000).size(90),
        udp().src("10.0.0.1").ip_len(0).size(90),
        udp().src("10.0.0.1").ip_len(40).size(90),
        tcp().src("10.0.0.1").ip_len(30).size(90),
        v6(udp()).ip_len(0).size(100),
        v6(udp()).ip_len(5).size(100),
        v6(tcp()).extensions(0, {std::byte{6}, std::byte{0}, {}, {}, {}, {}, {}, {}}).size(120),
        udp().src("10.0.0.1").dport(4789).size(160),
        udp().src("10.0.0.1").proto(132).carries(ports_only(5, 6)).size(90),
        udp().src("10.0.0.1").proto(1).size(90),
        v6(udp()).proto(58).size(90),
        udp().src("10.0.0.1").proto(47).size(120),
        udp().src("10.0.0.1").proto(4).carries(tcp().src("10.9.9.9").packet()),
        udp().src("10.0.0.1").shim(0x8864, test::pppoe(0x21)).size(90),
        udp().src("10.0.0.1").shim(0x8864, test::compressed_pppoe(0x21)).size(90),
        v6(tcp()).shim(0x8864, test::compressed_pppoe(0x57)).size(120),
        udp().src("10.0.0.1").shim(0x8909, test::metadata(0x0800)).size(90),
        v6(tcp()).vlan(7).shim(0x8909, test::metadata(0x86DD, 2, 2)).size(120),
        test::arp().ether_type(0x8909).size(60),
        udp()
            .src("10.0.0.1")
            .dport(6081)
            .carries(test::geneve(0x0800, udp().src("10.9.9.9").packet())),
        udp().src("10.0.0.1").dport(2152).carries(test::gtpu(v6(tcp()).packet(), {1, 2})),
        udp().src("10.0.0.1").dport(8472).carries(test::vxlan(tcp().src("10.9.9.9").bytes())),
        udp().src("10.0.0.1").ether_type(0x0300),
        test::arp(),
        test::arp().size(60),
        test::arp().vlan(9).size(64),
        test::arp().vlan(9, 0x88A8).vlan(4).size(64),
        test::arp().ether_type(0x05FF).size(60),
        test::arp().ether_type(0x0600).vlan(4).size(60),
        test::arp().ether_type(0xFFFF).size(60),
        test::arp().ether_type(0x8847).size(60),
        test::arp().ether_type(0x8848).size(60),
        test::arp().vlan(5).cut(43),
        udp().src("10.0.0.1").cut(13),
        udp().src("10.0.0.1").cut(14),
        udp().src("10.0.0.1").cut(41),
        tcp().src("10.0.0.1").cut(50),
        v6(tcp()).cut(61),
        v6(tcp()).cut(70),
        udp().src("10.0.0.1").vlan(3).cut(45),
        udp().src("10.0.0.1").size(65'535),
        udp().src("10.0.0.1").size(65'549 - 14).pad(14),
        udp().src("10.0.0.1").pad(70'000),
    };
    std::vector<Sample> all;
    for (const Frame& frame : frames) {
        all.push_back(whole(frame));
    }
    return all;
}

const ParseOptions kOptions[] = {
    {},
    {.captured = true},
    {.tunnels = {.gre = true, .vxlan = true, .ipip = true}, .captured = false},
    {.tunnels = {.vxlan = true}, .captured = true},
    {.tunnels = test::kAllTunnels, .captured = true},
    {.tunnels = {.others = {{{53, UdpTunnel::Geneve}}}}, .captured = true},
};

// Each frame alone, in every place of a burst of its own kind, and all of them together.
TEST(ParseColumns, SaysOfEveryKindOfFrameWhatParseFrameSays) {
    const std::vector<Sample> all = samples();
    for (const ParseOptions& options : kOptions) {
        for (std::size_t i = 0; i < all.size(); ++i) {
            SCOPED_TRACE("frame " + std::to_string(i));
            for (const std::size_t count : {1, 5, 8, 32}) {
                expect_same(std::vector<Sample>(count, all[i]), options);
            }
        }
        for (std::size_t first = 0; first < all.size(); ++first) {
            std::vector<Sample> burst;
            for (std::size_t row = 0; row < kMaxBurst; ++row) {
                burst.push_back(all[(first + row) % all.size()]);
            }
            expect_same(burst, options);
        }
    }
}

TEST(ParseColumns, TakesTheCommonShapeEightAtATime) {
    const auto columns = std::make_unique<HeaderColumns>();
    const std::vector<Octets> common{udp().src("10.0.0.1").size(100).bytes(),
                                     tcp().src("10.0.0.1").vlan(5).size(100).bytes(),
                                     tcp().src("2001:db8::1").dst("2001:db8::2").size(100).bytes(),
                                     udp().src("2001:db8::1").dst("2001:db8::2").vlan(9).bytes()};
    FrameColumns frames;
    for (std::size_t row = 0; row < kMaxBurst; ++row) {
        const Octets& bytes = common[row % common.size()];
        frames.add(bytes, static_cast<std::uint32_t>(bytes.size()));
    }
    parse_columns(frames, {}, *columns);
    EXPECT_EQ(columns->common, ~RowMask{0});
}

TEST(ParseColumns, WalksNoFrameThatIsNotIp) {
    const auto columns = std::make_unique<HeaderColumns>();
    const std::vector<Octets> other{test::arp().size(60).bytes(),
                                    test::arp().vlan(9).size(64).bytes(),
                                    test::arp().ether_type(0x0026).size(60).bytes(),  // 802.3
                                    udp().src("10.0.0.1").ether_type(0x88B5).size(60).bytes()};
    FrameColumns frames;
    for (std::size_t row = 0; row < kMaxBurst; ++row) {
        const Octets& bytes = other[row % other.size()];
        frames.add(bytes, static_cast<std::uint32_t>(bytes.size()));
    }
    parse_columns(frames, {}, *columns);
    EXPECT_EQ(columns->not_ip, ~RowMask{0});
}

TEST(ParseColumns, WalksNoIpv4HeaderThatContradictsItself) {
    const auto columns = std::make_unique<HeaderColumns>();
    const auto with_first_byte = [](Frame frame, std::size_t at, std::uint8_t value) {
        Octets bytes = frame.src("10.0.0.1").size(64).bytes();
        bytes[at] = static_cast<std::byte>(value);
        return bytes;
    };
    const std::vector<Octets> bad{with_first_byte(udp(), kEthernetSize, 0x55),
                                  with_first_byte(tcp(), kEthernetSize, 0x44),
                                  udp().src("10.0.0.1").ip_len(19).size(64).bytes(),
                                  udp().src("10.0.0.1").vlan(9).ip_len(1).size(64).bytes()};
    FrameColumns frames;
    for (std::size_t row = 0; row < kMaxBurst; ++row) {
        const Octets& bytes = bad[row % bad.size()];
        frames.add(bytes, static_cast<std::uint32_t>(bytes.size()));
    }
    parse_columns(frames, {}, *columns);
    EXPECT_EQ(columns->bad_ipv4, ~RowMask{0});
    EXPECT_EQ(columns->malformed, ~RowMask{0});
    EXPECT_EQ(columns->parsed[0], Parsed::BadIpHeader);
}

TEST(ParseColumns, GivesTheHeadersOriginsThatCameLater) {
    const auto columns = std::make_unique<HeaderColumns>();
    const Octets plain = udp().src("10.0.0.1").size(100).bytes();
    const Octets odd = udp().src("10.0.0.1").options(Octets(4)).size(100).bytes();
    FrameColumns frames;
    for (const Octets* bytes : {&plain, &odd, &plain}) {
        frames.add(*bytes, static_cast<std::uint32_t>(bytes->size()));
    }
    parse_columns(frames, {}, *columns);
    EXPECT_FALSE(columns->headers(0).fields.has(Field::IpSrcCountry));
    columns->src_country.fill(81);
    columns->dst_asn.fill(64'500);
    columns->add_present(HeaderPart::SrcCountry, 0b011);
    columns->add_present(HeaderPart::DstAsn, 0b010);
    EXPECT_EQ(columns->headers(0).src_country, 81);
    EXPECT_FALSE(columns->headers(0).fields.has(Field::IpDstAsn));
    EXPECT_TRUE(columns->headers(1).fields.has(Field::IpSrcCountry));
    EXPECT_EQ(columns->headers(1).dst_asn, 64'500U);
    EXPECT_FALSE(columns->headers(2).fields.has(Field::IpSrcCountry));
}

// Frames of the table with some bytes changed, cut and lengthened, in bursts of any size.
TEST(ParseColumns, SaysOfMutatedFramesWhatParseFrameSays) {
    const char* const given = std::getenv("SLUICE_TEST_SEED");  // repeats a run
    const std::uint64_t seed = given == nullptr ? 1 : std::strtoull(given, nullptr, 10);
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random{seed};
    const std::vector<Sample> all = samples();
    const auto wanted = static_cast<std::size_t>(test::rounds(120'000));
    std::size_t frames = 0;
    while (frames < wanted && !HasFailure()) {
        std::vector<Sample> burst;
        for (std::size_t count = random() % kMaxBurst + 1; count > 0; --count) {
            Sample sample = all[random() % (all.size() - 3)];  // but for the largest
            sample.dir = random() % 2 == 0 ? Direction::In : Direction::Out;
            sample.port = random() % 3 == 0 ? 0 : random();
            for (std::size_t changes = random() % 4; changes > 0; --changes) {
                const std::size_t within = std::min<std::size_t>(sample.bytes.size(), 80);
                sample.bytes[random() % within] = static_cast<std::byte>(random());
            }
            if (random() % 4 == 0) {
                sample.bytes.resize(random() % 120);
            }
            sample.wire = static_cast<std::uint32_t>(sample.bytes.size());
            if (random() % 8 == 0) {
                sample.wire += static_cast<std::uint32_t>(random() % 300) - 50;
            }
            burst.push_back(std::move(sample));
        }
        frames += burst.size();
        expect_same(burst, kOptions[random() % std::size(kOptions)]);
    }
}

}  // namespace
}  // namespace sluice::parse_columns_test
