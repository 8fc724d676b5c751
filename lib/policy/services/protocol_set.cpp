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

// The protocols whose units a limit counts: they have the field whose values it counts, and its key
// too, where those without it are skipped. Of packets: none.
ProtocolSet protocols_of(const MeteredLimit& limit, const Rule& rule, const TextNames& names) {
    ProtocolSet counted = protocols_of(limit.per);
    const auto keep_those_with = [&](const GroupingKey& parts) {
        for (const KeyPart& part : parts) {
            const ProtocolSet of_part =
                part.text ? sluice::protocols_of(*part.text, names) : ProtocolSet{};
            counted = of_part.empty() ? counted : counted.common(of_part);
        }
    };
    if (rule.missing_key == MissingKey::Skip) {
        keep_those_with(rule.keys[limit.key]);
    }
    keep_those_with(limit.of);
    return counted;
}

// Units of HTTP/2 in clear have no field but proto.l7 and proto.scheme.
bool is_h2c(const TextPool::Test& test) {
    return test.field == TextField::ProtoL7 &&
           std::ranges::all_of(test.entries, [](const TextEntry& entry) {
               return entry.how == TextHow::Equals && entry.text == "h2c";
           });
}

// The protocols of units with one of these schemes; without entries, with any.
ProtocolSet with_scheme(const TextPool::Test& test) {
    constexpr ProtocolSet kHaving{ServiceProtocol::Http, ServiceProtocol::Tls,
                                  ServiceProtocol::Quic};
    ProtocolSet having = test.entries.empty() ? kHaving : ProtocolSet{};
    for (const TextEntry& entry : test.entries) {
        if (entry.how != TextHow::Equals) {
            return kHaving;
        }
        having.add_all(entry.text == "https"
                           ? ProtocolSet{ServiceProtocol::Tls, ServiceProtocol::Quic}
                           : ProtocolSet{ServiceProtocol::Http});
    }
    return having;
}

// The protocols of units with one of these fingerprints, whose first letter says the transport;
// without entries, with any.
ProtocolSet with_fingerprint(const TextPool::Test& test) {
    constexpr ProtocolSet kHaving{ServiceProtocol::Tls, ServiceProtocol::Quic};
    ProtocolSet having = test.entries.empty() ? kHaving : ProtocolSet{};
    for (const TextEntry& entry : test.entries) {
        const bool from_begin = entry.how == TextHow::Equals || entry.how == TextHow::StartsWith;
        const char first = from_begin && !entry.text.empty() ? entry.text.front() : '?';
        if (first != 't' && first != 'q') {
            return kHaving;
        }
        having.add_all({first == 't' ? ServiceProtocol::Tls : ServiceProtocol::Quic});
    }
    return having;
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

// The protocols of units that may pass a test; none: it does not say.
ProtocolSet wanted_by(const TextPool::Test& test, const TextNames& names) {
    switch (test.field) {
        case TextField::ProtoL7:
            return named_by(test);
        case TextField::ProtoScheme:
            return with_scheme(test);
        case TextField::TlsJa4:
            return with_fingerprint(test);
        default:
            return sluice::protocols_of(test.field, names);
    }
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
    for (const GroupingKey& key : read_keys(rule)) {
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
    bool asks_h2c = false;
    bool asks_http1 = false;
    for (const TextTerm& term : clause.texts) {
        const TextPool::Test& test = pool.texts()[term.test];
        const ProtocolSet wanted = wanted_by(test, names);
        if (!term.negated && !wanted.empty()) {
            left = left.common(wanted);  // units of other protocols lack the field
            asks_h2c = asks_h2c || is_h2c(test);
            asks_http1 =
                asks_http1 || protocols_of(test.field, names) == ProtocolSet{ServiceProtocol::Http};
        }
    }
    return asks_h2c && asks_http1 ? ProtocolSet{} : left;
}

}  // namespace sluice
