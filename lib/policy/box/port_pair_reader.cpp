#include "lib/policy/box/box_parts.hpp"

#include "lib/base/device_text.hpp"
#include "lib/policy/file_keys/options_reader.hpp"
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
        read_map(node, "a port pair", kConfigKeys<PairConfig>, context_, pair);
        if (!node.is_map()) {
            return pair;
        }
        if (pair.name.empty() || !names_.insert(pair.name).second) {
            context_.problems.error(node.at, "a port pair needs a `name` of its own");
        }
        check_side(node, "outside", pair.outside);
        check_side(node, "inside", pair.inside);
        const YamlNode* inside = value_of(node, "inside");
        if (inside != nullptr && value_of(*inside, "rss") == nullptr) {
            // Both directions of a connection come to one worker, where that can be.
            pair.inside.rss = mirror_of(pair.outside.rss).value_or(pair.inside.rss);
        }
        return pair;
    }

private:
    void check_side(const YamlNode& pair, std::string_view side, const PortConfig& port) {
        const YamlNode* node = value_of(pair, side);
        if (node == nullptr) {
            context_.problems.error(pair.at, "a port pair needs `" + std::string{side} + "`");
        } else if (node->is_map()) {
            check_device(*node, port.device);
        }
    }

    void check_device(const YamlNode& side, const std::string& device) {
        if (device.empty()) {
            context_.problems.error(side.at,
                                    "a port needs a `device`, such as 0000:3b:00.0 or "
                                    "net_af_packet0,iface=eth0");
            return;
        }
        const Position at = value_of(side, "device")->at;
        if (!devices_.insert(std::string{bare_device_name(device)}).second) {
            const std::string name{bare_device_name(device)};
            const bool is_whole = name == device;
            context_.problems.error(
                at, is_whole ? "the device `" + device + "` has another place already"
                             : "the device `" + name +
                                   "` has another place already: each has a name of its own before "
                                   "the comma, such as net_af_packet0 and net_af_packet1");
        }
        for (const std::string& interface : interfaces_of(device)) {
            if (!interfaces_.insert(interface).second) {
                context_.problems.error(
                    at, "the interface `" + interface + "` is a port already: " + kSharedInterface);
            }
        }
    }

    const ReadContext& context_;
    std::set<std::string> names_;
    std::set<std::string> devices_;
    std::set<std::string> interfaces_;
};

}  // namespace

void read_own(const MapReader& map, std::string_view key, const ReadContext& context,
              std::vector<PairConfig>& into) {
    const YamlNode* ports = map.find(key);
    if (ports == nullptr) {
        return;
    }
    if (!ports->is_list()) {
        context.problems.error(ports->at, "`ports` is a list of pairs, found " + kind_name(*ports));
        return;
    }
    PortPairReader reader{context};
    for (const YamlNode& node : ports->items) {
        into.push_back(reader.read_pair(node));
    }
}

}  // namespace sluice
