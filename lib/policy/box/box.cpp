#include "lib/policy/box/box.hpp"

#include "lib/policy/box/port_pair_reader.hpp"
#include "lib/policy/problems/nearest.hpp"
#include "lib/policy/values/units_text.hpp"
#include "lib/policy/yaml/map_reader.hpp"
#include "lib/policy/yaml/yaml_tree.hpp"

#include <array>
#include <charconv>

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
    {"merge"},
    {"management", false},
    {"kernel", false},
    {"on_no_rules", false},
    {"api", false},
    {"cluster", false},
});
constexpr auto kMergeKeys = std::to_array<KeyRow>({{"interval"}});
constexpr auto kWorkerKeys = std::to_array<KeyRow>({{"lcores"}, {"watchdog"}});
constexpr auto kWatchdogKeys = std::to_array<KeyRow>({{"stall"}, {"action"}});
constexpr auto kMemoryKeys = std::to_array<KeyRow>({{"hugepages"}, {"mbufs"}, {"tables"}});
constexpr auto kTableKeys = std::to_array<KeyRow>({{"keys"}, {"state_dir"}, {"snapshot"}});
constexpr auto kSnapshotKeys = std::to_array<KeyRow>({{"file"}, {"every"}});
constexpr auto kPacketKeys = std::to_array<KeyRow>({{"malformed"},
                                                    {"tunnels"},
                                                    {"fragments", false},
                                                    {"connections", false},
                                                    {"http", false},
                                                    {"quic_initials", false}});
constexpr auto kSocketsKeys = std::to_array<KeyRow>({{"control"}, {"dataplane"}});
constexpr auto kSocketKeys = std::to_array<KeyRow>({{"path"}, {"mode"}, {"owner"}, {"group"}});
constexpr auto kLogKeys = std::to_array<KeyRow>({{"level"}, {"format"}});

constexpr auto kHugepageWords = std::to_array<std::string_view>({"auto", "required", "none"});
constexpr auto kMalformedWords = std::to_array<std::string_view>({"drop", "pass"});
constexpr auto kWatchdogWords = std::to_array<std::string_view>({"report", "restart"});
constexpr auto kLevelWords = std::to_array<std::string_view>({"debug", "info", "warn", "error"});
constexpr auto kFormatWords = std::to_array<std::string_view>({"text", "json", "journal"});
constexpr auto kTunnelWords = std::to_array<std::string_view>({"gre", "vxlan", "ipip"});

// A count as sluice.yaml writes sizes of tables and pools: `4096`, `256k`, `4M`, 1000-based.
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
    BoxReader(const LineIndex& lines, Purpose purpose, Problems& problems)
        : context_{lines, problems, purpose == Purpose::Enforce} {}

    std::optional<Box> run(const YamlNode& root) {
        const MapReader top{root, kTopKeys, context_, "the configuration"};
        if (!top.is_map()) {
            return std::nullopt;
        }
        const YamlNode* version = top.find("version");
        if (version == nullptr || !version->is_scalar() || !version->plain ||
            version->text != "1") {
            context_.problems.error(version == nullptr ? root.at : version->at,
                                    "the configuration begins with `version: 1`");
        }
        if (const YamlNode* ports = top.find("ports")) {
            box_.pairs = read_port_pairs(*ports, context_);
        }
        section(top, "workers", &BoxReader::read_workers);
        section(top, "merge", &BoxReader::read_merge);
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

    void read_workers(const YamlNode& node) {
        const MapReader map{node, kWorkerKeys, context_, "workers"};
        box_.lcores = map.text("lcores").value_or(box_.lcores);
        const YamlNode* watchdog = map.find("watchdog");
        if (watchdog == nullptr) {
            return;
        }
        const MapReader dog{*watchdog, kWatchdogKeys, context_, "watchdog"};
        if (const YamlNode* text = dog.find("stall")) {
            const Result<Nanoseconds> stall = parse_duration(text->text);
            if (!text->plain || !stall || *stall < std::chrono::milliseconds{1}) {
                context_.problems.error(text->at,
                                        "`stall` is a duration of at least 1ms, such as 1s");
            } else {
                box_.watchdog_stall = std::chrono::duration_cast<std::chrono::milliseconds>(*stall);
            }
        }
        if (dog.word("action", kWatchdogWords).value_or(0) != 0) {
            context_.not_enforced(dog.find("action")->at, "watchdog action restart");
        }
    }

    void read_merge(const YamlNode& node) {
        const MapReader map{node, kMergeKeys, context_, "merge"};
        const YamlNode* text = map.find("interval");
        if (text == nullptr) {
            return;
        }
        const Result<Nanoseconds> interval = parse_duration(text->is_scalar() ? text->text : "");
        if (!text->plain || !interval || *interval < std::chrono::microseconds{10} ||
            *interval > std::chrono::seconds{1}) {
            context_.problems.error(text->at,
                                    "`interval` is a duration from 10us to 1s, such as 1ms");
        } else {
            box_.merge_interval = std::chrono::duration_cast<std::chrono::microseconds>(*interval);
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
            if (const YamlNode* snapshot = table.find("snapshot")) {
                read_snapshot(*snapshot);
            }
        }
    }

    void read_snapshot(const YamlNode& node) {
        const MapReader map{node, kSnapshotKeys, context_, "`snapshot`"};
        if (!map.is_map()) {
            return;
        }
        box_.snapshot_file = map.text("file").value_or("");
        if (box_.snapshot_file.empty()) {
            context_.problems.error(node.at, "`snapshot` needs a `file`");
        }
        if (const YamlNode* text = map.find("every")) {
            const Result<Nanoseconds> every = parse_duration(text->text);
            if (!text->plain || !every || *every < std::chrono::milliseconds{100} ||
                *every > std::chrono::hours{1}) {
                context_.problems.error(text->at,
                                        "`every` is a duration from 100ms to 1h, such as 10s");
            } else {
                box_.snapshot_every = std::chrono::duration_cast<std::chrono::milliseconds>(*every);
            }
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
};

}  // namespace

std::optional<Box> read_box(const RuleText& source, Purpose purpose, Problems& problems) {
    return read_file(source.text, problems, [&](const LineIndex& lines, const YamlNode& root) {
        return BoxReader{lines, purpose, problems}.run(root);
    });
}

}  // namespace sluice
