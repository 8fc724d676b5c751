#pragma once
#include "lib/rules/box_config.hpp"

#include <optional>
#include <string>
#include <vector>

namespace sluice {

// Settings of sluiced: sluice.yaml, with the command line over it.
struct Settings {
    SocketOptions control{"/run/sluice/sluiced.sock", 0660, "", ""};
    // For those who watch: it changes nothing. Without a path it lies beside `control`, and belongs
    // to the same.
    SocketOptions read_only{"", 0660, "", ""};
    std::optional<ApiOptions> api;  // by TCP
    std::optional<WebOptions> web;  // the dashboard; its files as they are opened
    std::vector<TenantOptions> tenants;
    // The cluster that limits and rule sets are shared with; its files as they are opened.
    std::optional<ClusterOptions> cluster;
    std::vector<Webhook> notify;  // where notices go; their files as they are opened
    std::string dataplane_socket = "/run/sluice/dataplane.sock";
    std::string state_dir = "/var/lib/sluice";
    std::string user;          // to run as; empty: as it is started
    std::string database_key;  // the file of that key; empty: in the state directory
    std::string rules;         // applied at the start when no set was ever applied
    std::string log_level = "info";
    std::string log_format = "text";
};

[[nodiscard]] SocketOptions read_socket_of(const Settings& settings);

// nullopt: the process ends with `exit_code` (help, version, wrong usage, refused configuration);
// its messages are on standard error.
[[nodiscard]] std::optional<Settings> read_settings(int argc, char** argv, int& exit_code);

}  // namespace sluice
