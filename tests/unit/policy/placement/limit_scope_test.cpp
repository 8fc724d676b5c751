#include "lib/policy/placement/limit_scope.hpp"

#include "lib/packet/rss.hpp"
#include "lib/rules/group.hpp"
#include "tests/chance.hpp"

#include <gtest/gtest.h>

#include <map>

namespace sluice::limit_scope_test {
namespace {

using test::Chance;

// Random conditions are made of few texts: each is parsed once.
const Expression& parsed(std::string_view text) {
    static std::map<std::string, Expression, std::less<>> known;
    const auto at = known.find(text);
    if (at != known.end()) {
        return at->second;
    }
    auto outcome = parse_expression(text);
    EXPECT_TRUE(std::holds_alternative<ParsedExpression>(outcome)) << text;
    return known.emplace(text, std::get<ParsedExpression>(std::move(outcome)).tree).first->second;
}

// `prefix` bits of an IPv4 address, half of its IPv6 ones from the 24th on.
KeyPart part(Field field, std::uint8_t v4 = 32, std::uint8_t v6 = 128) {
    return {.field = field, .v4_length = v4, .v6_length = v6};
}

const GroupingKey kSrc{part(Field::IpSrc)};
const GroupingKey kSrc24{part(Field::IpSrc, 24, 64)};
const GroupingKey kSrc16{part(Field::IpSrc, 16, 64)};
const GroupingKey kSrc24V48{part(Field::IpSrc, 24, 48)};
const GroupingKey kDst{part(Field::IpDst)};
const GroupingKey kPair{part(Field::IpSrc), part(Field::IpDst)};
const GroupingKey kClient{part(Field::ClientIp)};
const GroupingKey kOuter{part(Field::OuterIpSrc)};
const GroupingKey kPorts{part(Field::IpSrc), part(Field::IpDst), part(Field::L4Sport),
                         part(Field::L4Dport)};
const GroupingKey kAll{part(Field::IpSrc),   part(Field::IpDst),   part(Field::L4Sport),
                       part(Field::L4Dport), part(Field::IpProto), part(Field::IpFrag)};
GroupingKey with(GroupingKey key, Field field) {
    key.push_back(part(field));
    return key;
}
GroupingKey unwrapped_client() {
    KeyPart client = part(Field::ClientIp);
    client.unwrapping.add(Wrapping::Nat64);
    return {client};
}

using By = PortRssMapping::By;
RssMapping box(Rss outside, Rss inside, By by = By::Handover) {
    return {.ports = {{.pair = "up", .dir = Direction::In, .by = by, .rss = outside},
                      {.pair = "up", .dir = Direction::Out, .by = by, .rss = inside}}};
}
RssMapping two_ways() {
    RssMapping both = box(Rss::Source, Rss::Source);
    both.ports.push_back(
        {.pair = "other", .dir = Direction::In, .by = By::Port, .rss = Rss::Source, .way = 9});
    return both;
}

struct Row {
    std::string_view name;
    std::string_view when;  // empty: every packet
    GroupingKey key;
    RssMapping box;
    bool local;
    MissingKey missing = MissingKey::Skip;
};

TEST(LimitScope, Table) {
    const RssMapping source = usual_rss_mapping();
    const RssMapping one{
        .ports = {{.by = By::OneWorker}, {.dir = Direction::Out, .by = By::OneWorker}}};
    const RssMapping prefix = box(Rss::SourcePrefix, Rss::SourcePrefix);
    const RssMapping client = box(Rss::Source, Rss::Destination);
    const RssMapping tuple = box(Rss::FiveTuple, Rss::FiveTuple);
    const RssMapping nic_tuple = box(Rss::FiveTuple, Rss::FiveTuple, By::Port);
    RssMapping tunnels = source;
    tunnels.tunnels = true;
    const std::string_view pinned = "ip.frag eq \"none\" and ip.proto in {6 17}";
    const Row rows[] = {
        {"source", "", kSrc, source, true},
        {"more than the source", "", kPair, source, true},
        {"nothing", "", {}, source, false},
        {"nothing, one worker", "", {}, one, true},
        {"no port is known", "", kSrc, RssMapping{}, false},
        {"destination", "", kDst, source, false},
        {"a prefix", "", kSrc24, source, false},
        {"client.ip as it came", "", kClient, source, true},
        {"client.ip unwrapped", "", unwrapped_client(), source, false},
        {"shared when it is missing", "", kSrc, source, false, MissingKey::Share},
        {"shared, one worker", "", kSrc, one, true, MissingKey::Share},
        {"prefix by prefix", "", kSrc24, prefix, true},
        {"source by prefix", "", kSrc, prefix, true},
        {"a wider prefix", "", kSrc16, prefix, false},
        {"a wider one of IPv6", "", kSrc24V48, prefix, false},
        {"both by symmetric", "", kPair, box(Rss::Symmetric, Rss::Symmetric), true},
        {"source by symmetric", "", kSrc, box(Rss::Symmetric, Rss::Symmetric), false},
        {"in, source hashed outside", "dir eq \"in\"", kSrc, client, true},
        {"out, destination hashed inside", "dir eq \"out\"", kDst, client, true},
        {"out, source", "dir eq \"out\"", kSrc, client, false},
        {"not in", "not (dir eq \"in\")", kDst, client, true},
        {"in, or not", "dir eq \"in\" or tcp.flags.syn", kSrc, client, false},
        {"both addresses, hashed differently", "", kPair, client, false},
        {"told apart by dir", "", with(kPair, Field::Dir), client, true},
        {"told apart by port only", "", with(kPair, Field::Port), client, false},
        {"ports that disagree on who gets it", "", kSrc, two_ways(), false},
        {"one of them", "port eq \"up\"", kSrc, two_ways(), true},
        {"the others", "not (port eq \"up\")", kSrc, two_ways(), true},
        {"told apart by port", "", with(kSrc, Field::Port), two_ways(), true},
        {"by name", "port in {\"up\" \"other\"}", kSrc, two_ways(), false},
        {"a port nobody has", "port eq \"none\"", kDst, two_ways(), true},
        {"ports, fragments too", "", kPorts, tuple, false},
        {"ports, pinned", pinned, kPorts, tuple, true},
        {"ports, all told", "", kAll, tuple, true},
        {"ports, any protocol", "ip.frag eq \"none\"", kPorts, tuple, false},
        {"ports, hashed by the card", pinned, kPorts, nic_tuple, false},
        {"the same of IPv4", "ip.version eq 4 and ip.frag eq \"none\" and ip.proto eq 17", kPorts,
         nic_tuple, true},
        {"source by five_tuple", pinned, kPair, tuple, false},
        {"inner source", "", kSrc, tunnels, false},
        {"outer source", "", kOuter, tunnels, true},
        {"outer source, inner port", "", with(kOuter, Field::L4Dport), tunnels, true},
        {"spread by the port, somehow", "", kAll, box(Rss::Source, Rss::Source, By::Unknown),
         false},
    };
    for (const Row& row : rows) {
        const Expression condition = row.when.empty() ? Expression{} : parsed(row.when);
        EXPECT_EQ(is_local({.condition = row.when.empty() ? nullptr : &condition,
                            .key = row.key,
                            .missing_key = row.missing},
                           row.box),
                  row.local)
            << row.name;
    }
}

// The oracle: packets made up at random, judged by what they are.
struct Came {
    std::size_t at = 0;  // the port
    PacketHeaders outer;
    PacketHeaders seen;  // what rules see of it
    std::vector<std::byte> frame;
};

void put_address(Chance& chance, IpVersion version, IpAddress& address) {
    address = {};
    const std::size_t size = version == IpVersion::V4 ? 4 : 16;
    // Few values, differing in the last byte, beyond /24, or beyond /16 or /48.
    address.bytes[0] = std::byte{10};
    address.bytes[version == IpVersion::V4 ? 2 : 7] = static_cast<std::byte>(chance.below(2));
    address.bytes[size - 1] = static_cast<std::byte>(chance.below(2));
}

void put_header(Chance& chance, PacketHeaders& headers) {
    headers.ip_version = chance.one_in(2) ? IpVersion::V4 : IpVersion::V6;
    put_address(chance, headers.ip_version, headers.src);
    put_address(chance, headers.ip_version, headers.dst);
    constexpr std::array<std::uint8_t, 4> kProtocols{1, 6, 17, 132};
    headers.proto = kProtocols[chance.below(kProtocols.size())];
    headers.frag = static_cast<Fragment>(chance.one_in(3) ? chance.below(3) : 0);
    for (const Field field : {Field::Dir, Field::Port, Field::IpVersion, Field::IpSrc, Field::IpDst,
                              Field::ClientIp, Field::IpProto, Field::IpFrag}) {
        headers.fields.add(field);
    }
    if (headers.frag != Fragment::Later && headers.proto != 1) {
        headers.sport = static_cast<std::uint16_t>(chance.below(2));
        headers.dport = static_cast<std::uint16_t>(chance.below(2));
        headers.fields.add(Field::L4Sport);
        headers.fields.add(Field::L4Dport);
    }
}

void write_outer(const PacketHeaders& outer, Came& came) {
    came.frame.assign(80, std::byte{0});
    came.frame[14] = outer.ip_version == IpVersion::V4 ? std::byte{0x45} : std::byte{0x60};
    const std::size_t size = outer.ip_version == IpVersion::V4 ? 4 : 16;
    const std::size_t at = 14 + (size == 4 ? 12 : 8);
    std::copy_n(outer.src.bytes.begin(), size, came.frame.begin() + static_cast<long>(at));
    std::copy_n(outer.dst.bytes.begin(), size, came.frame.begin() + static_cast<long>(at + size));
}

Came packet(Chance& chance, const RssMapping& box) {
    Came came{.at = chance.below(box.ports.size())};
    came.outer.dir = box.ports[came.at].dir;
    came.outer.port = port_name(box.ports[came.at].pair);
    came.seen = came.outer;
    put_header(chance, came.outer);
    if (box.tunnels && chance.one_in(2)) {
        put_header(chance, came.seen);
        came.seen.fields.add(Field::OuterIpSrc);
        came.seen.fields.add(Field::OuterIpDst);
    } else {
        came.seen = came.outer;
    }
    came.seen.outer_l3_at = 14;
    came.seen.outer_version = came.outer.ip_version;
    write_outer(came.outer, came);
    return came;
}

GroupingKey random_key(Chance& chance) {
    constexpr std::array<Field, 11> kParts{Field::IpSrc,   Field::IpDst,      Field::IpSrc,
                                           Field::IpDst,   Field::L4Sport,    Field::L4Dport,
                                           Field::Dir,     Field::OuterIpSrc, Field::OuterIpDst,
                                           Field::IpProto, Field::IpFrag};
    constexpr std::array<std::array<std::uint8_t, 2>, 5> kLengths{
        {{32, 128}, {32, 128}, {24, 64}, {16, 128}, {24, 48}}};
    GroupingKey key = chance.one_in(4) ? kPorts : GroupingKey{};
    for (std::size_t parts = chance.below(5); parts > 0; --parts) {
        const Field field = chance.one_in(8)    ? Field::Port
                            : chance.one_in(12) ? Field::ClientIp
                                                : kParts[chance.below(kParts.size())];
        const auto& lengths = kLengths[chance.below(kLengths.size())];
        const bool address = row_of(field).kind == FieldKind::Address;
        key.push_back(address ? part(field, lengths[0], lengths[1]) : part(field));
    }
    return key;
}

Expression random_condition(Chance& chance, const RssMapping& box, unsigned depth) {
    if (depth > 0 && !chance.one_in(3)) {
        Expression tree;
        tree.kind = static_cast<Expression::Kind>(1 + chance.below(3));
        const std::size_t parts = tree.kind == Expression::Kind::Not ? 1 : 2;
        for (std::size_t i = 0; i < parts; ++i) {
            tree.parts.push_back(random_condition(chance, box, depth - 1));
        }
        return tree;
    }
    constexpr std::array<std::string_view, 9> kLeaves{
        "dir eq \"in\"",        "dir ne \"in\"",   "ip.frag eq \"none\"",
        "ip.frag ne \"first\"", "ip.proto eq 17",  "ip.proto in {6 17}",
        "ip.proto ne 132",      "ip.version eq 4", "l4.dport eq 1"};
    if (chance.one_in(4)) {
        const std::string name = box.ports[chance.below(box.ports.size())].pair;
        return parsed((chance.one_in(2) ? "port eq \"" : "port ne \"") + name + "\"");
    }
    return parsed(kLeaves[chance.below(kLeaves.size())]);
}

bool holds(const Expression& tree, const Came& came) {
    switch (tree.kind) {
        case Expression::Kind::Leaf: {
            if (!came.seen.fields.has(tree.leaf.field)) {
                return false;
            }
            const std::uint64_t value = read_number(tree.leaf.field, came.seen, came.frame);
            return std::ranges::any_of(tree.leaf.numbers, [value](const NumberRange& range) {
                return range.first <= value && value <= range.last;
            });
        }
        case Expression::Kind::Not:
            return !holds(tree.parts[0], came);
        case Expression::Kind::And:
            return holds(tree.parts[0], came) && holds(tree.parts[1], came);
        default:
            return holds(tree.parts[0], came) || holds(tree.parts[1], came);
    }
}

RssMapping random_box(Chance& chance) {
    RssMapping made{.ports = {}, .tunnels = chance.one_in(4)};
    const bool alike = chance.one_in(2);
    const auto rss = static_cast<Rss>(chance.below(kRssNames.size()));
    for (std::size_t i = 0; i < 2 + 2 * chance.below(2); ++i) {
        made.ports.push_back({.pair = i < 2 ? "a" : "b",
                              .dir = static_cast<Direction>(i % 2),
                              .by = static_cast<By>(alike ? 1 : chance.below(3)),
                              .rss = alike ? rss : static_cast<Rss>(chance.below(5)),
                              .way = alike ? 0 : chance.below(2)});
    }
    return made;
}

// Where a packet goes: who decides, by what table, and what he hashes.
using Goes = std::tuple<By, std::uint64_t, int, std::vector<std::byte>>;
Goes goes(const Came& came, const RssMapping& box) {
    const PortRssMapping& port = box.ports[came.at];
    if (port.by == By::OneWorker) {
        return {port.by, port.way, 0, {}};
    }
    // A card may not know what stands behind extension headers.
    PacketHeaders hashed = came.outer;
    if (port.by == By::Port && hashed.ip_version == IpVersion::V6 && (hashed.dport & 1U) != 0) {
        hashed.fields = {};
        hashed.fields.add(Field::IpSrc);
    }
    const RssBytes bytes{hashed, port.rss};
    return {
        port.by, port.way, static_cast<int>(port.rss), {bytes.view().begin(), bytes.view().end()}};
}

// Packets at random, of which those that a condition holds for are asked about.
class Seen {
public:
    Seen(const GroupingKey& key, MissingKey missing, const RssMapping& box)
        : key_{key}, missing_{missing}, box_{box} {}

