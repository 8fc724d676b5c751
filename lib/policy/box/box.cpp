#include "lib/policy/box/box.hpp"

#include "lib/base/whole_number.hpp"
#include "lib/policy/box/box_parts.hpp"
#include "lib/policy/box/box_values.hpp"
#include "lib/policy/file_keys/box_keys.hpp"
#include "lib/policy/problems/nearest.hpp"
#include "lib/policy/yaml/map_reader.hpp"
#include "lib/policy/yaml/yaml_tree.hpp"

#include <array>

namespace sluice {
namespace {

// `kernel` of sluice.yaml; `idle_sleep` is that of `workers`, which beat between two sleeps.
KernelOptions read_kernel_options(const YamlNode& node, const ReadContext& context,
                                  Nanoseconds idle_sleep) {
    const MapReader map{node, box_keys::kKernel, context, "`kernel`"};
    KernelOptions kernel;
    read_word(map, "fail", kKernelFailNames, kernel.fail);
    read_word(map, "mode", kKernelModeNames, kernel.mode);
    read_time(map, "heartbeat", {kHeartbeatRange, "from 5ms to 1m, such as 100ms"}, context,
              kernel.heartbeat);
    read_text(map, "pins", kernel.pins);
    read_amount(map, "early_drop", kEarlyDropRange, context, kernel.early_drop);
    if (!kernel.pins.starts_with('/')) {
        context.problems.error(map.find("pins")->at, "`pins` is a path from the root");
    }
    if (kernel.heartbeat / kBeatsInHeartbeat < idle_sleep) {
        const YamlNode* heartbeat = map.find("heartbeat");
        context.problems.error(heartbeat == nullptr ? node.at : heartbeat->at,
                               "`heartbeat` is at least four times `idle_sleep` of `workers`: a "
                               "worker that sleeps does not beat");
    }
    return kernel;
}

constexpr auto kWatchdogWords = std::to_array<std::string_view>({"report"});
constexpr auto kTunnelWords = std::to_array<std::string_view>({"gre", "vxlan", "ipip"});

class BoxReader {
public:
    BoxReader(const LineIndex& lines, Purpose purpose, Problems& problems)
        : context_{lines, problems, purpose == Purpose::Enforce} {}

