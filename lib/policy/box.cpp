#include "lib/policy/box.hpp"

#include "lib/policy/map_reader.hpp"
#include "lib/policy/nearest.hpp"
#include "lib/policy/units_text.hpp"
#include "lib/policy/yaml_tree.hpp"

#include <array>
#include <charconv>
#include <set>

namespace sluice {
namespace {

constexpr auto kTopKeys = std::to_array<KeyRow>({
    {"version"},
    {"ports"},
    {"workers"},
    {"memory"},
    {"packets"},
    {"sockets"},
    {"rules"},
    {"log"},
    {"merge", false},
    {"api", false},
    {"cluster", false},
});
constexpr auto kPairKeys =
    std::to_array<KeyRow>({{"name"}, {"outside"}, {"inside"}, {"mtu"}, {"link_follow"}});
constexpr auto kPortKeys = std::to_array<KeyRow>({{"device"}, {"queues"}, {"rss"}});
constexpr auto kWorkerKeys = std::to_array<KeyRow>({{"lcores"}, {"watchdog"}});
constexpr auto kWatchdogKeys = std::to_array<KeyRow>({{"stall"}, {"action"}});
constexpr auto kMemoryKeys = std::to_array<KeyRow>({{"hugepages"}, {"mbufs"}, {"tables"}});
constexpr auto kTableKeys = std::to_array<KeyRow>({{"keys"}, {"state_dir"}, {"snapshot", false}});
constexpr auto kPacketKeys = std::to_array<KeyRow>({{"malformed"},
                                                    {"tunnels"},
                                                    {"fragments", false},
                                                    {"connections", false},
                                                    {"quic_initials", false}});
constexpr auto kSocketsKeys = std::to_array<KeyRow>({{"control"}, {"dataplane"}});
constexpr auto kSocketKeys = std::to_array<KeyRow>({{"path"}, {"mode"}, {"owner"}, {"group"}});
constexpr auto kLogKeys = std::to_array<KeyRow>({{"level"}, {"format"}});

constexpr auto kRssWords = std::to_array<std::string_view>(
    {"source", "destination", "symmetric", "five_tuple", "source_prefix"});
constexpr std::size_t kSourcePrefix = 4;
constexpr auto kHugepageWords = std::to_array<std::string_view>({"auto", "required", "none"});
constexpr auto kMalformedWords = std::to_array<std::string_view>({"drop", "pass"});
constexpr auto kWatchdogWords = std::to_array<std::string_view>({"report", "restart"});
constexpr auto kLevelWords = std::to_array<std::string_view>({"debug", "info", "warn", "error"});
constexpr auto kFormatWords = std::to_array<std::string_view>({"text", "json", "journal"});
constexpr auto kTunnelWords = std::to_array<std::string_view>({"gre", "vxlan", "ipip"});

constexpr std::uint64_t kMaxQueues = 64;
constexpr std::uint64_t kSmallestMtu = 68;  // RFC 791
constexpr std::uint64_t kLargestMtu = 65'535;

// A number with K or Ki suffixes: `256k`, `4M`, as sluice.yaml writes sizes of tables and pools.
std::optional<std::uint64_t> read_amount(const MapReader& map, std::string_view key,
                                         const ReadContext& context) {
    const YamlNode* value = map.find(key);
    if (value == nullptr) {
        return std::nullopt;
    }
    std::string text = value->text;
    if (text.ends_with('k')) {
        text.back() = 'K';
    }
    const Result<Units> amount = parse_count(text);
    if (!value->is_scalar() || !value->plain || !amount || amount->count() == 0 ||
        amount->count() > UINT32_MAX) {
        context.problems.error(value->at, "`" + std::string{key} +
                                              "` is a number such as 4096, 256k or 4M, found " +
                                              kind_name(*value));
        return std::nullopt;
    }
    return amount->count();
}

std::string read_word(const MapReader& map, std::string_view key,
                      std::span<const std::string_view> words, std::string fallback) {
    const std::optional<std::size_t> index = map.word(key, words);
    return index ? std::string{words[*index]} : std::move(fallback);
}

class BoxReader {
public:
    BoxReader(const RuleText& source, Purpose purpose, Problems& problems)
        : context_{source.text, problems, purpose == Purpose::Enforce} {}

