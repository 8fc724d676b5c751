#include "lib/policy/box/box.hpp"

#include "lib/base/whole_number.hpp"
#include "lib/policy/box/box_parts.hpp"
#include "lib/policy/box/tunnel_text.hpp"
#include "lib/policy/file_keys/options_reader.hpp"
#include "lib/policy/problems/nearest.hpp"
#include "lib/policy/yaml/yaml_tree.hpp"
#include "lib/rules/kernel_pairs.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>

namespace sluice {
namespace {

// The value behind these keys, one within the other; nullptr: the file has none.
const YamlNode* value_at(const YamlNode& root, std::initializer_list<std::string_view> path) {
    const YamlNode* node = &root;
    for (const std::string_view key : path) {
        node = node == nullptr ? nullptr : value_of(*node, key);
    }
    return node;
}

// Conditions over several keys, each reported at one that the file has.
class BoxChecker {
public:
    BoxChecker(const YamlNode& root, const BoxConfig& box, Problems& problems)
        : root_{root}, box_{box}, problems_{problems} {}

    void run() {
        check_version();
        check_snapshot();
        check_web();
        if (box_.cluster && !problems_.has_errors()) {
            check_cluster(root_, *box_.cluster, problems_);
        }
        if (box_.kernel) {
            check_kernel(*box_.kernel);
            warn_of_kernel(*box_.kernel);
        }
        if ((box_.dataplane.mode & 0077) != 0) {
            problems_.error(place({"sockets", "dataplane"}),
                            "whoever may open dataplane.sock is as strong as the dataplane: its "
                            "`mode` is \"0600\", its `owner` the user that sluiced runs as");
        }
    }

private:
    [[nodiscard]] Position place(std::initializer_list<std::string_view> path) const {
        const YamlNode* node = value_at(root_, path);
        return node == nullptr ? root_.at : node->at;
    }

    void check_version() {
        const YamlNode* version = value_of(root_, "version");
        if (version == nullptr || !version->is_scalar() || !version->plain ||
            version->text != "1") {
            problems_.error(place({"version"}), "the configuration begins with `version: 1`");
        }
    }

    void check_snapshot() {
        const YamlNode* snapshot = value_at(root_, {"memory", "tables", "snapshot"});
        if (snapshot != nullptr && snapshot->is_map() && box_.snapshot_file.empty()) {
            problems_.error(snapshot->at, "`snapshot` needs a `file`");
        }
    }

    void check_web() {
        for (const SocketOptions* socket : {&box_.control, &box_.read_only, &box_.dataplane}) {
            if (box_.web && !box_.web->path.empty() && box_.web->path == socket->path) {
                problems_.error(place({"web", "listen"}),
                                "`listen` has a path of its own: another socket lies there");
            }
        }
    }

    void check_kernel(const KernelOptions& kernel) {
        if (!kernel.pins.starts_with('/')) {
            problems_.error(place({"kernel", "pins"}), "`pins` is a path from the root");
        }
        if (kernel.heartbeat / kBeatsInHeartbeat < box_.idle_sleep) {
            const bool is_given = value_at(root_, {"kernel", "heartbeat"}) != nullptr;
            problems_.error(is_given ? place({"kernel", "heartbeat"}) : place({"kernel"}),
                            "`heartbeat` is at least four times `idle_sleep` of `workers`: a "
                            "worker that sleeps does not beat");
        }
    }

    // The start of the box warns in the same words.
    void warn_of_kernel(const KernelOptions& kernel) {
        if (kernel.early_drop != 0 && !may_drop_early(box_)) {
            problems_.warning(place({"kernel", "early_drop"}), std::string{kNoEarlyDropText});
        }
        for (const PairConfig& pair : box_.pairs) {
            if (!has_program(box_, pair)) {
                problems_.warning(place({"kernel"}), without_program_text(pair));
            }
        }
    }

    const YamlNode& root_;
    const BoxConfig& box_;
    Problems& problems_;
};

std::optional<BoxConfig> read_root(const YamlNode& root, const ReadContext& context) {
    BoxConfig box;
    read_map(root, "the configuration", kConfigKeys<BoxConfig>, context, box);
    if (!root.is_map()) {
        return std::nullopt;
    }
    if (const YamlNode* api = value_of(root, "api")) {
        box.api = read_api(*api, context);
    }
    if (const YamlNode* web = value_of(root, "web")) {
        box.web = read_web(*web, context);
    }
    if (const YamlNode* notify = value_of(root, "notify")) {
        box.notify = read_webhooks(*notify, context);
    }
    if (const YamlNode* tenants = value_of(root, "tenants")) {
        box.tenants = read_tenants(*tenants, context);
    }
    BoxChecker{root, box, context.problems}.run();
    if (context.problems.has_errors()) {
        return std::nullopt;
    }
    if (const std::optional<std::string> fault = find_fault(box)) {
        context.problems.error({}, *fault);
        return std::nullopt;
    }
    return box;
}

}  // namespace

void read_own(const MapReader& map, std::string_view key, const ReadContext& context,
              Tunnels& into) {
    const YamlNode* tunnels = map.find(key);
    if (tunnels == nullptr) {
        return;
    }
    if (!tunnels->is_list()) {
        context.problems.error(tunnels->at, "`tunnels` is a list of " + tunnel_names());
        return;
    }
    for (const YamlNode& item : tunnels->items) {
        if (!item.is_scalar()) {
            context.problems.error(item.at,
                                   "a tunnel is a name, or a name and a port without a "
                                   "blank, such as vxlan:8472; found " +
                                       kind_name(item));
        } else if (const std::optional<std::string> fault = add_tunnel(item.text, into)) {
            context.problems.error(item.at, *fault);
        }
    }
}

void read_own(const MapReader& map, std::string_view key, const ReadContext& context,
              mode_t& into) {
    const std::optional<std::string> mode = map.text(key);
    if (!mode) {
        return;
    }
    const std::optional<unsigned> bits = whole_number<unsigned>(*mode, 8);
    if (map.find(key)->plain || !bits || *bits > kMostSocketMode) {
        context.problems.error(map.find(key)->at, "`mode` is octal and quoted, such as \"0660\"");
    } else {
        into = *bits;
    }
}

std::optional<BoxConfig> read_box(const RuleText& source, Purpose purpose, Problems& problems) {
    return read_file(source.text, problems, [&](const LineIndex& lines, const YamlNode& root) {
        return read_root(root, {lines, problems, purpose == Purpose::Enforce});
    });
}

}  // namespace sluice
