#pragma once
#include "lib/base/config_key.hpp"
#include "lib/base/units.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace sluice {

// When the store counts an amount as kept: in its memory, or once a replica says that it has it.
enum class Durability : std::uint8_t { Memory, Replica };
inline constexpr auto kDurabilityNames = std::to_array<std::string_view>({"memory", "replica"});

// A place where a server listens: a name or an address (IPv6 without brackets), and a port.
struct ServerAddress {
    std::string host;
    std::uint16_t port = 0;

    [[nodiscard]] bool operator==(const ServerAddress&) const = default;
};

// TLS towards a server; files are relative to sluice.yaml.
struct ClusterTls {
    std::string ca_file;      // empty: the certificates that the system trusts
    std::string cert_file;    // of the box; empty: it shows none
    std::string key_file;     // of that certificate
    std::string server_name;  // in the server's certificate; empty: the host of its address

    [[nodiscard]] bool operator==(const ClusterTls&) const = default;
};

// The Redis or Valkey that keeps what boxes have spent together.
struct ClusterStore {
    std::vector<ServerAddress> addresses;  // of primaries, sentinels or nodes; the first that works
    std::string sentinel;                  // the primary's name at sentinels; empty: no sentinels
    bool cluster_mode = false;             // the addresses are nodes of a Redis Cluster
    std::uint64_t budget = 0;              // keys a second that this box tells it; 0: budget_of()
    std::string user;                      // of its ACL; empty: the default user
    std::string password_file;             // relative to sluice.yaml; empty: without a password
    std::optional<ClusterTls> tls;         // nullopt: without TLS

    [[nodiscard]] bool operator==(const ClusterStore&) const = default;
};

// The etcd that keeps rule sets and members.
struct ClusterEtcd {
    std::vector<ServerAddress> addresses;
    std::string user;
    std::string password_file;  // relative to sluice.yaml
    std::optional<ClusterTls> tls;

    [[nodiscard]] bool operator==(const ClusterEtcd&) const = default;
};

// A box as one of several that share limits.
struct ClusterOptions {
    std::string name;         // of the cluster, the same on all boxes
    std::string node;         // of this box, of no other
    std::uint16_t size = 0;   // M: the boxes that the cluster may have, whether they live or not
    std::string secret_file;  // relative to sluice.yaml: the secret by which all name keys
    Nanoseconds sync = std::chrono::milliseconds{100};  // age of an amount that a verdict may need
    Durability durability = Durability::Memory;
    std::optional<ClusterStore> store;
    std::optional<ClusterEtcd> etcd;

    [[nodiscard]] bool operator==(const ClusterOptions&) const = default;
};

// Keys a second that a box tells the store at most: as said, else an equal part of what one core of
// Redis takes, so that a flood at one box leaves the others theirs.
[[nodiscard]] constexpr std::uint64_t budget_of(const ClusterStore& store,
                                                std::uint16_t size) noexcept {
    constexpr std::uint64_t kKeysOfACore = 100'000;
    return store.budget != 0 ? store.budget : kKeysOfACore / (size == 0 ? 1 : size);
}

inline constexpr std::uint16_t kLeastClusterBoxes = 2;
inline constexpr std::uint16_t kMostClusterBoxes = 64;
inline constexpr std::size_t kMostClusterName = 64;
inline constexpr std::size_t kMostServerAddresses = 16;
inline constexpr std::size_t kMostServerHost = 253;
// Bytes that a cluster's secret has.
inline constexpr std::size_t kClusterSecretSize = 16;

template <>
inline constexpr auto kConfigKeys<ClusterTls> = std::tuple{
    ConfigKey{"ca_file", &ClusterTls::ca_file, form::Text{}},
    ConfigKey{"cert_file", &ClusterTls::cert_file, form::Text{}},
    ConfigKey{"key_file", &ClusterTls::key_file, form::Text{}},
    ConfigKey{"server_name", &ClusterTls::server_name, form::Text{}},
};
template <>
inline constexpr auto kConfigKeys<ClusterStore> = std::tuple{
    ConfigKey{"addresses", &ClusterStore::addresses, form::Own{}},
    ConfigKey{"sentinel", &ClusterStore::sentinel, form::Text{}},
    ConfigKey{"cluster_mode", &ClusterStore::cluster_mode, form::Flag{}},
    ConfigKey{"budget", &ClusterStore::budget, form::Rate{{1, 10'000'000}}},
    ConfigKey{"user", &ClusterStore::user, form::Text{}},
    ConfigKey{"password_file", &ClusterStore::password_file, form::Text{}},
    ConfigKey{"tls", &ClusterStore::tls, form::Map{}},
};
template <>
inline constexpr auto kConfigKeys<ClusterEtcd> = std::tuple{
    ConfigKey{"addresses", &ClusterEtcd::addresses, form::Own{}},
    ConfigKey{"user", &ClusterEtcd::user, form::Text{}},
    ConfigKey{"password_file", &ClusterEtcd::password_file, form::Text{}},
    ConfigKey{"tls", &ClusterEtcd::tls, form::Map{}},
};
template <>
inline constexpr auto kConfigKeys<ClusterOptions> = std::tuple{
    ConfigKey{"name", &ClusterOptions::name, form::Text{}},
    ConfigKey{"node", &ClusterOptions::node, form::Text{}},
    ConfigKey{"size", &ClusterOptions::size,
              form::Plain{{kLeastClusterBoxes, kMostClusterBoxes},
                          "from 2 to 64: the boxes that the cluster may have"}},
    ConfigKey{"secret_file", &ClusterOptions::secret_file, form::Text{}},
    ConfigKey{"sync", &ClusterOptions::sync,
              form::Time{{std::chrono::milliseconds{1}, std::chrono::seconds{10}},
                         "from 1ms to 10s, such as 100ms"}},
    ConfigKey{"durability", &ClusterOptions::durability, form::Word{kDurabilityNames}},
    ConfigKey{"store", &ClusterOptions::store, form::Map{}},
    ConfigKey{"etcd", &ClusterOptions::etcd, form::Map{}},
};

// A name of a cluster or of one of its boxes: 1 to 64 small letters, digits, `-`, `.` and `_`, of
// which the first is a letter or a digit.
[[nodiscard]] bool is_cluster_name(std::string_view text) noexcept;
[[nodiscard]] bool is_server_host(std::string_view text) noexcept;

// The first fault of options by which no box can be of a cluster, at the key that has it.
struct ClusterFault {
    std::string_view key;
    std::string text;
};
[[nodiscard]] std::optional<ClusterFault> fault_of_cluster(const ClusterOptions& cluster);

}  // namespace sluice
