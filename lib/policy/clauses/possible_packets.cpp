#include "lib/policy/clauses/possible_packets.hpp"

#include "lib/packet/ethernet.hpp"
#include "lib/packet/transport.hpp"
#include "lib/policy/clauses/possible_texts.hpp"
#include "lib/policy/problems/nearest.hpp"
#include "lib/policy/services/protocol_set.hpp"

#include <algorithm>
#include <array>

namespace sluice {
namespace {

constexpr unsigned kNoProto = 256;  // a header that was cut before it

// Packets that have the same fields.
struct PacketClass {
    IpVersion version = IpVersion::None;
    unsigned proto = kNoProto;
    Fragment frag = Fragment::None;

    // The last fragment of a service's datagram of UDP has those of its first one.
    [[nodiscard]] bool has_ports() const noexcept {
        return (frag != Fragment::Later || proto == kProtoUdp) &&
               (proto == kProtoTcp || proto == kProtoUdp || proto == kProtoSctp ||
                proto == kProtoDccp || proto == kProtoUdpLite);
    }
    [[nodiscard]] bool has_icmp() const noexcept {
        return frag != Fragment::Later && ((version == IpVersion::V4 && proto == kProtoIcmp) ||
                                           (version == IpVersion::V6 && proto == kProtoIcmpv6));
    }
    [[nodiscard]] bool has_tcp() const noexcept {
        return frag != Fragment::Later && proto == kProtoTcp;
    }
    [[nodiscard]] bool has_payload() const noexcept {
        return has_tcp() || has_icmp() || (frag != Fragment::Later && proto == kProtoUdp);
    }
    [[nodiscard]] bool may_have(Field field) const noexcept {
        if (version == IpVersion::None) {
            return field <= Field::VlanInnerId || field == Field::OuterIpSrc ||
                   field == Field::OuterIpDst;
        }
        switch (field) {
            case Field::L4Sport:
            case Field::L4Dport:
                return has_ports();
            case Field::IcmpType:
            case Field::IcmpCode:
                return has_icmp();
            case Field::PayloadLen:
                return has_payload();
            case Field::IpProto:
            case Field::IpFrag:
                return proto != kNoProto;
            default:
                return field < Field::TcpSyn || field > Field::TcpFlags || has_tcp();
        }
    }
    // Fields that none of them lacks.
    [[nodiscard]] bool must_have(Field field) const noexcept {
        switch (field) {
            case Field::IpVersion:
            case Field::IpSrc:
            case Field::IpDst:
                return version != IpVersion::None;
            case Field::IpProto:
            case Field::IpFrag:
                return may_have(field);
            default:
                return false;
        }
    }
};

bool has_number(const DomainSet& set, std::uint64_t number) {
    return std::any_of(set.numbers.begin(), set.numbers.end(), [number](const WideRange& range) {
        return range.first <= number && number <= range.last;
    });
}

// EtherTypes behind which the parser finds IP.
bool has_ip_type(const DomainSet& set) {
    constexpr auto kIpTypes = std::to_array<std::uint16_t>(
        {kTypeIpv4, kTypeIpv6, kTypeMplsUnicast, kTypeMplsMulticast, kTypePppoeSession});
    return std::any_of(kIpTypes.begin(), kIpTypes.end(),
                       [&](std::uint16_t type) { return has_number(set, type); });
}

bool may_be_in(const PacketClass& packet, Field field, const DomainSet& set) {
    switch (field) {
        case Field::IpVersion:
            return has_number(set, static_cast<std::uint64_t>(packet.version));
        case Field::IpProto:
            return has_number(set, packet.proto);
        case Field::IpFrag:
            return has_number(set, static_cast<std::uint64_t>(packet.frag));
        case Field::IpSrc:
        case Field::IpDst:
            return packet.version == IpVersion::V4 ? !set.numbers.empty() : !set.v6.empty();
        case Field::EthType:
            return packet.version == IpVersion::None || has_ip_type(set);
        default:
            return true;
    }
}

bool may_satisfy(const PacketClass& packet, const ClauseTerm& term, const SetPool& pool) {
    const DomainSet& set = pool[term.set];
    return (set.absent && !packet.must_have(term.field)) ||
           (packet.may_have(term.field) && may_be_in(packet, term.field, set));
}

// Transports of the units that a clause asks for, if it asks for any.
bool may_carry(const PacketClass& packet, ProtocolSet protocols) {
    const bool is_tcp = packet.proto == kProtoTcp;
    const bool is_udp = packet.proto == kProtoUdp;
    return packet.version != IpVersion::None &&
           ((is_tcp &&
             (protocols.has(ServiceProtocol::Http) || protocols.has(ServiceProtocol::Tls))) ||
            (is_udp && protocols.has(ServiceProtocol::Quic)) ||
            ((is_tcp || is_udp) && protocols.has(ServiceProtocol::Dns)));
}

class ClauseCheck {
public:
    // `budget`: of texts_contradict().
    ClauseCheck(const Clause& clause, const SetPool& pool, const TextNames& names,
                std::size_t& budget)
        : clause_{clause}, pool_{pool}, budget_{budget} {
        const auto asks = [&](bool of_unit) {
            return std::any_of(clause.texts.begin(), clause.texts.end(), [&](const TextTerm& term) {
                return !term.negated && is_of_unit(pool.texts()[term.test].field) == of_unit;
            });
        };
        asks_unit_ = asks(true);
        asks_payload_ = asks(false);
        protocols_ = protocols_of(clause, pool,
                                  {ServiceProtocol::Http, ServiceProtocol::Tls,
                                   ServiceProtocol::Dns, ServiceProtocol::Quic},
                                  names);
    }

