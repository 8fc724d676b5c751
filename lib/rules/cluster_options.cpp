#include "lib/rules/cluster_options.hpp"

#include <algorithm>

namespace sluice {
namespace {

bool is_small_or_digit(char c) noexcept {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

std::optional<ClusterFault> fault_of_servers(std::string_view key, std::string_view what,
                                             const std::vector<ServerAddress>& addresses) {
    const std::string quoted = "`" + std::string{key} + "`";
    if (addresses.empty() || addresses.size() > kMostServerAddresses) {
        return ClusterFault{key, quoted + " needs `addresses`, 1 to " +
                                     std::to_string(kMostServerAddresses) + " of " +
                                     std::string{what} + ", such as [\"192.0.2.1:6379\"]"};
    }
    const bool all_sound = std::ranges::all_of(addresses, [](const ServerAddress& one) {
        return is_server_host(one.host) && one.port != 0;
    });
    return all_sound ? std::nullopt
                     : std::optional{
                           ClusterFault{key, "an address of " + quoted + " is a host and a port"}};
}

std::optional<ClusterFault> fault_of_tls(std::string_view key,
                                         const std::optional<ClusterTls>& tls) {
    if (tls && tls->cert_file.empty() != tls->key_file.empty()) {
        return ClusterFault{
            key, "`tls` of `" + std::string{key} + "` has `cert_file` and `key_file`, or neither"};
    }
    return std::nullopt;
}

std::optional<ClusterFault> fault_of_store(const ClusterStore& store) {
    if (auto fault = fault_of_servers("store", "Redis or its sentinels", store.addresses)) {
        return fault;
    }
    if (!store.sentinel.empty() && store.cluster_mode) {
        return ClusterFault{"store",
                            "`store` has `sentinel` or `cluster_mode`: a Redis Cluster needs no "
                            "sentinels"};
    }
    if (!store.user.empty() && store.password_file.empty()) {
        return ClusterFault{"store", "`user` of `store` needs a `password_file`"};
    }
    return fault_of_tls("store", store.tls);
}

std::optional<ClusterFault> fault_of_etcd(const ClusterEtcd& etcd) {
    if (auto fault = fault_of_servers("etcd", "its members", etcd.addresses)) {
        return fault;
    }
    if (etcd.user.empty() != etcd.password_file.empty()) {
        return ClusterFault{"etcd", "`etcd` has `user` and `password_file`, or neither"};
    }
    return fault_of_tls("etcd", etcd.tls);
}

}  // namespace

bool is_cluster_name(std::string_view text) noexcept {
    return !text.empty() && text.size() <= kMostClusterName && is_small_or_digit(text.front()) &&
           std::ranges::all_of(text, [](char c) {
               return is_small_or_digit(c) || c == '-' || c == '.' || c == '_';
           });
}

bool is_server_host(std::string_view text) noexcept {
    return !text.empty() && text.size() <= kMostServerHost && std::ranges::all_of(text, [](char c) {
        return is_small_or_digit(c) || (c >= 'A' && c <= 'Z') || c == '-' || c == '.' || c == '_' ||
               c == ':';
    });
}

std::optional<ClusterFault> fault_of_cluster(const ClusterOptions& cluster) {
    constexpr std::string_view kNameText =
        "` of `cluster` has 1 to 64 small letters, digits, `-`, `.` and `_`, and begins with a "
        "letter or a digit: ";
    if (!is_cluster_name(cluster.name)) {
        return ClusterFault{
            "name", "`name" + std::string{kNameText} + "the cluster, the same on all boxes"};
    }
    if (!is_cluster_name(cluster.node)) {
        return ClusterFault{"node", "`node" + std::string{kNameText} + "this box and no other"};
    }
    if (cluster.size < kLeastClusterBoxes || cluster.size > kMostClusterBoxes) {
        return ClusterFault{"size",
                            "`cluster` needs a `size` from 2 to 64, the boxes that it may have: "
                            "what they may pass beyond a limit goes by it"};
    }
    if (cluster.secret_file.empty()) {
        return ClusterFault{"secret_file",
                            "`cluster` needs a `secret_file` with 32 hexadecimal digits, the same "
                            "on all boxes: they name keys by it"};
    }
    if (auto fault = cluster.store ? fault_of_store(*cluster.store) : std::nullopt) {
        return fault;
    }
    return cluster.etcd ? fault_of_etcd(*cluster.etcd) : std::nullopt;
}

}  // namespace sluice
