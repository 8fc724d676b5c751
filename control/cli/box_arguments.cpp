#include "control/cli/box_arguments.hpp"

#include <fmt/format.h>

namespace sluice {
namespace {

using Arguments = std::vector<std::string>;

void add(Arguments& into, std::string_view option, std::string value) {
    into.emplace_back(option);
    into.push_back(std::move(value));
}

void add_given(Arguments& into, std::string_view option, const std::string& value) {
    if (!value.empty()) {
        add(into, option, value);
    }
}

void add_port(Arguments& into, const std::string& side, const BoxPort& port) {
    if (port.queues) {
        add(into, "--queues-" + side, std::to_string(*port.queues));
    }
    add_given(into, "--rss-" + side, port.rss);
}

void add_pair(Arguments& into, const BoxPair& pair) {
    add(into, "--pair", pair.name);
    add(into, "--outside", pair.outside.device);
    add(into, "--inside", pair.inside.device);
    if (pair.mtu) {
        add(into, "--mtu", std::to_string(*pair.mtu));
    }
    add_port(into, "outside", pair.outside);
    add_port(into, "inside", pair.inside);
    if (!pair.link_follow) {
        into.emplace_back("--no-link-follow");
    }
    if (!pair.hand_over) {
        into.emplace_back("--no-hand-over");
    }
}

std::string tunnel_list(const Box& box) {
    std::string list;
    const auto append = [&list](bool wanted, std::string_view name) {
        if (wanted) {
            list += list.empty() ? "" : ",";
            list += name;
        }
    };
    append(box.tunnel_gre, "gre");
    append(box.tunnel_vxlan, "vxlan");
    append(box.tunnel_ipip, "ipip");
    return list;
}

void add_memory(Arguments& into, const Box& box) {
    add(into, "--hugepages", box.hugepages);
    if (box.mbufs != 0) {
        add(into, "--mbufs", std::to_string(box.mbufs));
    }
    add(into, "--table-keys", std::to_string(box.table_keys));
}

void add_socket(Arguments& into, const BoxSocket& socket) {
    add(into, "--socket", socket.path);
    add(into, "--socket-mode", fmt::format("{:04o}", socket.mode));
    add_given(into, "--socket-owner", socket.owner);
    add_given(into, "--socket-group", socket.group);
}

}  // namespace

Result<std::vector<std::string>> box_arguments(const Box& box) {
    Arguments list;
    for (const BoxPair& pair : box.pairs) {
        add_pair(list, pair);
    }
    if (box.lcores != "auto") {
        add_given(list, "--lcores", box.lcores);
    }
    add_memory(list, box);
    add(list, "--malformed", box.malformed);
    add_given(list, "--tunnels", tunnel_list(box));
    add_socket(list, box.dataplane);
    add_given(list, "--state-dir", box.state_dir);
    if (!box.snapshot_file.empty()) {
        add(list, "--snapshot-file", box.snapshot_file);
        add(list, "--snapshot-every", std::to_string(box.snapshot_every.count()));
    }
    add(list, "--watchdog-stall", std::to_string(box.watchdog_stall.count()));
    if (box.merge_interval != Box{}.merge_interval) {
        add(list, "--merge-interval", std::to_string(box.merge_interval.count()));
    }
    add(list, "--log-level", box.log_level);
    for (const std::string& argument : list) {
        if (argument.find_first_of(std::string_view{"\n\r\0", 3}) != std::string::npos) {
            return Error{Errc::BadSyntax, "a value holds a line break; take it out of the file"};
        }
    }
    return list;
}

}  // namespace sluice
