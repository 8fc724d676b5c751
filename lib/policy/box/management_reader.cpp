#include "lib/policy/box/box_parts.hpp"

#include "lib/base/whole_number.hpp"
#include "lib/packet/transport.hpp"

namespace sluice {
namespace {

// The number that is the whole text, from 1 on.
std::optional<std::uint64_t> number_in(std::string_view text, std::uint64_t most) {
    const std::optional<std::uint64_t> number = whole_number(text);
    return number && *number >= 1 && *number <= most ? number : std::nullopt;
}

// `tcp/22`, `udp/161`, or `icmp`, which is that of both versions.
bool add_service(std::string_view text, std::vector<ManagedService>& allow) {
    if (text == "icmp") {
        allow.push_back({.proto = kProtoIcmp});
        allow.push_back({.proto = kProtoIcmpv6});
        return true;
    }
    const std::string_view proto = text.substr(0, text.find('/'));
    if ((proto != "tcp" && proto != "udp") || proto.size() == text.size()) {
        return false;
    }
    const auto port = number_in(text.substr(proto.size() + 1), 0xFFFF);
    if (port) {
        allow.push_back(
            {proto == "tcp" ? kProtoTcp : kProtoUdp, static_cast<std::uint16_t>(*port)});
    }
    return port.has_value();
}

bool add_address(std::string_view text, std::vector<VersionedAddress>& to) {
    const std::optional<VersionedAddress> address = parse_address(text);
    if (address) {
        to.push_back(*address);
    }
    return address.has_value();
}

// Every item of a list that is not empty.
template <typename T>
void read_items(const MapReader& map, std::string_view key, const ReadContext& context,
                bool (*add)(std::string_view, std::vector<T>&), std::vector<T>& into) {
    const YamlNode* node = map.find(key);
    const bool is_list = node != nullptr && node->is_list() && !node->items.empty();
    const std::string what = key == "to" ? "addresses of the box, such as [192.0.2.10]"
                                         : "services, such as [tcp/22, tcp/179, icmp]";
    if (!is_list) {
        context.problems.error(node == nullptr ? map.node().at : node->at,
                               "`" + std::string{key} + "` is a list of " + what);
        return;
    }
    for (const YamlNode& item : node->items) {
        if (!item.is_scalar() || !add(item.text, into)) {
            context.problems.error(item.at, "`" + std::string{key} + "` is a list of " + what);
        }
    }
}

}  // namespace

void read_own(const MapReader& map, std::string_view key, const ReadContext& context,
              std::vector<ManagedService>& into) {
    read_items(map, key, context, add_service, into);
}

void read_own(const MapReader& map, std::string_view key, const ReadContext& context,
              std::vector<VersionedAddress>& into) {
    read_items(map, key, context, add_address, into);
}

}  // namespace sluice