    std::optional<Box> run(const YamlNode& root) {
        const MapReader top{root, kTopKeys, context_, "the configuration"};
        if (!top.is_map()) {
            return std::nullopt;
        }
        const YamlNode* version = top.find("version");
        if (version == nullptr || !version->is_scalar() || version->text != "1") {
            context_.problems.error(version == nullptr ? root.at : version->at,
                                    "the configuration begins with `version: 1`");
        }
        read_ports(top);
        section(top, "workers", &BoxReader::read_workers);
        section(top, "memory", &BoxReader::read_memory);
        section(top, "packets", &BoxReader::read_packets);
        section(top, "sockets", &BoxReader::read_sockets);
        section(top, "log", &BoxReader::read_log);
        box_.rules = top.text("rules").value_or("");
        if (context_.problems.has_errors()) {
            return std::nullopt;
        }
        return std::move(box_);
    }

private:
    void section(const MapReader& top, std::string_view key,
                 void (BoxReader::*read)(const YamlNode&)) {
        if (const YamlNode* node = top.find(key)) {
            (this->*read)(*node);
        }
    }

    void read_ports(const MapReader& top) {
        const YamlNode* ports = top.find("ports");
        if (ports == nullptr) {
            return;
        }
        if (!ports->is_list()) {
            context_.problems.error(ports->at,
                                    "`ports` is a list of pairs, found " + kind_name(*ports));
            return;
        }
        for (const YamlNode& node : ports->items) {
            read_pair(node);
        }
    }

    void read_pair(const YamlNode& node) {
        const MapReader map{node, kPairKeys, context_, "a port pair"};
        if (!map.is_map()) {
            return;
        }
        BoxPair pair;
        pair.name = map.text("name").value_or("");
        if (pair.name.empty() || !names_.insert(pair.name).second) {
            context_.problems.error(node.at, "a port pair needs a `name` of its own");
        }
        pair.outside = read_port(map, "outside");
        pair.inside = read_port(map, "inside");
        if (const auto mtu = map.number("mtu", kLargestMtu)) {
            pair.mtu = static_cast<std::uint16_t>(*mtu);
            if (*mtu < kSmallestMtu) {
                context_.problems.error(map.find("mtu")->at, "the least MTU is 68");
            }
        }
        pair.link_follow = map.flag("link_follow").value_or(true);
        box_.pairs.push_back(std::move(pair));
    }

    BoxPort read_port(const MapReader& pair, std::string_view side) {
        BoxPort port;
        const YamlNode* node = pair.find(side);
        if (node == nullptr) {
            context_.problems.error(pair.node().at,
                                    "a port pair needs `" + std::string{side} + "`");
            return port;
        }
        const MapReader map{*node, kPortKeys, context_, side};
        if (!map.is_map()) {
            return port;
        }
        port.device = map.text("device").value_or("");
        if (port.device.empty()) {
            context_.problems.error(node->at,
                                    "a port needs a `device`, such as 0000:3b:00.0 or "
                                    "net_af_packet0,iface=eth0");
        }
        const YamlNode* queues = map.find("queues");
        if (queues != nullptr && queues->text != "auto") {
            if (const auto number = map.number("queues", kMaxQueues)) {
                port.queues = static_cast<unsigned>(*number);
            }
        }
        if (const auto rss = map.word("rss", kRssWords)) {
            port.rss = kRssWords[*rss];
            if (*rss == kSourcePrefix) {
                context_.not_enforced(map.find("rss")->at, "rss: source_prefix");
            }
        }
        return port;
    }

