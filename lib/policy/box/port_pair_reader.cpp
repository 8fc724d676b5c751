#include "lib/policy/box/port_pair_reader.hpp"

#include "lib/packet/rss.hpp"

#include <array>
#include <set>
#include <string>

namespace sluice {
namespace {

constexpr auto kPairKeys = std::to_array<KeyRow>(
    {{"name"}, {"outside"}, {"inside"}, {"mtu"}, {"link_follow"}, {"hand_over"}});
constexpr auto kPortKeys = std::to_array<KeyRow>({{"device"}, {"queues"}, {"rss"}});

constexpr std::uint64_t kMaxQueues = 64;
constexpr std::uint64_t kSmallestMtu = 68;  // RFC 791
constexpr std::uint64_t kLargestMtu = 65'535;

class PortPairReader {
public:
    explicit PortPairReader(const ReadContext& context) : context_{context} {}

    BoxPair read_pair(const YamlNode& node) {
        BoxPair pair;
        const MapReader map{node, kPairKeys, context_, "a port pair"};
        if (!map.is_map()) {
            return pair;
        }
        pair.name = map.text("name").value_or("");
        if (pair.name.empty() || !names_.insert(pair.name).second) {
            context_.problems.error(node.at, "a port pair needs a `name` of its own");
        }
        pair.outside = read_side(map, "outside");
        pair.inside = read_side(map, "inside");
        pair.mtu = read_mtu(map);
        pair.link_follow = map.flag("link_follow").value_or(true);
        pair.hand_over = map.flag("hand_over").value_or(true);
        return pair;
    }

private:
    std::optional<std::uint16_t> read_mtu(const MapReader& map) {
        const std::optional<std::uint64_t> mtu = map.number("mtu", kLargestMtu);
        if (mtu && *mtu < kSmallestMtu) {
            context_.problems.error(map.find("mtu")->at, "the least MTU is 68");
        }
        return mtu ? std::optional{static_cast<std::uint16_t>(*mtu)} : std::nullopt;
    }

    BoxPort read_side(const MapReader& pair, std::string_view side) {
        const YamlNode* node = pair.find(side);
        if (node == nullptr) {
            context_.problems.error(pair.node().at,
                                    "a port pair needs `" + std::string{side} + "`");
            return {};
        }
        const MapReader map{*node, kPortKeys, context_, side};
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
        } else if (!devices_.insert(device).second) {
            context_.problems.error(map.find("device")->at,
                                    "the device `" + device + "` has another place already");
        }
        return device;
    }

    std::optional<unsigned> read_queues(const MapReader& map) {
        const YamlNode* queues = map.find("queues");
        if (queues == nullptr || queues->text == "auto") {
            return std::nullopt;
        }
        const std::optional<std::uint64_t> number = map.number("queues", kMaxQueues);
        if (number && *number == 0) {
            context_.problems.error(queues->at, "`queues` is auto or at least 1");
        }
        return number ? std::optional{static_cast<unsigned>(*number)} : std::nullopt;
    }

    std::string read_rss(const MapReader& map) {
        const std::optional<std::size_t> rss = map.word("rss", kRssNames);
        return rss ? std::string{kRssNames[*rss]} : BoxPort{}.rss;
    }

    const ReadContext& context_;
    std::set<std::string> names_;
    std::set<std::string> devices_;
};

}  // namespace

std::vector<BoxPair> read_port_pairs(const YamlNode& ports, const ReadContext& context) {
    if (!ports.is_list()) {
        context.problems.error(ports.at, "`ports` is a list of pairs, found " + kind_name(ports));
        return {};
    }
    PortPairReader reader{context};
    std::vector<BoxPair> pairs;
    pairs.reserve(ports.items.size());
    for (const YamlNode& node : ports.items) {
        pairs.push_back(reader.read_pair(node));
    }
    return pairs;
}

}  // namespace sluice
