#pragma once
#include "control/fleet/etcd_client.hpp"
#include "control/fleet/etcd_transport.hpp"
#include "lib/base/result.hpp"
#include "lib/rules/cluster_options.hpp"

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

namespace sluice {

// An etcd as sluice.yaml names it, with what its files held when they were opened: a process that
// has given its rights up since, or a file that others change, is not asked again.
struct EtcdAccess {
    std::vector<ServerAddress> servers;
    EtcdLogin login;
    bool has_tls = false;
    std::string server_name;  // empty: the host of each address
    std::string ca;           // PEM; empty: what the system trusts
    std::string cert;
    std::string key;
};

// `folder`: the one that relative paths begin in.
[[nodiscard]] Result<EtcdAccess> open_etcd(const ClusterEtcd& options, const std::string& folder);

// Over libcurl, each call within its time and its bytes. The stop ends the call that is under way,
// and all that come after it.
[[nodiscard]] std::unique_ptr<EtcdTransport> curl_transport(const EtcdAccess& access,
                                                            std::stop_token stop = {});
[[nodiscard]] EtcdClient connect_etcd(const EtcdAccess& access, std::stop_token stop = {});

// Calls `changed` whenever anything comes over a stream that watches these keys, until it ends: a
// hint to read them, no more. Returns at the stop, when the stream has ended, and after
// 30 s without a byte.
void watch_etcd(const EtcdAccess& access, const std::vector<EtcdGet>& watched,
                const std::stop_token& stop, const std::function<void()>& changed);

}  // namespace sluice
