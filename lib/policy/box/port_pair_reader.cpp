#include "lib/policy/box/box_parts.hpp"

#include "lib/base/device_text.hpp"
#include "lib/policy/file_keys/box_keys.hpp"
#include "lib/rules/port_rss_mapping.hpp"

#include <set>
#include <string>

namespace sluice {
namespace {

class PortPairReader {
public:
    explicit PortPairReader(const ReadContext& context) : context_{context} {}

    PairConfig read_pair(const YamlNode& node) {
        PairConfig pair;
        const MapReader map{node, box_keys::kPair, context_, "a port pair"};
        if (!map.is_map()) {
            return pair;
        }
        pair.name = map.text("name").value_or("");
        if (pair.name.empty() || !names_.insert(pair.name).second) {
            context_.problems.error(node.at, "a port pair needs a `name` of its own");
        }
        pair.outside = read_side(map, "outside");
        pair.inside = read_side(map, "inside");
        const YamlNode* inside = map.find("inside");
        if (inside != nullptr && value_of(*inside, "rss") == nullptr) {
            // Both directions of a connection come to one worker, where that can be.
            pair.inside.rss = mirror_of(pair.outside.rss).value_or(pair.inside.rss);
        }
        pair.mtu = read_mtu(map);
        pair.link_follow = map.flag("link_follow").value_or(true);
        pair.hand_over = map.flag("hand_over").value_or(true);
        return pair;
    }

private:
    std::optional<std::uint16_t> read_mtu(const MapReader& map) {
        const std::optional<std::uint64_t> mtu = map.number("mtu", kMtuRange.most);
        if (mtu && *mtu < kMtuRange.least) {
            context_.problems.error(map.find("mtu")->at, "the least MTU is 68");
        }
        return mtu ? std::optional{static_cast<std::uint16_t>(*mtu)} : std::nullopt;
    }

    PortConfig read_side(const MapReader& pair, std::string_view side) {
        const YamlNode* node = pair.find(side);
        if (node == nullptr) {
            context_.problems.error(pair.node().at,
                                    "a port pair needs `" + std::string{side} + "`");
            return {};
        }
        const MapReader map{*node, box_keys::kPort, context_, side};
        if (!map.is_map()) {
            return {};
        }
        return {read_device(map), read_queues(map), read_rss(map)};
    }

    std::string read_device(const MapReader& map) {
        std::string device = map.text("device").value_or("");
        if (device.empty()) {
            context_.problems.error(map.node().at,
                                    "a port needs a `device`, such as 0000:3b:00.0 or "
                                    "net_af_packet0,iface=eth0");
        } else if (!devices_.insert(std::string{bare_device_name(device)}).second) {
            context_.problems.error(map.find("device")->at,
                                    "the device `" + device + "` has another place already");
        }
        for (const std::string& interface : interfaces_of(device)) {
            if (!interfaces_.insert(interface).second) {
                context_.problems.error(
                    map.find("device")->at,
                    "the interface `" + interface + "` is a port already: " + kSharedInterface);
            }
        }
        return device;
    }

    std::optional<std::uint32_t> read_queues(const MapReader& map) {
        const YamlNode* queues = map.find("queues");
        if (queues == nullptr || queues->text == "auto") {
            return std::nullopt;
        }
        const std::optional<std::uint64_t> number = map.number("queues", kQueuesRange.most);
        if (number && *number == 0) {
            context_.problems.error(queues->at, "`queues` is auto or at least 1");
        }
        return number ? std::optional{static_cast<std::uint32_t>(*number)} : std::nullopt;
    }

    Rss read_rss(const MapReader& map) {
        return static_cast<Rss>(map.word("rss", kRssNames).value_or(0));
    }

    const ReadContext& context_;
    std::set<std::string> names_;
    std::set<std::string> devices_;
    std::set<std::string> interfaces_;
};

}  // namespace

std::vector<PairConfig> read_port_pairs(const YamlNode& ports, const ReadContext& context) {
    if (!ports.is_list()) {
        context.problems.error(ports.at, "`ports` is a list of pairs, found " + kind_name(ports));
        return {};
    }
    PortPairReader reader{context};
    std::vector<PairConfig> pairs;
    pairs.reserve(ports.items.size());
    for (const YamlNode& node : ports.items) {
        pairs.push_back(reader.read_pair(node));
    }
    return pairs;
}

}  // namespace sluice