    void read_workers(const YamlNode& node) {
        const MapReader map{node, kWorkerKeys, context_, "workers"};
        box_.lcores = map.text("lcores").value_or(box_.lcores);
        const YamlNode* watchdog = map.find("watchdog");
        if (watchdog == nullptr) {
            return;
        }
        const MapReader dog{*watchdog, kWatchdogKeys, context_, "watchdog"};
        if (const auto text = dog.text("stall")) {
            const Result<Nanoseconds> stall = parse_duration(*text);
            if (!stall || *stall < std::chrono::milliseconds{1}) {
                context_.problems.error(dog.find("stall")->at,
                                        "`stall` is a duration of at least 1ms, such as 1s");
            } else {
                box_.watchdog_stall = std::chrono::duration_cast<std::chrono::milliseconds>(*stall);
            }
        }
        if (dog.word("action", kWatchdogWords).value_or(0) != 0) {
            context_.not_enforced(dog.find("action")->at, "watchdog action restart");
        }
    }

    void read_memory(const YamlNode& node) {
        const MapReader map{node, kMemoryKeys, context_, "memory"};
        box_.hugepages = read_word(map, "hugepages", kHugepageWords, box_.hugepages);
        box_.mbufs = read_amount(map, "mbufs", context_).value_or(box_.mbufs);
        if (const YamlNode* tables = map.find("tables")) {
            const MapReader table{*tables, kTableKeys, context_, "tables"};
            box_.table_keys = read_amount(table, "keys", context_).value_or(box_.table_keys);
            box_.state_dir = table.text("state_dir").value_or(box_.state_dir);
        }
    }

    void read_packets(const YamlNode& node) {
        const MapReader map{node, kPacketKeys, context_, "packets"};
        box_.malformed = read_word(map, "malformed", kMalformedWords, box_.malformed);
        const YamlNode* tunnels = map.find("tunnels");
        if (tunnels == nullptr) {
            return;
        }
        if (!tunnels->is_list()) {
            context_.problems.error(tunnels->at, "`tunnels` is a list of gre, vxlan and ipip");
            return;
        }
        for (const YamlNode& item : tunnels->items) {
            if (item.text == "gre") {
                box_.tunnel_gre = true;
            } else if (item.text == "vxlan") {
                box_.tunnel_vxlan = true;
            } else if (item.text == "ipip") {
                box_.tunnel_ipip = true;
            } else {
                context_.problems.error(item.at, "tunnels are gre, vxlan and ipip; found " +
                                                     kind_name(item) +
                                                     did_you_mean(item.text, kTunnelWords));
            }
        }
    }

    void read_sockets(const YamlNode& node) {
        const MapReader map{node, kSocketsKeys, context_, "sockets"};
        read_socket(map, "control", box_.control);
        read_socket(map, "dataplane", box_.dataplane);
    }

    void read_socket(const MapReader& sockets, std::string_view name, BoxSocket& socket) {
        const YamlNode* node = sockets.find(name);
        if (node == nullptr) {
            return;
        }
        const MapReader map{*node, kSocketKeys, context_, "a socket"};
        socket.path = map.text("path").value_or(socket.path);
        socket.owner = map.text("owner").value_or("");
        socket.group = map.text("group").value_or("");
        const std::optional<std::string> mode = map.text("mode");
        if (!mode) {
            return;
        }
        unsigned bits = 0;
        const auto [end, error] =
            std::from_chars(mode->data(), mode->data() + mode->size(), bits, 8);
        const bool octal = error == std::errc{} && end == mode->data() + mode->size();
        if (map.find("mode")->plain || !octal || bits > 0777) {
            context_.problems.error(map.find("mode")->at,
                                    "`mode` is octal and quoted, such as \"0660\"");
        } else {
            socket.mode = bits;
        }
    }

    void read_log(const YamlNode& node) {
        const MapReader map{node, kLogKeys, context_, "log"};
        box_.log_level = read_word(map, "level", kLevelWords, box_.log_level);
        box_.log_format = read_word(map, "format", kFormatWords, box_.log_format);
    }

    ReadContext context_;
    Box box_;
    std::set<std::string> names_;
};

}  // namespace

std::optional<Box> read_box(const RuleText& source, Purpose purpose, Problems& problems) {
    const std::optional<YamlNode> root = read_yaml(source.text, problems);
    if (!root) {
        return std::nullopt;
    }
    return BoxReader{source, purpose, problems}.run(*root);
}

}  // namespace sluice