    // False: one key has met two workers.
    bool add(const Came& came) {
        KeyBytes bytes;
        if (key_of(key_, missing_, came.seen, came.frame, bytes) == KeyOutcome::Missing) {
            return true;
        }
        Goes where = goes(came, box_);
        const auto [at, fresh] =
            seen_.try_emplace({bytes.view().begin(), bytes.view().end()}, where);
        return fresh || at->second == where;
    }

private:
    const GroupingKey& key_;
    MissingKey missing_;
    const RssMapping& box_;
    std::map<std::vector<std::byte>, Goes> seen_;
};

TEST(LimitScope, NeverCallsLocalWhatMeetsSeveralWorkers) {
    Chance chance{7};
    int local = 0;
    int merged = 0;
    for (int round = 0; round < 4'000; ++round) {
        const RssMapping made = random_box(chance);
        const GroupingKey key = random_key(chance);
        const Expression condition = random_condition(chance, made, 3);
        const MissingKey missing = chance.one_in(8) ? MissingKey::Share : MissingKey::Skip;
        const bool says = is_local({&condition, key, missing}, made);
        Seen seen{key, missing, made};
        bool rss_mapping = false;
        for (int i = 0; i < 150 && !rss_mapping; ++i) {
            const Came came = packet(chance, made);
            rss_mapping = holds(condition, came) && !seen.add(came);
        }
        (says ? local : merged)++;
        ASSERT_FALSE(says && rss_mapping)
            << "round " << round << ", key of " << key.size() << " parts";
    }
    EXPECT_GT(local, 400);
    EXPECT_GT(merged, 400);
}

TEST(RssAtPorts, Table) {
    RssMapping client = box(Rss::Source, Rss::Destination);
    client.ports.push_back({.pair = "b", .by = By::Handover, .rss = Rss::Source});
    const auto of = [&](std::string_view when, const GroupingKey& key) {
        const Expression condition = parsed(when);
        return rss_mapping_at_ports({&condition, key}, client);
    };
    const std::uint64_t in = of("dir eq \"in\"", kPair);
    EXPECT_NE(in, of("dir eq \"out\"", kPair));
    EXPECT_EQ(in, of("port eq \"b\" and dir eq \"in\"", kPair));
    EXPECT_EQ(in, of("dir eq \"in\" and ip.proto eq 17", kPair));
    EXPECT_NE(in, of("ip.proto eq 17", with(kPair, Field::Dir)));
    EXPECT_NE(in, 0U);
    EXPECT_NE(of("ip.proto eq 17", with(kSrc, Field::Port)),
              of("port eq \"b\"", with(kSrc, Field::Port)));
}

// Two conditions, one after the other: what one name says, all packets of both must do.
TEST(RssAtPorts, IsOneOnlyWhereKeysMeetTheSameWorkers) {
    Chance chance{8};
    int same = 0;
    int moved = 0;
    for (int round = 0; round < 30'000; ++round) {
        const RssMapping made = random_box(chance);
        const GroupingKey key = random_key(chance);
        const Expression before = random_condition(chance, made, 2);
        if (!is_local({&before, key}, made)) {
            continue;
        }
        const Expression after = random_condition(chance, made, 2);
        if (!is_local({&after, key}, made)) {
            continue;
        }
        const bool says =
            rss_mapping_at_ports({&before, key}, made) == rss_mapping_at_ports({&after, key}, made);
        Seen seen{key, MissingKey::Skip, made};
        bool moves = false;
        for (int i = 0; i < 150 && !moves; ++i) {
            const Came came = packet(chance, made);
            moves = (holds(before, came) || holds(after, came)) && !seen.add(came);
        }
        same += says ? 1 : 0;
        moved += moves ? 1 : 0;
        ASSERT_FALSE(says && moves) << "round " << round << ", key of " << key.size() << " parts";
    }
    EXPECT_GT(same, 200);
    EXPECT_GT(moved, 20);
}

}  // namespace
}  // namespace sluice::limit_scope_test
