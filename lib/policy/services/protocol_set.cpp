#include "lib/policy/services/protocol_set.hpp"

#include <algorithm>

namespace sluice {
namespace {

constexpr ProtocolSet kAll{ServiceProtocol::Http, ServiceProtocol::Tls, ServiceProtocol::Dns,
                           ServiceProtocol::Quic};

ProtocolSet protocols_of(Per per) noexcept {
    switch (per) {
        case Per::Request:
            return {ServiceProtocol::Http};
        case Per::Query:
            return {ServiceProtocol::Dns};
        case Per::Handshake:
            return {ServiceProtocol::Tls, ServiceProtocol::Quic};
        default:
            return {};
    }
}

// The protocols whose units a limit counts: they have its key too, where those without it are
// skipped. Of packets: none.
ProtocolSet protocols_of(const MeteredLimit& limit, const Rule& rule, const TextNames& names) {
    ProtocolSet counted = protocols_of(limit.per);
    if (rule.missing_key != MissingKey::Skip) {
        return counted;
    }
    for (const KeyPart& part : rule.keys[limit.key]) {
        const ProtocolSet of_part =
            part.text ? sluice::protocols_of(*part.text, names) : ProtocolSet{};
        counted = of_part.empty() ? counted : counted.common(of_part);
    }
    return counted;
}

// The protocols that a test of proto.l7 names; none: it does not say.
ProtocolSet named_by(const TextPool::Test& test) {
    ProtocolSet named;
    for (const TextEntry& entry : test.entries) {
        const auto name = std::find(kServiceProtocolNames.begin(), kServiceProtocolNames.end(),
                                    entry.text == "h2c" ? "http" : entry.text);
        if (entry.how != TextHow::Equals || name == kServiceProtocolNames.end()) {
            return {};
        }
        named.add_all({static_cast<ServiceProtocol>(name - kServiceProtocolNames.begin())});
    }
    return named;
}

// The units that a rule reads.
struct Reading {
    ProtocolSet protocols;
    bool any = false;  // something that units of every protocol have

    void add(TextField field, const TextNames& names) {
        const ProtocolSet of_field = sluice::protocols_of(field, names);
        protocols.add_all(of_field);
        any = any || (of_field.empty() && is_of_unit(field));
    }
    void add(const Expression& tree, const TextNames& names) {
        if (tree.kind == Expression::Kind::Text) {
            add(tree.text.field, names);
        }
        for (const Expression& part : tree.parts) {
            add(part, names);
        }
    }
};

}  // namespace

ProtocolSet protocols_of(TextField field, const TextNames& names) {
    if (const TextName* derived = find_derived(field, names)) {
        return protocols_of(derived->source, names);
    }
    if (is_named(field) || (field >= TextField::HttpMethod && field <= TextField::HttpReferer)) {
        return {ServiceProtocol::Http};
    }
    if (field >= TextField::DnsQr && field <= TextField::DnsQtype) {
        return {ServiceProtocol::Dns};
    }
    if (field == TextField::TlsAlpn || field == TextField::TlsJa4) {
        return {ServiceProtocol::Tls, ServiceProtocol::Quic};
    }
    if (field == TextField::TlsHandshakeType || field == TextField::TlsSni) {
        return {ServiceProtocol::Tls};
    }
    if (field >= TextField::QuicPacketType && field <= TextField::QuicSni) {
        return {ServiceProtocol::Quic};
    }
    return {};
}

ProtocolSet protocols_of(const Rule& rule, const Expression& condition, const TextNames& names,
                         bool with_clients) {
    ProtocolSet counted;
    bool counts_units_alone = !rule.limits.empty();
    for (const MeteredLimit& limit : rule.limits) {
        counted.add_all(protocols_of(limit, rule, names));
        counts_units_alone = counts_units_alone && !is_of_packet(limit.per);
    }
    if (counts_units_alone) {
        return counted;
    }
    Reading reading{.protocols = counted};
    reading.add(condition, names);
    for (const GroupingKey& key : rule.keys) {
        for (const KeyPart& part : key) {
            if (part.text) {
                reading.add(*part.text, names);
            }
        }
    }
    if (rule.asks_clients && with_clients) {
        reading.protocols.add_all({ServiceProtocol::Http});
    }
    return reading.protocols.empty() && reading.any ? kAll : reading.protocols;
}

ProtocolSet protocols_of(const Clause& clause, const SetPool& pool, ProtocolSet read,
                         const TextNames& names) {
    ProtocolSet left = read;
    for (const TextTerm& term : clause.texts) {
        const TextPool::Test& test = pool.texts()[term.test];
        const ProtocolSet wanted =
            test.field == TextField::ProtoL7 ? named_by(test) : protocols_of(test.field, names);
        if (!term.negated && !wanted.empty()) {
            left = left.common(wanted);  // units of other protocols lack the field
        }
    }
    return left;
}

}  // namespace sluice
