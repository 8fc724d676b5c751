#pragma once
#include "control/store/redis_connection.hpp"
#include "lib/base/result.hpp"
#include "lib/rules/cluster_options.hpp"

#include <optional>
#include <string>
#include <vector>

namespace sluice {

// How the store is reached, with what files say already read.
struct StoreAccess {
    std::vector<ServerAddress> addresses;
    std::string sentinel;  // the primary's name at sentinels, which the addresses are; or empty
    bool cluster_mode = false;  // the addresses are nodes of a Redis Cluster
    std::string user;
    std::string password;
    std::optional<TlsTowards> tls;
};

// Reads what files say: the password, certificates. An Error names the file.
[[nodiscard]] Result<StoreAccess> open_access(const ClusterStore& store);

// The first line of a file; empty without one.
[[nodiscard]] Result<std::string> read_password(const std::string& file);

// The digest of the cluster's secret in that file, as the store has it.
[[nodiscard]] Result<std::string> read_secret_digest(const std::string& file);

// AUTH as a command; empty without a password.
[[nodiscard]] std::string greeting_of(const StoreAccess& access);

[[nodiscard]] std::string words_of(const ServerAddress& address);

}  // namespace sluice
