#include "lib/policy/services/service_reader.hpp"

#include "lib/packet/transport.hpp"
#include "lib/policy/file_keys/rule_keys.hpp"
#include "lib/policy/placement/may_match.hpp"
#include "lib/policy/problems/nearest.hpp"
#include "lib/policy/rules/rule_id.hpp"
#include "lib/policy/rules/when_reader.hpp"
#include "lib/policy/services/service_options.hpp"
#include "lib/policy/yaml/scalar_places.hpp"
#include "lib/rules/service_fault.hpp"

#include <algorithm>
#include <array>

namespace sluice {
namespace {

std::string field_list() {
    std::string all;
    for (const Field field : kServiceFields) {
        all += (all.empty() ? "" : ", ") + std::string{row_of(field).name};
    }
    return all;
}

// Names of protocols inside of others: what is read of them is how these begin.
struct OtherName {
    std::string_view name;
    std::string_view why;
};
constexpr std::string_view kAsTls = "its hellos are those of TLS: write tls";
constexpr std::string_view kAsQuic = "its hellos are those of QUIC: write quic";
constexpr auto kOtherNames = std::to_array<OtherName>({{"https", kAsTls},
                                                       {"ssl", kAsTls},
                                                       {"h2", kAsTls},
                                                       {"http2", kAsTls},
                                                       {"dot", kAsTls},
                                                       {"h3", kAsQuic},
                                                       {"http3", kAsQuic},
                                                       {"doq", kAsQuic}});

struct Transport {
    std::uint64_t number;
    std::string_view name;
};
std::vector<Transport> transports_of(ServiceProtocol protocol) {
    std::vector<Transport> transports;
    if (runs_over_tcp(protocol)) {
        transports.push_back({kProtoTcp, "TCP"});
    }
    if (runs_over_udp(protocol)) {
        transports.push_back({kProtoUdp, "UDP"});
    }
    return transports;
}

// Only what comes over a transport of the protocol.
Expression over_transports(Expression when, ServiceProtocol protocol) {
    Expression transport{};
    transport.leaf.field = Field::IpProto;
    for (const Transport& one : transports_of(protocol)) {
        transport.leaf.numbers.push_back({one.number, one.number});
    }
    Expression both{.kind = Expression::Kind::And};
    both.parts.push_back(std::move(when));
    both.parts.push_back(std::move(transport));
    return both;
}

// One service, read key by key.
class ServiceReader {
public:
    ServiceReader(const YamlNode& node, const FileContext& file)
        : file_{file},
          context_{context_of(file, true)},
          map_{node, rule_keys::kService, context_, "a service"} {}

    ReadService run() {
        if (!map_.is_map()) {
            return std::move(read_);
        }
        read_head();
        read_mode();
        const bool has_protocol = read_protocol();
        // Options of an unknown protocol are read as those of http, which has all of them.
        read_options(map_, file_.lists, context_, read_.service);
        read_.summary.path = read_.service.path;
        read_.summary.settings = settings_of(read_.service, map_);
        read_when(has_protocol);
        return std::move(read_);
    }

private:
    void read_head() {
        read_.service.id = map_.text("id").value_or("");
        if (map_.find("id") == nullptr) {
            file_.problems.error(map_.node().at, "a service needs an `id`");
        } else if (!is_rule_id(read_.service.id)) {
            file_.problems.error(map_.find("id")->at,
                                 "an id has 1 to 128 lower-case letters, digits and `-`");
        }
        read_.summary.id = read_.service.id;
        read_.summary.line = map_.node().at.line;
        read_.summary.description = map_.text("description").value_or("");
    }

    // Not that of `defaults`, which are those of rules.
    void read_mode() {
        if (const std::optional<std::size_t> word = map_.word("mode", kModeNames)) {
            read_.service.mode = static_cast<Mode>(*word);
        }
        if (const auto set = file_.modes.find(read_.service.id); set != file_.modes.end()) {
            read_.service.mode = set->second;
        }
        read_.summary.mode = read_.service.mode;
    }

    bool read_protocol() {
        if (map_.find("protocol") == nullptr) {
            file_.problems.error(map_.node().at,
                                 "a service needs a `protocol`: http, tls, dns or quic");
            return false;
        }
        const YamlNode& node = *map_.find("protocol");
        const auto other = std::ranges::find(kOtherNames, node.text, &OtherName::name);
        if (node.is_scalar() && other != kOtherNames.end()) {
            file_.problems.error(node.at, "`protocol` is one of " + list_of(kServiceProtocolNames) +
                                              "; `" + node.text + "` is encrypted, and " +
                                              std::string{other->why});
            return false;
        }
        const std::optional<std::size_t> word = map_.word("protocol", kServiceProtocolNames);
        read_.service.protocol = static_cast<ServiceProtocol>(word.value_or(0));
        read_.summary.protocol = read_.service.protocol;
        return word.has_value();
    }

    void read_when(bool has_protocol) {
        const YamlNode* node = map_.find("when");
        if (node == nullptr) {
            file_.problems.error(map_.node().at,
                                 "a service needs `when`, which says what reaches it, such as "
                                 "ip.dst in $web and l4.dport in {80 8080}");
            return;
        }
        const std::optional<std::string> text = map_.text("when");
        if (!text) {
            return;
        }
        read_.summary.when = *text;
        std::optional<ParsedExpression> parsed = read_condition(*node, file_.lists, context_);
        if (!parsed || !fields_are_shared(*node, *parsed)) {
            return;
        }
        read_.summary.is_known = !parsed->has_unknown_list;
        read_.summary.condition = parsed->tree;
        if (has_protocol && lets_through(*node, parsed->tree)) {
            read_.when = over_transports(std::move(parsed->tree), read_.service.protocol);
            read_.has_condition = true;
        }
    }

    bool fields_are_shared(const YamlNode& node, const ParsedExpression& parsed) {
        const ScalarPlaces places{context_.lines, node};
        bool all = true;
        for (const NamedField& used : parsed.fields) {
            if (used.field && is_service_field(*used.field)) {
                continue;
            }
            all = false;
            file_.problems.error(places[used.offset],
                                 "`" + used.name +
                                     "` is not the same in all packets of a connection, or not "
                                     "known in time; the condition of a service tests " +
                                     field_list());
        }
        return all;
    }

    bool lets_through(const YamlNode& node, const Expression& when) {
        bool all = true;
        for (const Transport& transport : transports_of(read_.service.protocol)) {
            if (may_match(when, {.proto = transport.number, .with_any_list = true})) {
                continue;
            }
            all = false;
            const auto protocol = static_cast<std::size_t>(read_.service.protocol);
            file_.problems.error(
                node.at,
                "`when` lets no " + std::string{transport.name} + " through, over which " +
                    std::string{kServiceProtocolNames[protocol]} + " is served" +
                    (runs_over_tcp(read_.service.protocol) && runs_over_udp(read_.service.protocol)
                         ? " too: a limit over one of the two is walked around by the other"
                         : ""));
        }
        return all;
    }

    const FileContext& file_;
    ReadContext context_;
    MapReader map_;
    ReadService read_;
};

}  // namespace

ReadService read_service(const YamlNode& node, const FileContext& file) {
    return ServiceReader{node, file}.run();
}

}  // namespace sluice
