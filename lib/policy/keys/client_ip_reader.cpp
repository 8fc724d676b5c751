#include "lib/policy/keys/client_ip_reader.hpp"

#include "lib/bucket/hash/siphash.hpp"
#include "lib/match/address_key.hpp"
#include "lib/policy/file_keys/rule_keys.hpp"
#include "lib/policy/lists/listed_networks.hpp"
#include "lib/policy/lists/named_lists.hpp"
#include "lib/policy/problems/nearest.hpp"
#include "lib/policy/texts/letter_case.hpp"
#include "lib/policy/values/units_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

namespace sluice {
namespace {

constexpr auto kWrappingNames = [] {
    std::array<std::string_view, kWrappings.size()> names{};
    for (std::size_t i = 0; i < names.size(); ++i) {
        names[i] = kWrappings[i].name;
    }
    return names;
}();

// Reads a number from 1 to `most`; `otherwise` when it is absent or wrong.
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

template <typename Key>
void append_steps(const std::vector<AddressRange>& ranges, Key largest, auto key_of,
                  std::vector<Step<Key>>& steps) {
    steps.push_back({0, 0});
    for (const AddressRange& range : ranges) {
        const Key first = key_of(range.first);
        const Key last = key_of(range.last);
        if (steps.back().first == first) {
            steps.pop_back();  // the range begins where the one before it ends
        }
        steps.push_back({first, 1});
        if (last != largest) {
            steps.push_back({static_cast<Key>(last + 1), 0});
        }
    }
}

AddressSetParts parts_of(ListedNetworks networks) {
    networks.merge();
    AddressSetParts parts;
    append_steps(networks.v4, std::uint64_t{UINT32_MAX}, v4_key, parts.steps);
    append_steps(networks.v6, ~Wide{0}, v6_key, parts.v6_steps);
    return parts;
}

AddressSetParts read_proxies(const YamlNode& node, NamedLists& lists, const ReadContext& context) {
    ListedNetworks networks;
    if (!node.is_list() || node.items.empty()) {
        context.problems.error(node.at,
                               "`trusted_proxies` is a list of addresses, networks and $lists, "
                               "found " +
                                   (node.is_list() ? "none" : kind_name(node)));
        return parts_of(ListedNetworks{});
    }
    for (const YamlNode& item : node.items) {
        add_networks(item, lists, networks, context);
    }
    AddressSetParts parts = parts_of(std::move(networks));
    if (!are_sound(parts)) {
        context.problems.error(node.at, "there are more trusted proxies than can be looked up");
    }
    return parts;
}

// The contents of a list when it was read: " (2 ranges, 5f3a09c1)". Lists of the same addresses
// have the same digest, however they are written.
std::string contents_of(const ListValues& values) {
    ListedNetworks networks{values.v4, values.v6};
    networks.merge();
    std::string all;
    for (const auto* ranges : {&networks.v4, &networks.v6}) {
        for (const AddressRange& range : *ranges) {
            const auto first = v6_key(range.first);
            const auto last = v6_key(range.last);
            all.append(reinterpret_cast<const char*>(&first), sizeof(first));
            all.append(reinterpret_cast<const char*>(&last), sizeof(last));
        }
        all += '\n';
    }
    const std::uint64_t digest = siphash_1_3(HashSecret{}, std::as_bytes(std::span{all}));
    const std::size_t count = networks.v4.size() + networks.v6.size();
    return fmt::format(" ({} range{}, {:08x})", count, count == 1 ? "" : "s",
                       static_cast<std::uint32_t>(digest));
}

// A proxy as written; what a list holds is said beside its name.
std::string shown(const YamlNode& item, NamedLists& lists) {
    const NamedList* list = item.text.starts_with('$') ? lists.find(item.text.substr(1)) : nullptr;
    return item.text + (list == nullptr || !list->known ? "" : contents_of(list->values));
}

// Entries of Forwarded are name=value pairs (RFC 7239), not addresses.
bool is_forwarded(std::string_view name) noexcept {
    constexpr std::string_view kForwarded = "forwarded";
    return std::equal(name.begin(), name.end(), kForwarded.begin(), kForwarded.end(),
                      [](char a, char b) { return (a | 0x20) == b; });
}

void read_header(const YamlNode& from, const YamlNode* header, ClientSource& source,
                 const ReadContext& context) {
    if (header == nullptr) {
        context.problems.error(from.at, "`from` needs `header`, such as x-forwarded-for");
    } else if (!header->is_scalar() || !is_header_name(header->text)) {
        context.problems.error(header->at,
                               "`header` is the name of a header, such as x-forwarded-for, found " +
                                   kind_name(*header));
    } else if (is_forwarded(header->text)) {
        context.problems.error(header->at,
                               "entries of `forwarded` are pairs such as for=192.0.2.1, which are "
                               "not read; name a header that lists addresses, such as "
                               "x-forwarded-for");
    } else {
        source.header = lowered(header->text);
    }
}

void read_from(const YamlNode& node, ClientSource& source, const ReadContext& context) {
    const MapReader from{node, rule_keys::kClientFrom, context, "`from`"};
    if (from.is_map()) {
        read_header(node, from.find("header"), source, context);
        source.hops = read_bounded(from, "hops_from_right", kMostClientHops, 1, context);
    }
}

void read_source(const MapReader& map, NamedLists& lists, ClientIp& client,
                 const ReadContext& context) {
    const YamlNode* proxies = map.find("trusted_proxies");
    const YamlNode* from = map.find("from");
    if (proxies == nullptr && from == nullptr) {
        return;
    }
    const auto source = std::make_shared<ClientSource>();
    if (proxies != nullptr) {
        source->proxies = read_proxies(*proxies, lists, context);
        for (const YamlNode& item : proxies->items) {
            client.proxies += " " + shown(item, lists);
        }
    } else {
        context.problems.error(map.place_of_key("from"),
                               "`from` is believed of `trusted_proxies` alone, which are missing");
    }
    if (from == nullptr) {
        context.problems.warning(map.place_of_key("trusted_proxies"),
                                 "without `from`, which says where proxies name clients, nothing "
                                 "is asked of them: client.ip is ip.src");
        return;
    }
    read_from(*from, *source, context);
    client.view.proxied = true;
    client.source = source;
}

}  // namespace

ClientIp read_client_ip(const YamlNode& node, NamedLists& lists, const ReadContext& context) {
    ClientIp client;
    const MapReader map{node, rule_keys::kClientIp, context, "`client_ip`"};
    if (!map.is_map()) {
        return client;
    }
    client.view.v4_length = read_bounded(map, "ipv4_prefix", 32, 32, context);
    client.view.v6_length = read_bounded(map, "ipv6_prefix", 128, 128, context);
    if (const YamlNode* unwrap = map.find("unwrap")) {
        client.view.unwrapping = read_unwrap(*unwrap, context);
    }
    read_source(map, lists, client, context);
    return client;
}

ClientView client_view(const ReadContext& context) noexcept {
    return context.client_ip == nullptr ? ClientView{} : context.client_ip->view;
}

bool asks_for_client(bool condition_asks, const std::vector<GroupingKey>& keys) {
    return condition_asks || std::any_of(keys.begin(), keys.end(), [](const GroupingKey& key) {
               return std::any_of(key.begin(), key.end(), [](const KeyPart& part) {
                   return !part.text && is_client(part.field);
               });
           });
}

void note_client(const ClientIp& client, std::vector<NamedText>& settings) {
    const ClientView& view = client.view;
    if (view.changes_nothing()) {
        return;
    }
    std::string text = "prefixes " + std::to_string(view.v4_length) + "|" +
                       std::to_string(view.v6_length) + ", unwrap";
    for (const WrappingRow& row : kWrappings) {
        text += view.unwrapping.has(row.wrapping) ? " " + std::string{row.name} : "";
    }
    text += view.unwrapping == Unwrapping{} ? " nothing" : "";
    if (client.source != nullptr) {
        text += ", from " + client.source->header + " " + std::to_string(client.source->hops) +
                " of" + client.proxies;
    }
    text += client.services.empty() ? "" : ", from PROXY headers to" + client.services;
    settings.push_back({kClientSetting, std::move(text)});
}

}  // namespace sluice
