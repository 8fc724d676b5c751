#include "dataplane/xdp/monotonic_now.hpp"
#include "lib/capture/reader.hpp"
#include "lib/packet/neighbour_discovery.hpp"
#include "lib/packet/parse.hpp"
#include "lib/packet/transport.hpp"
#include "tests/packets/seen.hpp"
#include "tests/unit/dataplane/xdp/program_box.hpp"

#include <gtest/gtest.h>

#include <linux/bpf.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

// The program in the kernel, run by BPF_PROG_TEST_RUN: what it finds in frames, beside what the
// parser of the box finds in them.
namespace sluice::test::port_program_test {
namespace {

class PortProgramTest : public ::testing::Test {
protected:
    void SetUp() override {
        if (!ProgramBox::is_possible()) {
            GTEST_SKIP() << "programs in the kernel want root";
        }
    }
};

IpPrefix network(std::string_view text) {
    const auto prefix = parse_prefix(text);
    if (prefix) {
        return *prefix;
    }
    const auto address = parse_address(text);
    return {address->version, address->address,
            static_cast<std::uint8_t>(address->version == IpVersion::V4 ? 32 : 128)};
}

// What the box calls ip.src; nullopt: there is none.
std::optional<VersionedAddress> source_of(const Octets& frame) {
    const PacketHeaders headers = seen(frame);
    if (!headers.fields.has(Field::IpSrc)) {
        return std::nullopt;
    }
    return VersionedAddress{headers.ip_version, headers.src};
}

// By which neighbours find each other.
bool is_left_to_box(const Octets& frame) {
    return is_neighbour_discovery(seen(frame));
}

// So many headers of options for the destination, with ICMPv6 behind them.
Octets options_before_icmpv6(int headers) {
    Octets chain;
    for (int i = 1; i <= headers; ++i) {
        put(chain, extension(i == headers ? 58 : 60, 0));
    }
    return chain;
}

// Each source has a row, so that one run over a frame says which source the program has found.
void expect_same_sources(const std::vector<Octets>& frames) {
    std::map<VersionedAddress, std::uint32_t> rows;
    std::vector<EarlyDrop> drops;
    for (const Octets& frame : frames) {
        const auto source = source_of(frame);
        if (source && rows.try_emplace(*source, static_cast<std::uint32_t>(rows.size())).second) {
            drops.push_back(
                early_drop({source->version, source->address,
                            static_cast<std::uint8_t>(source->version == IpVersion::V4 ? 32 : 128)},
                           static_cast<std::uint32_t>(rows.size() - 1)));
        }
    }
    ASSERT_LT(rows.size(), std::size_t{SLUICE_DROP_ROWS});
    ProgramBox box{drops.size() + 1};
    ASSERT_EQ(box.table().publish(drops), drops.size());
    std::uint64_t found = 0;
    for (std::size_t i = 0; i < frames.size(); ++i) {
        const auto source = source_of(frames[i]);
        const std::uint64_t before = source ? box.dropped_early(rows.at(*source)) : 0;
        if (!box.run(frames[i])) {
            EXPECT_TRUE(frames[i].size() < 14 || frames[i].size() > 3000) << frames[i].size();
            continue;
        }
        const bool is_left = source && is_left_to_box(frames[i]);
        found += source && !is_left ? 1 : 0;
        if (source) {
            ASSERT_EQ(box.dropped_early(rows.at(*source)), before + (is_left ? 0 : 1))
                << "frame " << i << " of " << frames[i].size() << " bytes, from "
                << to_text(source->version, source->address);
        }
    }
    // Nor did it find one where there is none.
    std::uint64_t all = 0;
    for (std::uint32_t row = 0; row < rows.size(); ++row) {
        all += box.dropped_early(row);
    }
    EXPECT_EQ(all, found);
}

std::vector<Octets> frames_with_extensions() {
    const auto solicitation = [] { return icmpv6(135, 0).src("fe80::7").ttl(255); };
    return {
        solicitation().extensions(0, extension(58, 0)).bytes(),
        solicitation().extensions(43, joined(extension(60, 0), extension(58, 1, 16))).bytes(),
        solicitation().extensions(51, extension(58, 4, 24)).bytes(),
        solicitation().extensions(135, joined(extension(139, 0), extension(140, 0))).bytes(),
        solicitation().extensions(60, options_before_icmpv6(16)).bytes(),
        solicitation().extensions(60, options_before_icmpv6(17)).bytes(),
        solicitation().extensions(0, extension(58, 9)).bytes(),
        solicitation().extensions(0, extension(59, 0)).bytes(),
        solicitation().frag(0, false).bytes(),
        solicitation().frag(0, true).bytes(),
        solicitation().frag(8, true).bytes(),
        icmpv6(133, 0).src("fe80::8").ttl(254).extensions(0, extension(58, 0)).bytes(),
        icmpv6(129, 0).src("fe80::9").ttl(255).extensions(0, extension(58, 0)).bytes(),
        tcp().src("fe80::a").ttl(255).extensions(0, extension(6, 0)).bytes(),
        udp().src("fe80::b").ttl(255).frag(8, false).bytes(),
    };
}

std::vector<Octets> frames_of_all_kinds() {
    std::vector<Octets> frames{
        udp().bytes(),
        tcp().flags(2).bytes(),
        icmp(8, 0).bytes(),
        arp().bytes(),
        udp().src("10.1.2.3").vlan(5).bytes(),
        udp().src("10.1.2.4").vlan(5, 0x88A8).vlan(6).bytes(),
        udp().src("10.1.2.5").vlan(1, 0x9100).vlan(2).vlan(3).vlan(4, 0x9200).bytes(),
        udp().src("2001:db8::7").bytes(),
        tcp().src("2001:db8::8").vlan(9).bytes(),
        udp().src("10.1.2.6").shim(0x8847, label(true)).bytes(),
        udp().src("10.1.2.7").shim(0x8847, joined(label(false), label(true))).bytes(),
        udp().src("2001:db8::9").shim(0x8848, label(true)).bytes(),
        udp().src("10.1.2.8").shim(0x8864, pppoe(0x0021)).bytes(),
        udp().src("10.1.2.9").shim(0x8864, compressed_pppoe(0x21)).bytes(),
        udp().src("2001:db8::a").shim(0x8864, pppoe(0x0057)).bytes(),
        udp().src("10.1.2.10").shim(0x8864, joined(pppoe(0x0281), label(true))).bytes(),
        udp().src("10.1.2.11").options(Octets(8, std::byte{1})).bytes(),
        udp().src("10.1.2.12").frag(8, false).bytes(),
        udp().src("10.1.2.13").frag(0, true).bytes(),
        udp().src("10.1.2.14").ihl(4).bytes(),
        udp().src("10.1.2.15").ip_len(19).bytes(),
        udp().src("10.1.2.16").ip_len(0).bytes(),
        udp().src("10.1.2.17").ihl(15).bytes(),
        udp().src("10.1.2.18").ether_type(0x86DD).bytes(),
        udp().src("2001:db8::b").ether_type(0x0800).bytes(),
        udp().src("10.1.2.19").ether_type(46).bytes(),
        udp().src("2001:db8::c").extensions(0, extension(17, 0)).bytes(),
        udp().src("2001:db8::d").ttl(255).extensions(0, extension(17, 0)).bytes(),
        icmpv6(135, 0).ttl(255).bytes(),
        icmpv6(137, 0).ttl(255).bytes(),
        icmpv6(135, 0).ttl(64).bytes(),
        icmpv6(128, 0).ttl(255).bytes(),
    };
    for (const Octets& frame : frames_with_extensions()) {
        frames.push_back(frame);
    }
    return frames;
}

TEST_F(PortProgramTest, FindsTheSourceThatTheBoxFindsInFramesOfAllKindsAndLengths) {
    std::vector<Octets> frames;
    for (const Octets& frame : frames_of_all_kinds()) {
        for (std::size_t size = 0; size <= frame.size(); ++size) {
            frames.push_back(head_of(frame, size));
        }
    }
    expect_same_sources(frames);
}

// Of all that comes with hop limit 255, neighbour discovery alone is left to the box.
TEST_F(PortProgramTest, LeavesNeighbourDiscoveryToTheBoxAndNothingElse) {
    const auto solicitation = [] { return icmpv6(135, 0).src("fe80::7").ttl(255); };
    const auto from = [](Frame frame) { return frame.src("fe80::7").ttl(255); };
    struct Row {
        const char* what;
        Octets frame;
        bool is_left;
    };
    const Row rows[] = {
        {"a router's solicitation", from(icmpv6(133, 0)).bytes(), true},
        {"a redirect", from(icmpv6(137, 0)).bytes(), true},
        {"an echo", from(icmpv6(128, 0)).bytes(), false},
        {"a type before them", from(icmpv6(132, 0)).bytes(), false},
        {"a type behind them", from(icmpv6(138, 0)).bytes(), false},
        {"one that was forwarded", icmpv6(135, 0).src("fe80::7").ttl(254).bytes(), false},
        {"behind options", solicitation().extensions(0, extension(58, 0)).bytes(), true},
        {"behind an authentication header",
         solicitation().extensions(51, extension(58, 4, 24)).bytes(), true},
        {"behind 16 headers", solicitation().extensions(60, options_before_icmpv6(16)).bytes(),
         true},
        {"behind 17", solicitation().extensions(60, options_before_icmpv6(17)).bytes(), false},
        {"behind options that are longer than the packet",
         solicitation().extensions(0, extension(58, 9)).bytes(), false},
        {"a first fragment", solicitation().frag(0, true).bytes(), true},
        {"a later fragment", solicitation().frag(8, true).bytes(), false},
        {"TCP", from(tcp()).bytes(), false},
        {"UDP behind options", from(udp()).extensions(0, extension(17, 0)).bytes(), false},
        {"nothing behind options", solicitation().extensions(0, extension(59, 0)).bytes(), false},
        {"a protocol that nobody knows", solicitation().extensions(253, extension(58, 0)).bytes(),
         false},
    };
    ProgramBox box{1};
    const EarlyDrop drops[] = {early_drop(network("fe80::/10"), 1)};
    ASSERT_EQ(box.table().publish(drops), 1U);
    for (const Row& row : rows) {
        const std::uint64_t before = box.dropped_early(1);
        ASSERT_TRUE(box.run(row.frame)) << row.what;
        EXPECT_EQ(box.dropped_early(1) == before, row.is_left) << row.what;
        EXPECT_EQ(is_left_to_box(row.frame), row.is_left) << row.what << ", as the box has it";
    }
}

TEST_F(PortProgramTest, FindsTheSourceThatTheBoxFindsInDamagedFrames) {
    const char* const given = std::getenv("SLUICE_TEST_SEED");
    const std::uint64_t seed = given == nullptr ? 1 : std::strtoull(given, nullptr, 10);
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random{seed};
    std::vector<Octets> frames;
    const std::vector<Octets> kinds = frames_of_all_kinds();
    for (int i = 0; i < 5000; ++i) {
        Octets frame = kinds[random() % kinds.size()];
        // Of the link layer and the first bytes of IP: where a frame is told from another.
        for (std::size_t changes = 1 + random() % 2; changes > 0; --changes) {
            frame[12 + random() % std::min<std::size_t>(frame.size() - 12, 24)] =
                static_cast<std::byte>(random());
        }
        frames.push_back(std::move(frame));
    }
    expect_same_sources(frames);
}

// More of them than the program steps over are the box's.
TEST_F(PortProgramTest, LeavesFramesOfManyTagsToTheBox) {
    Frame tagged = udp().src("10.1.2.3");
    for (std::uint16_t tag = 0; tag < 5; ++tag) {
        tagged.vlan(tag);
    }
    Octets labels;
    for (int i = 0; i < 4; ++i) {
        put(labels, label(false));
    }
    put(labels, label(true));
    ProgramBox box{10};
    const EarlyDrop drops[] = {early_drop(network("10.1.2.3"), 1)};
    ASSERT_EQ(box.table().publish(drops), 1U);
    for (const Octets& frame :
         {tagged.bytes(), udp().src("10.1.2.3").shim(0x8847, labels).bytes()}) {
        ASSERT_TRUE(source_of(frame).has_value());
        EXPECT_TRUE(box.run(frame).has_value());
    }
    EXPECT_EQ(box.dropped_early(1), 0U);
    EXPECT_EQ(box.counts().dropped_packets, 2U) << "as of any frame before the first beat";
}

TEST_F(PortProgramTest, FindsTheSourceThatTheBoxFindsInCaptures) {
    const char* const given = std::getenv("SLUICE_SHARED");
    const std::filesystem::path folder =
        std::filesystem::path{given == nullptr ? "shared" : given} / "data/pcaps";
    if (!std::filesystem::is_directory(folder)) {
        GTEST_SKIP() << "no captures in " << folder;
    }
    std::size_t files = 0;
    for (const auto& file : std::filesystem::recursive_directory_iterator{folder}) {
        Result<CaptureReader> reader = CaptureReader::open(file.path().string());
        if (!file.is_regular_file() || !reader) {
            continue;
        }
        SCOPED_TRACE(file.path().string());
        ++files;
        std::vector<Octets> frames;
        for (CapturedFrame frame; reader->next(frame) == CaptureReader::Next::Frame;) {
            frames.emplace_back(frame.bytes.begin(), frame.bytes.end());
        }
        expect_same_sources(frames);
    }
    EXPECT_GT(files, 0U);
}

TEST_F(PortProgramTest, DropsWhatItWasToldLastAndCountsItByRow) {
    ProgramBox box{10};
    const auto drops_from = [&](std::string_view source) {
        const std::uint64_t before = box.counts().dropped_packets;
        EXPECT_EQ(box.run(udp().src(source).bytes()), XDP_DROP);
        return box.counts().dropped_packets == before;  // else the program came to the bridge
    };
    EXPECT_FALSE(drops_from("10.0.0.1"));
    const EarlyDrop first[] = {early_drop(network("10.0.0.0/8"), 3),
                               early_drop(network("10.1.0.0/16"), 4),
                               early_drop(network("2001:db8::/32"), 5)};
    ASSERT_EQ(box.table().publish(first), 3U);
    EXPECT_TRUE(drops_from("10.0.0.1"));
    EXPECT_TRUE(drops_from("10.1.0.1"));
    EXPECT_TRUE(drops_from("10.1.255.255"));
    EXPECT_TRUE(drops_from("2001:db8:1::1"));
    EXPECT_FALSE(drops_from("11.0.0.1"));
    EXPECT_FALSE(drops_from("2001:db9::1"));
    EXPECT_FALSE(drops_from("::ffff:10.0.0.1")) << "an address of IPv6, not that of IPv4";
    EXPECT_EQ(box.dropped_early(3), 1U);
    EXPECT_EQ(box.dropped_early(4), 2U);
    EXPECT_EQ(box.dropped_early(5), 1U);
    const EarlyDrop second[] = {early_drop(network("10.1.0.0/16"), 4)};
    ASSERT_EQ(box.table().publish(second), 1U);
    EXPECT_FALSE(drops_from("10.0.0.1"));
    EXPECT_TRUE(drops_from("10.1.0.1"));
    EXPECT_EQ(box.dropped_early(4), 3U);
    ASSERT_EQ(box.table().publish({}), 0U);
    EXPECT_FALSE(drops_from("10.1.0.1"));
}

TEST_F(PortProgramTest, WhatHasNoRoomIsLeftToTheBox) {
    ProgramBox box{2};
    const EarlyDrop drops[] = {early_drop(network("10.0.0.1"), 1),
                               early_drop(network("10.0.0.2"), 1),
                               early_drop(network("10.0.0.3"), 1)};
    EXPECT_EQ(box.table().publish(drops), 2U);
    EXPECT_EQ(box.table().size(), 2U);
    for (const char* source : {"10.0.0.1", "10.0.0.2", "10.0.0.3"}) {
        EXPECT_EQ(box.run(udp().src(source).bytes()), XDP_DROP);
    }
    EXPECT_EQ(box.dropped_early(1), 2U);
    EXPECT_EQ(box.counts().dropped_packets, 1U);
}

TEST_F(PortProgramTest, OneNetworkComesAndGoesBesideTheOthers) {
    ProgramBox box{2};
    const auto dropped_from = [&](std::string_view source) {
        const std::uint64_t before = box.counts().dropped_packets;
        EXPECT_EQ(box.run(udp().src(source).bytes()), XDP_DROP);
        return box.counts().dropped_packets == before;
    };
    const EarlyDrop one = early_drop(network("10.0.0.1"), 1);
    const EarlyDrop other = early_drop(network("10.0.0.2"), 2);
    EXPECT_TRUE(box.table().add(one, 1));
    EXPECT_TRUE(box.table().add(other, 1));
    EXPECT_TRUE(box.table().add(other, 1)) << "again, in the place of the one before";
    EXPECT_FALSE(box.table().add(early_drop(network("10.0.0.3"), 3), 1));
    EXPECT_TRUE(dropped_from("10.0.0.1"));
    EXPECT_TRUE(dropped_from("10.0.0.2"));
    EXPECT_FALSE(dropped_from("10.0.0.3"));
    box.table().remove(one.network);
    box.table().remove(one.network);
    EXPECT_FALSE(dropped_from("10.0.0.1"));
    EXPECT_TRUE(dropped_from("10.0.0.2"));
    EXPECT_EQ(box.table().size(), 1U);
    box.table().remove(other.network);
    EXPECT_FALSE(dropped_from("10.0.0.2"));
    EXPECT_TRUE(box.table().add(one, 1));
    EXPECT_TRUE(dropped_from("10.0.0.1"));
}

TEST_F(PortProgramTest, AKeyThatPassesWinsOverTheNetworkThatItLiesIn) {
    ProgramBox box{10};
    EarlyDropTable& table = box.table();
    const auto dropped_from = [&](std::string_view source) {
        const std::uint64_t before = box.counts().dropped_packets;
        EXPECT_EQ(box.run(udp().src(source).bytes()), XDP_DROP);
        return box.counts().dropped_packets == before;
    };
    const std::uint64_t soon = monotonic_now() + 1'000'000'000'000;
    const EarlyDrop drops[] = {passing(network("10.0.0.1")), early_drop(network("10.0.0.2"), 2),
                               passing(network("10.0.0.2")), passing(network("10.0.0.3"), soon),
                               early_drop(network("10.0.0.0/24"), 1)};
    ASSERT_EQ(table.publish(drops), 5U);
    EXPECT_EQ(table.size(), 4U) << "of two of one network one has a place";
    EXPECT_FALSE(dropped_from("10.0.0.1"));
    EXPECT_FALSE(dropped_from("10.0.0.2")) << "where one of them passes, it is left to the box";
    EXPECT_FALSE(dropped_from("10.0.0.3"));
    EXPECT_TRUE(dropped_from("10.0.0.4"));
    // A penalty box of another rule, and what lifts it.
    EXPECT_FALSE(table.add(early_drop(network("10.0.0.1"), 2), 1));
    EXPECT_FALSE(dropped_from("10.0.0.1"));
    table.remove(passing(network("10.0.0.1")).network);
    EXPECT_FALSE(dropped_from("10.0.0.1"));
    EXPECT_TRUE(table.add(early_drop(network("10.0.0.4"), 2), 1));
    table.remove(passing(network("10.0.0.4")).network);
    EXPECT_TRUE(dropped_from("10.0.0.4")) << "the network goes on";
    // A key that is exempt no more is of its network.
    table.remove_ended(soon, 10);
    EXPECT_TRUE(dropped_from("10.0.0.3"));
    EXPECT_EQ(table.size(), 3U);
}

// "NETWORK row", as find() has them.
std::vector<std::string> found(const EarlyDropTable& table, std::string_view of,
                               std::size_t most = 100) {
    std::vector<std::string> texts;
    const IpPrefix sought = network(of);
    for (const EarlyDrop& one : table.find(early_drop(sought, 0).network, most).drops) {
        IpPrefix prefix{static_cast<IpVersion>(one.network.from.version),
                        {},
                        static_cast<std::uint8_t>(one.network.length - SLUICE_VERSION_BITS)};
        std::memcpy(prefix.address.bytes.data(), one.network.from.bytes, 16);
        texts.push_back(to_text(prefix) + " " + std::to_string(one.drop.row));
    }
    return texts;
}
using Texts = std::vector<std::string>;

TEST_F(PortProgramTest, FindsEntriesAroundANetworkAndInItInTheKernelsOwnMap) {
    ProgramBox box{20};
    EarlyDropTable& table = box.table();
    EXPECT_EQ(found(table, "10.1.2.3"), Texts{});
    const EarlyDrop drops[] = {
        early_drop(network("0.0.0.0/0"), 1),     early_drop(network("10.0.0.0/8"), 2),
        early_drop(network("10.1.2.0/23"), 3),   early_drop(network("10.1.2.3"), 4),
        early_drop(network("10.1.2.4"), 5),      early_drop(network("11.0.0.0/8"), 6),
        early_drop(network("2001:db8::/33"), 7), early_drop(network("2001:db8::7"), 8)};
    ASSERT_EQ(table.publish(drops), std::size(drops));
    EXPECT_EQ(found(table, "10.1.2.3"),
              (Texts{"10.1.2.3 4", "10.1.2.0/23 3", "10.0.0.0/8 2", "0.0.0.0/0 1"}));
    EXPECT_EQ(found(table, "10.1.3.9"), (Texts{"10.1.2.0/23 3", "10.0.0.0/8 2", "0.0.0.0/0 1"}));
    EXPECT_EQ(found(table, "12.0.0.0/8"), (Texts{"0.0.0.0/0 1"}));
    Texts inside = found(table, "10.1.2.0/24");
    std::sort(inside.begin() + 3, inside.end());
    EXPECT_EQ(inside,
              (Texts{"10.1.2.0/23 3", "10.0.0.0/8 2", "0.0.0.0/0 1", "10.1.2.3 4", "10.1.2.4 5"}));
    EXPECT_EQ(found(table, "2001:db8::7"), (Texts{"2001:db8::7 8", "2001:db8::/33 7"}));
    EXPECT_EQ(found(table, "2001:db8:8000::/33"), Texts{});
    EXPECT_EQ(found(table, "2001:db8::/32").size(), 2U);
    EXPECT_EQ(found(table, "::"), Texts{}) << "no address of IPv4";
    // What is taken out by another way is gone from it, and one more is there.
    table.remove(early_drop(network("10.1.2.3"), 0).network);
    ASSERT_TRUE(table.add(early_drop(network("10.1.2.3"), 9, monotonic_now() + 1'000'000'000), 1));
    EXPECT_EQ(found(table, "10.1.2.3", 1), (Texts{"10.1.2.3 9"}));
}

TEST_F(PortProgramTest, SaysThatThereAreMoreThanWereAskedFor) {
    ProgramBox box{400};
    std::vector<EarlyDrop> drops;
    for (int i = 0; i < 256; ++i) {
        drops.push_back(early_drop(network("10.0.0." + std::to_string(i)), 1));
    }
    drops.push_back(early_drop(network("10.0.0.0/8"), 1));
    ASSERT_EQ(box.table().publish(drops), drops.size());
    const auto ask = [&](std::string_view of, std::size_t most) {
        return box.table().find(early_drop(network(of), 0).network, most);
    };
    std::set<std::string> each;
    for (const EarlyDrop& one : ask("10.0.0.0/29", 100).drops) {
        each.insert({reinterpret_cast<const char*>(&one.network), sizeof(one.network)});
    }
    EXPECT_EQ(each.size(), 9U) << "of a narrow network each part is looked up, once";
    EXPECT_EQ(ask("10.0.0.0/24", 257).drops.size(), 257U);
    EXPECT_FALSE(ask("10.0.0.0/24", 257).more);
    EXPECT_EQ(ask("10.0.0.0/24", 256).drops.size(), 256U);
    EXPECT_TRUE(ask("10.0.0.0/24", 256).more);
    EXPECT_TRUE(ask("10.0.0.0/24", 0).more);
    EXPECT_TRUE(ask("10.0.0.1", 1).more);
    EXPECT_FALSE(ask("11.0.0.0/24", 0).more);
    EXPECT_TRUE(ask("10.0.0.0/24", 257).whole);
}

// A network whose entries could be anywhere in a large map; those around it are found all the same.
TEST_F(PortProgramTest, ReadsNoMoreOfAMapThanIsBounded) {
    std::vector<EarlyDrop> drops(EarlyDropTable::kMostRead, early_drop(network("10.0.0.0/32"), 1));
    for (std::size_t i = 0; i < drops.size(); ++i) {
        drops[i].network.from.bytes[1] = static_cast<__u8>(i >> 16);
        drops[i].network.from.bytes[2] = static_cast<__u8>(i >> 8);
        drops[i].network.from.bytes[3] = static_cast<__u8>(i);
    }
    ProgramBox box{drops.size() + 1};
    ASSERT_EQ(box.table().publish(drops), drops.size());
    const auto ask = [&](std::string_view of) {
        return box.table().find(early_drop(network(of), 0).network, 1000);
    };
    EXPECT_TRUE(ask("11.0.0.0/8").whole);
    EXPECT_TRUE(box.table().add(early_drop(network("10.0.0.0/8"), 2), 1));
    EXPECT_FALSE(ask("11.0.0.0/8").whole);
    const EarlyDropTable::Found around = ask("10.200.0.1");
    EXPECT_TRUE(around.whole);
    ASSERT_EQ(around.drops.size(), 1U);
    EXPECT_EQ(around.drops[0].drop.row, 2U);
    // Of a narrow network each part is looked up.
    for (const char* part : {"10.0.255.0/24", "10.0.240.0/20"}) {
        const EarlyDropTable::Found inside =
            box.table().find(early_drop(network(part), 0).network, 5000);
        EXPECT_TRUE(inside.whole) << part;
        EXPECT_EQ(inside.drops.size(), 1 + (std::size_t{1} << (32 - network(part).length))) << part;
    }
    EXPECT_TRUE(ask("10.0.240.0/20").more);
}

TEST_F(PortProgramTest, WhatHasEndedGivesItsPlaceBack) {
    ProgramBox box{3};
    EarlyDropTable& table = box.table();
    const auto of = [](const char* source, std::uint64_t until) {
        return early_drop(network(source), 1, until);
    };
    const EarlyDrop drops[] = {of("10.0.0.0/8", 0), of("10.0.0.1", 100), of("10.0.0.2", 200)};
    ASSERT_EQ(table.publish(drops), 3U);
    EXPECT_FALSE(table.add(of("10.0.0.3", 1000), 99));
    table.remove_ended(99, 10);
    EXPECT_EQ(table.size(), 3U);
    table.remove_ended(300, 1);
    EXPECT_EQ(table.size(), 2U) << "no more than it was asked for";
    EXPECT_TRUE(table.add(of("10.0.0.3", 1000), 100));
    EXPECT_TRUE(table.add(of("10.0.0.4", 1000), 300)) << "in the place of one that has ended";
    EXPECT_FALSE(table.add(of("10.0.0.5", 1000), 999));
    // Of one that was given another end, the first means nothing.
    EXPECT_TRUE(table.add(of("10.0.0.3", 2000), 999));
    table.remove_ended(1000, 10);
    EXPECT_EQ(table.size(), 2U);
    EXPECT_EQ(box.run(udp().src("10.0.0.9").bytes()), XDP_DROP);
    EXPECT_EQ(box.dropped_early(1), 1U) << "what is for ever stays";
    table.remove_ended(2000, 10);
    EXPECT_EQ(table.size(), 1U);
    // Nor do ends of what is taken out pile up.
    for (int i = 0; i < 100; ++i) {
        EXPECT_TRUE(table.add(of("10.0.0.7", 5000), 2000));
        table.remove(of("10.0.0.7", 0).network);
    }
    EXPECT_TRUE(table.add(of("10.0.0.7", 5000), 2000));
    table.remove_ended(5000, 1);
    table.remove_ended(5000, 1000);
    EXPECT_EQ(table.size(), 1U);
}

// `lo` has no driver that takes a program.
TEST_F(PortProgramTest, AnInterfaceWithoutAPlaceAtItsDriverIsRefusedWhereThatIsWanted) {
    EXPECT_THROW(ProgramBox(0, {}, KernelMode::Native), std::runtime_error);
    const ProgramBox box{0, {}, KernelMode::Generic};
    EXPECT_EQ(box.run(udp().bytes()), XDP_DROP);
}

TEST_F(PortProgramTest, ABanEndsByItself) {
    ProgramBox box{10};
    constexpr std::uint64_t kSoon = 200'000'000;
    const EarlyDrop drops[] = {early_drop(network("10.0.0.1"), 1, monotonic_now() + kSoon),
                               early_drop(network("10.0.0.2"), 2, monotonic_now() + 1000 * kSoon),
                               early_drop(network("10.0.0.3"), 3, 1)};
    ASSERT_EQ(box.table().publish(drops), 3U);
    while (monotonic_now() <= drops[0].drop.until) {
        std::this_thread::sleep_for(std::chrono::milliseconds{10});
    }
    for (const char* source : {"10.0.0.1", "10.0.0.2", "10.0.0.3"}) {
        EXPECT_EQ(box.run(udp().src(source).bytes()), XDP_DROP);
    }
    EXPECT_EQ(box.dropped_early(1), 0U);
    EXPECT_EQ(box.dropped_early(2), 1U);
    EXPECT_EQ(box.dropped_early(3), 0U);
}

Octets arp_for(std::string_view target) {
    Octets frame = udp().ether_type(0x0806).bytes();
    const Octets head = head_of(frame, 14);
    Octets body;
    for (const unsigned word : {1U, 0x0800U, 0x0604U, 1U}) {
        put16(body, word);
    }
    body.resize(24);
    const auto address = parse_address(target);
    body.insert(body.end(), address->address.bytes.begin(), address->address.bytes.begin() + 4);
    return joined(head, body);
}

const ManagementOptions kManagement{
    .allow = {{kProtoTcp, 22}, {kProtoIcmp, 0}},
    .to = {*parse_address("192.0.2.10"), *parse_address("2001:db8::10")},
    .rate = 10};

TEST_F(PortProgramTest, WhatIsForTheBoxItselfGoesToTheKernelAndNothingElseDoes) {
    struct Row {
        std::string name;
        Octets frame;
        bool managed;
    };
    const Row rows[] = {
        {"ssh", tcp().dst("192.0.2.10").dport(22).bytes(), true},
        {"ssh over IPv6", tcp().dst("2001:db8::10").dport(22).bytes(), true},
        {"behind a tag", tcp().dst("192.0.2.10").dport(22).vlan(5).bytes(), true},
        {"ping", icmp(8, 0).dst("192.0.2.10").bytes(), true},
        {"its ARP", arp_for("192.0.2.10"), true},
        {"another's ARP", arp_for("192.0.2.11"), false},
        {"ssh of a host behind", tcp().dst("192.0.2.11").dport(22).bytes(), false},
        {"from the port of ssh", tcp().dst("192.0.2.10").sport(22).dport(23).bytes(), false},
        {"over UDP", udp().dst("192.0.2.10").dport(22).bytes(), false},
        {"a fragment", tcp().dst("192.0.2.10").dport(22).frag(8, false).bytes(), false},
        {"a first fragment", tcp().dst("192.0.2.10").dport(22).frag(0, true).bytes(), false},
        {"with options", tcp().dst("192.0.2.10").dport(22).options(Octets(4, std::byte{1})).bytes(),
         false},
    };
    for (const Row& row : rows) {
        ProgramBox box{0, kManagement};
        EXPECT_EQ(box.run(row.frame), row.managed ? XDP_PASS : XDP_DROP) << row.name;
        EXPECT_EQ(box.counts().managed_packets, row.managed ? 1U : 0U) << row.name;
    }
}

TEST_F(PortProgramTest, ManagementComesBeforeEarlyDropAndHasABudgetOfItsOwn) {
    ProgramBox box{10, kManagement};
    const EarlyDrop drops[] = {early_drop(network("10.0.0.1"), 1)};
    ASSERT_EQ(box.table().publish(drops), 1U);
    const Octets frame = tcp().src("10.0.0.1").dst("192.0.2.10").dport(22).bytes();
    EXPECT_EQ(box.run(frame), XDP_PASS);
    EXPECT_EQ(box.dropped_early(1), 0U);
    // 10 packets a second: a thousand at once are more than passes in the longest pause of a test.
    int passed = 1;
    for (int i = 1; i < 1000; ++i) {
        passed += box.run(frame) == XDP_PASS ? 1 : 0;
    }
    EXPECT_EQ(box.counts().managed_packets, static_cast<unsigned>(passed));
    EXPECT_EQ(box.counts().managed_refused, 1000U - static_cast<unsigned>(passed));
    EXPECT_GT(box.counts().managed_refused, 0U);
    EXPECT_EQ(box.counts().dropped_packets, 0U) << "the box would not get them";
}

}  // namespace
}  // namespace sluice::test::port_program_test