    [[nodiscard]] bool is_possible() const {
        // The commonest first.
        constexpr auto kPacketVersions =
            std::to_array({IpVersion::V4, IpVersion::V6, IpVersion::None});
        constexpr auto kPacketFragments =
            std::to_array({Fragment::None, Fragment::First, Fragment::Later});
        if (flags_contradict() || (asks_unit_ && protocols_.empty()) ||
            texts_contradict(clause_, pool_, budget_)) {
            return false;
        }
        for (const IpVersion version : kPacketVersions) {
            for (const Fragment frag : kPacketFragments) {
                if (has_proto(version, frag)) {
                    return true;
                }
            }
        }
        return false;
    }

private:
    [[nodiscard]] bool has_proto(IpVersion version, Fragment frag) const {
        for (unsigned step = 0; step <= kNoProto; ++step) {
            const unsigned proto = (step + kProtoTcp) % (kNoProto + 1);
            if (is_satisfied_by({version, proto, frag})) {
                return true;
            }
        }
        return false;
    }
    [[nodiscard]] bool is_satisfied_by(const PacketClass& packet) const {
        return (!asks_unit_ || may_carry(packet, protocols_)) &&
               (!asks_payload_ || packet.has_payload()) &&
               std::all_of(
                   clause_.fields.begin(), clause_.fields.end(),
                   [&](const ClauseTerm& term) { return may_satisfy(packet, term, pool_); });
    }

    [[nodiscard]] const DomainSet* set_of(Field field) const {
        const auto term =
            std::find_if(clause_.fields.begin(), clause_.fields.end(),
                         [field](const ClauseTerm& one) { return one.field == field; });
        return term == clause_.fields.end() ? nullptr : &pool_[term->set];
    }
    // True if no value of tcp.flags has its single flags as they are asked for.
    [[nodiscard]] bool flags_contradict() const {
        struct FlagBit {
            Field field;
            unsigned bit;
        };
        constexpr auto kFlagBits = std::to_array<FlagBit>({{Field::TcpFin, 0},
                                                           {Field::TcpSyn, 1},
                                                           {Field::TcpRst, 2},
                                                           {Field::TcpPsh, 3},
                                                           {Field::TcpAck, 4},
                                                           {Field::TcpUrg, 5}});
        const DomainSet* const all = set_of(Field::TcpFlags);
        if (all == nullptr || all->absent) {
            return false;
        }
        for (std::uint64_t flags = 0; flags <= row_of(Field::TcpFlags).max; ++flags) {
            const bool is_one =
                has_number(*all, flags) &&
                std::all_of(kFlagBits.begin(), kFlagBits.end(), [&](const FlagBit& flag) {
                    const DomainSet* const set = set_of(flag.field);
                    return set == nullptr || has_number(*set, flags >> flag.bit & 1U);
                });
            if (is_one) {
                return false;
            }
        }
        return true;
    }

