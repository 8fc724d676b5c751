#include "lib/policy/services/service_options.hpp"

#include "lib/match/address_key.hpp"
#include "lib/policy/file_keys/rule_keys.hpp"
#include "lib/policy/lists/listed_networks.hpp"
#include "lib/policy/problems/nearest.hpp"
#include "lib/rules/service_fault.hpp"

#include <algorithm>
#include <bit>
#include <span>

namespace sluice {
namespace {

// The one whose number `word` is, where it is one.
template <typename Enum>
void take_word(const MapReader& map, std::string_view key, std::span<const std::string_view> words,
               Enum& value) {
    if (const std::optional<std::size_t> word = map.word(key, words)) {
        value = static_cast<Enum>(*word);
    }
}

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
        take_word(map_, "on_unreadable", kOnUnreadableNames, service_.on_unreadable);
        take_word(map_, "checksums", kChecksumsNames, service_.checksums);
        take_word(map_, "path", kServicePathNames, service_.path);
        service_.midstream = default_midstream(service_.protocol);
        service_.on_h2c = default_on_h2c(service_.protocol);
        if (has("upgrades", may_upgrade(service_.protocol))) {
            read_upgrades(*map_.find("upgrades"));
        }
        if (has("h2c", may_upgrade(service_.protocol))) {
            take_word(map_, "h2c", kOnH2cNames, service_.on_h2c);
        }
        const bool tcp = runs_over_tcp(service_.protocol);
        if (has("midstream", tcp)) {
            take_word(map_, "midstream", kMidstreamNames, service_.midstream);
            warn_of_midstream(map_.find("midstream")->at);
        }
        if (has("min_ttl", tcp)) {
            read_min_ttl(*map_.find("min_ttl"));
        }
        if (has("proxy_protocol", tcp)) {
            read_proxies(*map_.find("proxy_protocol"));
        }
        if (service_.on_unreadable == OnUnreadable::Pass) {
            context_.problems.warning(
                map_.find("on_unreadable")->at,
                "what cannot be read passes: limits over this service can be walked around");
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

private:
    // A connection of TLS has one hello, at its beginning.
    void warn_of_midstream(Position at) {
        if (service_.midstream != Midstream::Pass || service_.protocol == ServiceProtocol::Tls) {
            return;
        }
        const std::string unit = service_.protocol == ServiceProtocol::Dns ? "query" : "request";
        context_.problems.warning(
            at, "on a connection that the box does not know, bytes that begin no " + unit +
                    " pass unread, whatever the server makes of them: limits over this service "
                    "can be walked around there; say inspect or reset");
    }
    void warn_of_one_way(Position at) {
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
    // True if the key is there to be read.
    [[nodiscard]] bool has(std::string_view key, bool fits) const {
        if (map_.find(key) == nullptr) {
            return false;
        }
        if (!fits) {
            context_.problems.error(map_.place_of_key(key),
                                    "a service of " +
                                        name_in(service_.protocol, kServiceProtocolNames) +
                                        " has no `" + std::string{key} + "`");
        }
        return fits;
    }

    void read_upgrades(const YamlNode& node) {
        if (!node.is_list()) {
            context_.problems.error(node.at, "`upgrades` is a list of words of " +
                                                 list_of(rule_keys::kUpgradeWords) + ", found " +
                                                 kind_name(node));
            return;
        }
        for (const YamlNode& item : node.items) {
            const auto& words = rule_keys::kUpgradeWords;
            const auto word = std::find(words.begin(), words.end(), item.text);
            if (!item.is_scalar() || word == words.end()) {
                context_.problems.error(item.at, "`upgrades` lists words of " + list_of(words) +
                                                     "; found " + kind_name(item) +
                                                     did_you_mean(item.text, words));
                continue;
            }
            bool& passes =
                word == words.begin() ? service_.passes_websocket : service_.passes_connect;
            if (passes) {
                context_.problems.error(item.at, "`" + item.text + "` stands here twice");
            }
            passes = true;
        }
    }

    void read_min_ttl(const YamlNode& node) {
        const std::optional<std::uint64_t> ttl = map_.number("min_ttl", UINT8_MAX);
        if (ttl && *ttl == 0) {
            context_.problems.error(node.at, "`min_ttl` is a number from 1 to 255, found 0");
        }
        service_.min_ttl = ttl && *ttl > 0 ? static_cast<std::uint8_t>(*ttl) : service_.min_ttl;
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

std::string upgrades_text(const Service& service) {
    std::string text = service.passes_websocket ? "websocket" : "";
    if (service.passes_connect) {
        text += text.empty() ? "connect" : ", connect";
    }
    return text.empty() ? "none" : text;
}

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

}  // namespace

void read_options(const MapReader& map, NamedLists& lists, const ReadContext& context,
                  Service& service) {
    OptionReader{map, lists, context, service}.run();
}

std::vector<NamedText> settings_of(const Service& service, const MapReader& map) {
    std::vector<NamedText> settings{
        {"on_unreadable", name_in(service.on_unreadable, kOnUnreadableNames)},
        {"checksums", name_in(service.checksums, kChecksumsNames)},
        {"path", name_in(service.path, kServicePathNames)}};
    if (runs_over_tcp(service.protocol)) {
        settings.push_back({"midstream", name_in(service.midstream, kMidstreamNames)});
        settings.push_back({"min_ttl", std::to_string(service.min_ttl)});
        settings.push_back({"proxy_protocol", proxies_text(map)});
    }
    if (may_upgrade(service.protocol)) {
        settings.push_back({"upgrades", upgrades_text(service)});
        settings.push_back({"h2c", name_in(service.on_h2c, kOnH2cNames)});
    }
    return settings;
}

}  // namespace sluice
