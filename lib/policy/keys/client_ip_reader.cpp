#include "lib/policy/keys/client_ip_reader.hpp"

#include "lib/policy/problems/nearest.hpp"
#include "lib/policy/values/network_text.hpp"
#include "lib/policy/values/units_text.hpp"

#include <algorithm>
#include <array>

namespace sluice {
namespace {

constexpr auto kClientIpKeys = std::to_array<KeyRow>(
    {{"trusted_proxies"}, {"from"}, {"ipv4_prefix"}, {"ipv6_prefix"}, {"unwrap"}});
constexpr auto kFromKeys = std::to_array<KeyRow>({{"header"}, {"hops_from_right"}});
constexpr std::uint64_t kMostHops = 32;
constexpr std::size_t kMaxHeaderName = 128;

constexpr auto kWrappingNames = [] {
    std::array<std::string_view, kWrappings.size()> names{};
    for (std::size_t i = 0; i < names.size(); ++i) {
        names[i] = kWrappings[i].name;
    }
    return names;
}();

// What RFC 9110 calls a token.
bool is_header_name(std::string_view name) noexcept {
    constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
    return !name.empty() && name.size() <= kMaxHeaderName &&
           std::all_of(name.begin(), name.end(), [&](char c) {
               return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      kMarks.find(c) != std::string_view::npos;
           });
}

// From 1 to `most`; `otherwise` when it is absent or wrong.
std::uint8_t read_bounded(const MapReader& map, std::string_view key, std::uint64_t most,
                          std::uint8_t otherwise, const ReadContext& context) {
    const YamlNode* node = map.find(key);
    if (node == nullptr) {
        return otherwise;
    }
    const Result<std::uint64_t> value = parse_number(node->is_scalar() ? node->text : "", most);
    if (!value || *value == 0) {
        context.problems.error(node->at, "`" + std::string{key} + "` is a number from 1 to " +
                                             std::to_string(most) + ", found " + kind_name(*node));
        return otherwise;
    }
    return static_cast<std::uint8_t>(*value);
}

Unwrapping read_unwrap(const YamlNode& node, const ReadContext& context) {
    Unwrapping unwrapping;
    if (!node.is_list()) {
        context.problems.error(node.at, "`unwrap` is a list of words of " +
                                            list_of(kWrappingNames) + ", found " + kind_name(node));
        return unwrapping;
    }
    for (const YamlNode& item : node.items) {
        const auto word = std::find(kWrappingNames.begin(), kWrappingNames.end(), item.text);
        if (!item.is_scalar() || word == kWrappingNames.end()) {
            context.problems.error(item.at, "`unwrap` lists words of " + list_of(kWrappingNames) +
                                                "; found " + kind_name(item) +
                                                did_you_mean(item.text, kWrappingNames));
            continue;
        }
        const Wrapping wrapping =
            kWrappings[static_cast<std::size_t>(word - kWrappingNames.begin())].wrapping;
        if (unwrapping.has(wrapping)) {
            context.problems.error(item.at, "`" + item.text + "` stands here twice");
        }
        unwrapping.add(wrapping);
    }
    return unwrapping;
}

void check_proxies(const YamlNode& node, const ReadContext& context) {
    if (!node.is_list() || node.items.empty()) {
        context.problems.error(node.at,
                               "`trusted_proxies` is a list of addresses and networks, found " +
                                   (node.is_list() ? "none" : kind_name(node)));
        return;
    }
    for (const YamlNode& item : node.items) {
        if (!item.is_scalar()) {
            context.problems.error(item.at,
                                   "a proxy is an address or a network, found " + kind_name(item));
            continue;
        }
        if (const Result<IpPrefix> network = parse_network(item.text); !network) {
            context.problems.error(item.at,
                                   network.error().code == Errc::OutOfRange
                                       ? network.error().what
                                       : "expected an address or network such as 192.0.2.0/24, "
                                         "found " +
                                             kind_name(item));
        }
    }
}

void check_from(const YamlNode& node, const ReadContext& context) {
    const MapReader from{node, kFromKeys, context, "`from`"};
    if (!from.is_map()) {
        return;
    }
    const YamlNode* header = from.find("header");
    if (header == nullptr) {
        context.problems.error(node.at, "`from` needs `header`, such as x-forwarded-for");
    } else if (!header->is_scalar() || !is_header_name(header->text)) {
        context.problems.error(header->at,
                               "`header` is the name of a header, such as x-forwarded-for, found " +
                                   kind_name(*header));
    }
    (void)read_bounded(from, "hops_from_right", kMostHops, 1, context);
}

}  // namespace

ClientIp read_client_ip(const YamlNode& node, const ReadContext& context) {
    ClientIp client;
    const MapReader map{node, kClientIpKeys, context, "`client_ip`"};
    if (!map.is_map()) {
        return client;
    }
    client.view.v4_length = read_bounded(map, "ipv4_prefix", 32, 32, context);
    client.view.v6_length = read_bounded(map, "ipv6_prefix", 128, 128, context);
    if (const YamlNode* unwrap = map.find("unwrap")) {
        client.view.unwrapping = read_unwrap(*unwrap, context);
    }
    const YamlNode* proxies = map.find("trusted_proxies");
    if (proxies != nullptr) {
        check_proxies(*proxies, context);
    }
    if (const YamlNode* from = map.find("from")) {
        check_from(*from, context);
        client.from_header = true;
        if (proxies == nullptr) {
            context.problems.error(map.place_of_key("from"),
                                   "`from` is believed of `trusted_proxies` alone, which are "
                                   "missing");
        }
    }
    for (const std::string_view key : {"trusted_proxies", "from"}) {
        if (map.find(key) != nullptr) {
            context.problems.warning(map.place_of_key(key),
                                     "not enforced yet: `" + std::string{key} + "` of `client_ip`");
        }
    }
    return client;
}

ClientView client_view(const ReadContext& context) noexcept {
    return context.client_ip == nullptr ? ClientView{} : context.client_ip->view;
}

void report_clients(const std::vector<std::size_t>& offsets, const ScalarPlaces& places,
                    const ReadContext& context) {
    if (context.client_ip == nullptr || !context.client_ip->from_header || !context.strict) {
        return;
    }
    for (const std::size_t offset : offsets) {
        context.not_enforced(places[offset], "client.ip from a header, as `client_ip` has it");
    }
}

bool asks_for_client(bool condition_asks, const std::vector<GroupingKey>& keys) {
    return condition_asks || std::any_of(keys.begin(), keys.end(), [](const GroupingKey& key) {
               return std::any_of(key.begin(), key.end(), [](const KeyPart& part) {
                   return part.field == Field::ClientIp;
               });
           });
}

void note_client(const ClientView& view, std::vector<NamedText>& settings) {
    if (view.changes_nothing()) {
        return;
    }
    std::string text = "prefixes " + std::to_string(view.v4_length) + "|" +
                       std::to_string(view.v6_length) + ", unwrap";
    for (const WrappingRow& row : kWrappings) {
        text += view.unwrapping.has(row.wrapping) ? " " + std::string{row.name} : "";
    }
    settings.push_back(
        {"client_ip", view.unwrapping == Unwrapping{} ? text + " nothing" : std::move(text)});
}

}  // namespace sluice