    const Clause& clause_;
    const SetPool& pool_;
    std::size_t& budget_;
    bool asks_unit_ = false;
    bool asks_payload_ = false;
    ProtocolSet protocols_;
};

// The packets that have a field, in words; empty: all, or all of IP.
std::string_view home_of(Field field) noexcept {
    switch (field) {
        case Field::L4Sport:
        case Field::L4Dport:
            return "TCP, UDP, SCTP, DCCP and UDP-Lite alone have ports, and later fragments of "
                   "others than UDP none";
        case Field::IcmpType:
        case Field::IcmpCode:
            return "ICMP has it over IPv4 (ip.proto 1), ICMPv6 over IPv6 (ip.proto 58), and later "
                   "fragments have none";
        case Field::PayloadLen:
            return "TCP, UDP and ICMP alone have it, and later fragments have none";
        case Field::EthType:
            return "behind it stands no IP";
        default:
            return field >= Field::TcpSyn && field <= Field::TcpFlags
                       ? "TCP alone has it, and later fragments have none"
                       : std::string_view{};
    }
}

// One term of a clause, with its name.
struct NamedTerm {
    Clause alone;
    std::string name;
    std::string_view home;
};

std::vector<NamedTerm> terms_of(const Clause& clause, const SetPool& pool, const TextNames& names) {
    std::vector<NamedTerm> terms;
    for (const ClauseTerm& term : clause.fields) {
        terms.push_back({{{term}, {}}, std::string{row_of(term.field).name}, home_of(term.field)});
    }
    for (const TextTerm& term : clause.texts) {
        const TextField field = pool.texts()[term.test].field;
        const std::string name =
            is_named(field) ? name_of(field, names) : std::string{row_of(field).name};
        terms.push_back({{{}, {term}}, name, {}});
    }
    return terms;
}

Clause both_of(const NamedTerm& a, const NamedTerm& b) {
    Clause both = a.alone;
    both.fields.insert(both.fields.end(), b.alone.fields.begin(), b.alone.fields.end());
    both.texts.insert(both.texts.end(), b.alone.texts.begin(), b.alone.texts.end());
    return both;
}

std::string reason_of(const NamedTerm& a, const NamedTerm& b) {
    if (a.name == b.name) {
        return a.name + " has one value, and none is as both comparisons ask";
    }
    const std::string reason = "no packet has such values of both " + a.name + " and " + b.name;
    const std::string_view home = b.home.empty() ? a.home : b.home;
    return home.empty() ? reason : reason + ": " + std::string{home};
}

std::string reason_of_all(const std::vector<NamedTerm>& terms) {
    std::vector<std::string_view> names;
    for (const NamedTerm& term : terms) {
        if (std::find(names.begin(), names.end(), term.name) == names.end()) {
            names.emplace_back(term.name);
        }
    }
    return names.size() == 1
               ? terms.front().name + " has one value, and none is as all of its comparisons ask"
               : "no packet has such values of all of " + list_of(names);
}

// Names two terms that no packet satisfies together, where it is as simple as that.
std::string why_impossible(const Clause& clause, const SetPool& pool, const TextNames& names) {
    std::size_t budget = kMostTextComparisons;
    const std::vector<NamedTerm> terms = terms_of(clause, pool, names);
    for (const NamedTerm& term : terms) {
        if (!ClauseCheck{term.alone, pool, names, budget}.is_possible()) {
            return "no packet has such a value of " + term.name;
        }
    }
    for (std::size_t i = 0; i < terms.size(); ++i) {
        for (std::size_t j = i + 1; j < terms.size(); ++j) {
            const Clause both = both_of(terms[i], terms[j]);
            if (!ClauseCheck{both, pool, names, budget}.is_possible()) {
                return reason_of(terms[i], terms[j]);
            }
        }
    }
    return reason_of_all(terms);
}

// A leaf of a list that holds everything, or nothing.
Leaf any_leaf(const Leaf& leaf, bool inverted) {
    Leaf any{.field = leaf.field, .client = leaf.client};
    if (inverted) {
        return any;
    }
    if (row_of(leaf.field).kind == FieldKind::Address) {
        IpAddress last;
        last.bytes.fill(std::byte{0xFF});
        any.v4 = {{{}, masked(last, 32)}};
        any.v6 = {{{}, last}};
    } else {
        any.numbers = {{0, row_of(leaf.field).max}};
    }
    return any;
}

bool names_list(const Expression& tree) {
    return tree.leaf.from_list || tree.text.from_list ||
           std::any_of(tree.parts.begin(), tree.parts.end(), names_list);
}

Expression any_lists(const Expression& tree, bool inverted) {
    Expression any = tree;
    if (tree.kind == Expression::Kind::Leaf && tree.leaf.from_list) {
        any.leaf = any_leaf(tree.leaf, inverted);
    } else if (tree.kind == Expression::Kind::Text && tree.text.from_list) {
        any.text.how = TextHow::Matches;
        any.text.texts = inverted ? std::vector<std::string>{} : std::vector<std::string>{""};
    }
    const bool inside = (tree.kind == Expression::Kind::Not) != inverted;
    for (Expression& part : any.parts) {
        part = any_lists(part, inside);
    }
    return any;
}

}  // namespace

std::optional<std::string> find_contradiction(std::span<const Clause> clauses, SetPool& pool,
                                              const TextNames& names) {
    std::size_t budget = kMostTextComparisons;
    const bool some = std::any_of(clauses.begin(), clauses.end(), [&](const Clause& clause) {
        return ClauseCheck{clause, pool, names, budget}.is_possible();
    });
    return some ? std::nullopt : std::optional{why_impossible(clauses.front(), pool, names)};
}

std::optional<Expression> with_any_lists(const Expression& tree) {
    return names_list(tree) ? std::optional{any_lists(tree, false)} : std::nullopt;
}

}  // namespace sluice