    std::optional<BoxConfig> run(const YamlNode& root) {
        const MapReader top{root, box_keys::kTop, context_, "the configuration"};
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
        section(top, "kernel", &BoxReader::read_kernel);
        if (const YamlNode* management = top.find("management")) {
            box_.management = read_management(*management, context_);
        }
        if (const YamlNode* api = top.find("api")) {
            box_.api = read_api(*api, context_);
        }
        read_text(top, "rules", box_.rules);
        read_word(top, "on_no_rules", kOnNoRulesNames, box_.on_no_rules);
        read_text(top, "user", box_.user);
        read_text(top, "database_key", box_.database_key);
        if (context_.problems.has_errors()) {
            return std::nullopt;
        }
        if (const std::optional<std::string> fault = find_fault(box_)) {
            context_.problems.error({}, *fault);
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
        const MapReader map{node, box_keys::kWorkers, context_, "workers"};
        read_text(map, "lcores", box_.lcores);
        box_.lcores = box_.lcores == "auto" ? "" : box_.lcores;
        read_time(map, "idle_sleep", {kIdleSleepRange, "of at most 100ms, such as 100us"}, context_,
                  box_.idle_sleep);
        const YamlNode* watchdog = map.find("watchdog");
        if (watchdog == nullptr) {
            return;
        }
        const MapReader dog{*watchdog, box_keys::kWatchdog, context_, "watchdog"};
        read_time(dog, "stall", {kStallRange, "of at least 1ms and at most 1h, such as 1s"},
                  context_, box_.watchdog_stall);
        (void)dog.word("action", kWatchdogWords);
    }

    void read_merge(const YamlNode& node) {
        const MapReader map{node, box_keys::kMerge, context_, "merge"};
        read_time(map, "interval", {kMergeRange, "from 10us to 1s, such as 1ms"}, context_,
                  box_.merge_interval);
    }

    void read_memory(const YamlNode& node) {
        const MapReader map{node, box_keys::kMemory, context_, "memory"};
        read_word(map, "hugepages", kHugePagesNames, box_.huge_pages);
        read_amount(map, "mbufs", kMbufsRange, context_, box_.mbufs);
        read_held(map);
        if (const YamlNode* tables = map.find("tables")) {
            const MapReader table{*tables, box_keys::kTables, context_, "tables"};
            read_amount(table, "keys", kTableKeysRange, context_, box_.table_keys);
            read_text(table, "state_dir", box_.state_dir);
            if (const YamlNode* snapshot = table.find("snapshot")) {
                read_snapshot(*snapshot);
            }
        }
    }

    void read_held(const MapReader& map) {
        box_.held_percent = map.percent("held").value_or(box_.held_percent);
        if (!kHeldPercentRange.holds(box_.held_percent)) {
            context_.problems.error(map.find("held")->at,
                                    "`held` is at most 90%: ports receive into the rest");
        }
    }

    void read_snapshot(const YamlNode& node) {
        const MapReader map{node, box_keys::kSnapshot, context_, "`snapshot`"};
        if (!map.is_map()) {
            return;
        }
        read_text(map, "file", box_.snapshot_file);
        if (box_.snapshot_file.empty()) {
            context_.problems.error(node.at, "`snapshot` needs a `file`");
        }
        read_time(map, "every", {kSnapshotRange, "from 100ms to 1h, such as 10s"}, context_,
                  box_.snapshot_every);
    }

    void read_packets(const YamlNode& node) {
        const MapReader map{node, box_keys::kPackets, context_, "packets"};
        read_word(map, "malformed", kMalformedNames, box_.malformed);
        read_unit_options(map, context_, box_.units);
        if (const YamlNode* tunnels = map.find("tunnels")) {
            read_tunnels(*tunnels);
        }
    }

    void read_tunnels(const YamlNode& tunnels) {
        if (!tunnels.is_list()) {
            context_.problems.error(tunnels.at, "`tunnels` is a list of gre, vxlan and ipip");
            return;
        }
        for (const YamlNode& item : tunnels.items) {
            if (item.text == "gre") {
                box_.tunnels.gre = true;
            } else if (item.text == "vxlan") {
                box_.tunnels.vxlan = true;
            } else if (item.text == "ipip") {
                box_.tunnels.ipip = true;
            } else {
                context_.problems.error(item.at, "tunnels are gre, vxlan and ipip; found " +
                                                     kind_name(item) +
                                                     did_you_mean(item.text, kTunnelWords));
            }
        }
    }

    void read_sockets(const YamlNode& node) {
        const MapReader map{node, box_keys::kSockets, context_, "sockets"};
        read_socket(map, "control", box_.control);
        read_socket(map, "read_only", box_.read_only);
        read_socket(map, "dataplane", box_.dataplane);
        if ((box_.dataplane.mode & 0077) != 0) {
            context_.problems.error(map.find("dataplane")->at,
                                    "whoever may open dataplane.sock is as strong as the "
                                    "dataplane: its `mode` is \"0600\", its `owner` the user that "
                                    "sluiced runs as");
        }
    }

    void read_socket(const MapReader& sockets, std::string_view name, SocketOptions& socket) {
        const YamlNode* node = sockets.find(name);
        if (node == nullptr) {
            return;
        }
        const MapReader map{*node, box_keys::kSocket, context_, "a socket"};
        read_text(map, "path", socket.path);
        read_text(map, "owner", socket.owner);
        read_text(map, "group", socket.group);
        const std::optional<std::string> mode = map.text("mode");
        if (!mode) {
            return;
        }
        const std::optional<unsigned> bits = whole_number<unsigned>(*mode, 8);
        if (map.find("mode")->plain || !bits || *bits > kMostSocketMode) {
            context_.problems.error(map.find("mode")->at,
                                    "`mode` is octal and quoted, such as \"0660\"");
        } else {
            socket.mode = *bits;
        }
    }

    void read_log(const YamlNode& node) {
        const MapReader map{node, box_keys::kLog, context_, "log"};
        read_word(map, "level", kLogLevelNames, box_.log_level);
        read_word(map, "format", kLogFormatNames, box_.log_format);
    }

    void read_kernel(const YamlNode& node) {
        box_.kernel = read_kernel_options(node, context_, box_.idle_sleep);
    }

    ReadContext context_;
    BoxConfig box_;
};

}  // namespace

std::optional<BoxConfig> read_box(const RuleText& source, Purpose purpose, Problems& problems) {
    return read_file(source.text, problems, [&](const LineIndex& lines, const YamlNode& root) {
        return BoxReader{lines, purpose, problems}.run(root);
    });
}

}  // namespace sluice
