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

// A place where a server listens: a name or an address, and a port.
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
};

// The Redis or Valkey that keeps what boxes have spent together.
struct ClusterStore {
    std::vector<ServerAddress> addresses;  // of primaries, sentinels or nodes; the first that works
    std::string sentinel;                  // the primary's name at sentinels; empty: no sentinels
    bool cluster_mode = false;             // the addresses are nodes of a Redis Cluster
    std::uint64_t budget = 200'000;        // keys a second that this box tells it, at most
    std::string user;                      // of its ACL; empty: the default user
    std::string password_file;             // relative to sluice.yaml; empty: without a password
    std::optional<ClusterTls> tls;         // nullopt: without TLS
};

// The etcd that keeps rule sets and members.
struct ClusterEtcd {
    std::vector<ServerAddress> addresses;
    std::string user;
    std::string password_file;  // relative to sluice.yaml
    std::optional<ClusterTls> tls;
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
};

inline constexpr std::uint16_t kMostClusterBoxes = 64;
inline constexpr std::size_t kMostClusterName = 64;
inline constexpr std::size_t kMostServerAddresses = 16;
// Bytes that a cluster's secret has.
inline constexpr std::size_t kClusterSecretSize = 16;

}  // namespace sluice
