#include "lib/policy/placement/limit_scope.hpp"

#include "lib/bucket/hash/siphash.hpp"
#include "lib/policy/placement/may_match.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace sluice {
namespace {

constexpr std::uint8_t kWholeV4 = 32;
constexpr std::uint8_t kWholeV6 = 128;

// The prefix of an address that a key contains. Where addresses are unwrapped, several are one.
bool tells(const KeyPart& part, std::uint8_t v4_length, std::uint8_t v6_length) {
    return part.v4_length >= v4_length && part.v6_length >= v6_length &&
           part.unwrapping == Unwrapping{};
}

// Fields of a frame, as a port sees it, that can be worked out from a key.
struct TellingKey {
    bool source = false;
    bool source_prefix = false;
    bool destination = false;
    bool sport = false;
    bool dport = false;
    bool frag = false;
    bool proto = false;
    bool dir = false;
    bool port = false;
};

void note(const KeyPart& part, bool tunnels, TellingKey& key) {
    if (part.text) {
        return;
    }
    // With tunnels looked into, a packet's own fields may be those of one inside it.
    const bool own = !tunnels;
    switch (part.field) {
        case Field::IpSrc:
        case Field::ClientIp:
            if (!own) {
                return;
            }
            [[fallthrough]];
        case Field::OuterIpSrc:
            key.source |= tells(part, kWholeV4, kWholeV6);
            key.source_prefix |= tells(part, kRssPrefixV4, kRssPrefixV6);
            return;
        case Field::IpDst:
            if (!own) {
                return;
            }
            [[fallthrough]];
        case Field::OuterIpDst:
            key.destination |= tells(part, kWholeV4, kWholeV6);
            return;
        case Field::L4Sport:
            key.sport |= own;
            return;
        case Field::L4Dport:
            key.dport |= own;
            return;
        case Field::IpFrag:
            key.frag |= own;
            return;
        case Field::IpProto:
            key.proto |= own;
            return;
        case Field::Dir:
            key.dir = true;
            return;
        case Field::Port:
            key.port = true;
            return;
        default:
            return;
    }
}

TellingKey telling(const ScopeQuestion& asked, bool tunnels) {
    TellingKey key;
    if (asked.missing_key == MissingKey::Share) {
        return key;  // packets that lack a part share one bucket
    }
    for (const KeyPart& part : asked.key) {
        note(part, tunnels, key);
    }
    return key;
}

KnownFacts facts_of(const PortRssMapping& port) {
    KnownFacts facts{.dir = static_cast<std::uint64_t>(port.dir)};
    if (!port.pair.empty()) {
        facts.port = port_name(port.pair);
    }
    return facts;
}

bool may_see(const Expression* condition, const KnownFacts& facts) {
    return condition == nullptr || may_match(*condition, facts);
}

// The ports of a packet are hashed unless it is a fragment, or neither TCP nor UDP; and a NIC may
// treat extension headers otherwise.
bool tells_five_tuple(const TellingKey& key, const PortRssMapping& port,
                      const Expression* condition) {
    if (!key.source || !key.destination || !key.sport || !key.dport) {
        return false;
    }
    KnownFacts first = facts_of(port);
    first.frag = static_cast<std::uint64_t>(Fragment::First);
    KnownFacts other = facts_of(port);
    other.proto_has_no_hashed_ports = true;
    KnownFacts v6 = facts_of(port);
    v6.version = static_cast<std::uint64_t>(IpVersion::V6);
    return (key.frag || !may_see(condition, first)) && (key.proto || !may_see(condition, other)) &&
           (port.by == PortRssMapping::By::Handover || !may_see(condition, v6));
}

bool tells_hashed(const TellingKey& key, const PortRssMapping& port, const Expression* condition) {
    if (port.by == PortRssMapping::By::OneWorker) {
        return true;
    }
    if (port.by == PortRssMapping::By::Unknown) {
        return false;
    }
    switch (port.rss) {
        case Rss::Source:
            return key.source;
        case Rss::SourcePrefix:
            return key.source_prefix;
        case Rss::Destination:
            return key.destination;
        case Rss::Symmetric:
            return key.source && key.destination;
        default:
            return tells_five_tuple(key, port, condition);
    }
}

// True if two packets that came in at these can have one key.
bool can_share(const TellingKey& key, const PortRssMapping& a, const PortRssMapping& b) {
    return (!key.dir || a.dir == b.dir) && (!key.port || a.pair == b.pair);
}

bool maps_alike(const PortRssMapping& a, const PortRssMapping& b) {
    return a.by == b.by && a.way == b.way &&
           (a.by == PortRssMapping::By::OneWorker || a.rss == b.rss);
}

// The settings of a port that decide on the worker of a packet, and what of the key names the port.
std::string rss_mapping_text(const TellingKey& key, const PortRssMapping& port) {
    const bool hashes = port.by != PortRssMapping::By::OneWorker;
    std::string text;
    for (const std::uint64_t word :
         {static_cast<std::uint64_t>(port.by),
          hashes ? 1 + static_cast<std::uint64_t>(port.rss) : 0, port.way,
          key.dir ? 1 + static_cast<std::uint64_t>(port.dir) : 0,
          key.port ? port.pair.size() : 0}) {
        text += std::to_string(word) + ' ';
    }
    return key.port ? text + port.pair : text;
}

}  // namespace

bool is_local(const ScopeQuestion& asked, const RssMapping& box) {
    const TellingKey key = telling(asked, box.tunnels);
    std::vector<const PortRssMapping*> seen;
    for (const PortRssMapping& port : box.ports) {
        if (!may_see(asked.condition, facts_of(port))) {
            continue;
        }
        const bool alike = std::all_of(seen.begin(), seen.end(), [&](const PortRssMapping* other) {
            return !can_share(key, *other, port) || maps_alike(*other, port);
        });
        if (!alike || !tells_hashed(key, port, asked.condition)) {
            return false;
        }
        seen.push_back(&port);
    }
    return !box.ports.empty();
}

// Ports that spread alike are one: a limit that sees one more of them has moved nowhere.
std::uint64_t rss_mapping_at_ports(const ScopeQuestion& asked, const RssMapping& box) {
    const TellingKey key = telling(asked, box.tunnels);
    std::set<std::string> seen;
    for (const PortRssMapping& port : box.ports) {
        if (may_see(asked.condition, facts_of(port))) {
            seen.insert(rss_mapping_text(key, port));
        }
    }
    std::string all;
    for (const std::string& text : seen) {
        all += text + '\n';
    }
    return std::max<std::uint64_t>(siphash_1_3(HashSecret{}, std::as_bytes(std::span{all})), 1);
}

}  // namespace sluice
