#pragma once
#include "lib/rules/cluster_options.hpp"

#include <optional>
#include <string>

namespace sluice {

// Settings of sluice-store: sluice.yaml, with the command line over it.
struct StoreSettings {
    std::optional<ClusterStore>
        store;  // its files by paths that hold anywhere; nullopt: there is none
    std::string socket = "/run/sluice/store.sock";
    std::string user;  // to run as; empty: as it is started
    std::string log_level = "info";
    std::string log_format = "text";
};

// nullopt: the process ends with `exit_code`; its messages are on standard error.
[[nodiscard]] std::optional<StoreSettings> read_store_settings(int argc, char** argv,
                                                               int& exit_code);

// store.sock beside that socket.
[[nodiscard]] std::string store_socket_beside(const std::string& dataplane_socket);

}  // namespace sluice
