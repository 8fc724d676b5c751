#include "lib/policy/services/service_options.hpp"

#include "lib/match/address_key.hpp"
#include "lib/policy/file_keys/options_reader.hpp"
#include "lib/policy/file_keys/rule_keys.hpp"
#include "lib/policy/lists/listed_networks.hpp"
#include "lib/policy/problems/nearest.hpp"
#include "lib/rules/service_fault.hpp"

#include <algorithm>
#include <bit>
#include <span>

namespace sluice {
namespace {

template <typename Enum, std::size_t kSize>
std::string name_in(Enum value, const std::array<std::string_view, kSize>& words) {
    return std::string{words[static_cast<std::size_t>(value)]};
}

// A range as the fewest networks.
void add_networks_of(IpVersion version, const AddressRange& range, std::vector<IpPrefix>& to) {
    const unsigned bits = version == IpVersion::V4 ? 32 : 128;
    const Wide last = wide_key(version, range.last);
    Wide first = wide_key(version, range.first);
    IpAddress at = range.first;
    while (true) {
        unsigned free = 0;  // bits of hosts
        while (free < bits && (first >> free & 1U) == 0 && last - first >= (Wide{2} << free) - 1) {
            ++free;
        }
        to.push_back({version, at, static_cast<std::uint8_t>(bits - free)});
        const Wide end = free == 128 ? last : first + ((Wide{1} << free) - 1);
        if (end >= last) {
            return;
        }
        first = end + 1;
        for (unsigned byte = 0; byte < bits / 8; ++byte) {
            at.bytes[byte] = static_cast<std::byte>(first >> (bits - 8 - 8 * byte));
        }
    }
}

class OptionReader {
public:
    OptionReader(const MapReader& map, NamedLists& lists, const ReadContext& context,
                 Service& service)
        : map_{map}, lists_{lists}, context_{context}, service_{service} {}

    void run() {
        service_.midstream = default_midstream(service_.protocol);
        service_.on_h2c = default_on_h2c(service_.protocol);
        for_each_service_key(service_.protocol, [&](const auto& row, bool fits) {
            if (map_.find(row.name) != nullptr && check(row.name, fits)) {
                read(row);
            }
        });
        warn();
    }

private:
    template <typename Row>
    void read(const Row& row) {
        read_key(row, map_, context_, service_);
    }
    void read(const ConfigKey<Service, PassedUpgrades, form::Own>& row) {
        read_upgrades(*map_.find(row.name));
    }
    void read(const ConfigKey<Service, std::vector<IpPrefix>, form::Own>& row) {
        read_proxies(*map_.find(row.name));
    }

    // True if the protocol has the key.
    [[nodiscard]] bool check(std::string_view key, bool fits) const {
        if (!fits) {
            context_.problems.error(map_.place_of_key(key),
                                    "a service of " +
                                        name_in(service_.protocol, kServiceProtocolNames) +
                                        " has no `" + std::string{key} + "`");
        }
        return fits;
    }

    void warn() const {
        if (service_.on_unreadable == OnUnreadable::Pass) {
            context_.problems.warning(
                map_.find("on_unreadable")->at,
                "what cannot be read passes: limits over this service can be walked around");
        }
        if (runs_over_tcp(service_.protocol) && map_.find("midstream") != nullptr) {
            warn_of_midstream(map_.find("midstream")->at);
        }
        if (service_.path == ServicePath::Inbound) {
            warn_of_one_way(map_.find("path")->at);
        }
        if (service_.protocol == ServiceProtocol::Dns && !service_.proxies.empty()) {
            context_.problems.warning(
                map_.find("proxy_protocol")->at,
                "datagrams have no header of the PROXY protocol: client.ip of a query over UDP is "
                "not what a proxy names");
        }
    }

    // A connection of TLS has one hello, at its beginning.
    void warn_of_midstream(Position at) const {
        if (service_.midstream != Midstream::Pass || service_.protocol == ServiceProtocol::Tls) {
            return;
        }
        const std::string unit = service_.protocol == ServiceProtocol::Dns ? "query" : "request";
        context_.problems.warning(
            at, "on a connection that the box does not know, bytes that begin no " + unit +
                    " pass unread, whatever the server makes of them: limits over this service "
                    "can be walked around there; say inspect or reset");
    }
    void warn_of_one_way(Position at) const {
        if (service_.protocol == ServiceProtocol::Quic) {
            context_.problems.warning(
                at,
                "the answers of its server are not seen: a QUIC hello that comes again within 10 "
                "seconds is not counted four times, though it may be a new connection");
        } else {
            context_.problems.warning(
                at,
                "its server is not seen: its window, what it has acknowledged, its answers and "
                "the handshake over TCP cannot be known, so that bytes that it would not take are "
                "read and charged too, no upgrade passes unless its answer comes by after all, and "
                "nothing longer than what came is "
                "sent");
        }
    }
    void read_upgrades(const YamlNode& node) {
        if (!node.is_list()) {
            context_.problems.error(node.at, "`upgrades` is a list of words of " +
                                                 list_of(kUpgradeWords) + ", found " +
                                                 kind_name(node));
            return;
        }
        for (const YamlNode& item : node.items) {
            const auto& words = kUpgradeWords;
            const auto word = std::find(words.begin(), words.end(), item.text);
            if (!item.is_scalar() || word == words.end()) {
                context_.problems.error(item.at, "`upgrades` lists words of " + list_of(words) +
                                                     "; found " + kind_name(item) +
                                                     did_you_mean(item.text, words));
                continue;
            }
            bool& passes =
                word == words.begin() ? service_.upgrades.websocket : service_.upgrades.connect;
            if (passes) {
                context_.problems.error(item.at, "`" + item.text + "` stands here twice");
            }
            passes = true;
        }
    }

    void read_proxies(const YamlNode& node) {
        const MapReader map{node, rule_keys::kProxyProtocol, context_, "`proxy_protocol`"};
        const YamlNode* from = map.is_map() ? map.find("from") : nullptr;
        if (map.is_map() && from == nullptr) {
            context_.problems.error(node.at,
                                    "`proxy_protocol` needs `from`, the proxies: a $list or "
                                    "[networks]");
        }
        if (from == nullptr) {
            return;
        }
        ListedNetworks networks;
        if (from->is_list() && !from->items.empty()) {
            for (const YamlNode& item : from->items) {
                add_networks(item, lists_, networks, context_);
            }
        } else if (from->is_scalar()) {
            add_networks(*from, lists_, networks, context_);
        } else {
            context_.problems.error(from->at,
                                    "`from` is a $list, or a list of addresses, networks and "
                                    "$lists; found " +
                                        (from->is_list() ? "none" : kind_name(*from)));
        }
        keep(*from, std::move(networks));
    }

    void keep(const YamlNode& from, ListedNetworks networks) {
        networks.merge();
        const auto add_all = [&](IpVersion version, const std::vector<AddressRange>& ranges) {
            for (const AddressRange& range : ranges) {
                if (service_.proxies.size() <= kMaxServiceProxies) {
                    add_networks_of(version, range, service_.proxies);
                }
            }
        };
        add_all(IpVersion::V4, networks.v4);
        add_all(IpVersion::V6, networks.v6);
        if (service_.proxies.size() > kMaxServiceProxies) {
            context_.problems.error(from.at, "a service has at most " +
                                                 std::to_string(kMaxServiceProxies) +
                                                 " networks of proxies");
        }
    }

    const MapReader& map_;
    NamedLists& lists_;
    const ReadContext& context_;
    Service& service_;
};

// The proxies as written: what a list holds changes without the file.
std::string proxies_text(const MapReader& map) {
    const YamlNode* node = map.find("proxy_protocol");
    const YamlNode* from = node == nullptr ? nullptr : value_of(*node, "from");
    if (from == nullptr) {
        return "none";
    }
    std::string text = from->text;
    for (const YamlNode& item : from->items) {
        text += (text.empty() ? "" : ", ") + item.text;
    }
    return "from " + text;
}

template <typename Value, typename Form>
std::string text_of(const ConfigKey<Service, Value, Form>& row, const Service& service,
                    const MapReader&) {
    return sluice::text_of(row.form, static_cast<std::size_t>(service.*row.member));
}
std::string text_of(const ConfigKey<Service, std::vector<IpPrefix>, form::Own>&, const Service&,
                    const MapReader& map) {
    return proxies_text(map);
}
std::string text_of(const ConfigKey<Service, PassedUpgrades, form::Own>&, const Service& service,
                    const MapReader&) {
    if (service.upgrades.websocket) {
        return service.upgrades.connect ? "websocket, connect" : "websocket";
    }
    return service.upgrades.connect ? "connect" : "none";
}

}  // namespace

void read_options(const MapReader& map, NamedLists& lists, const ReadContext& context,
                  Service& service) {
    OptionReader{map, lists, context, service}.run();
}

std::vector<NamedText> settings_of(const Service& service, const MapReader& map) {
    std::vector<NamedText> settings;
    for_each_service_key(service.protocol, [&](const auto& row, bool fits) {
        if (fits) {
            settings.push_back({row.name, text_of(row, service, map)});
        }
    });
    return settings;
}

}  // namespace sluice
