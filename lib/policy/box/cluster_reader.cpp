#include "lib/base/whole_number.hpp"
#include "lib/policy/box/box_parts.hpp"
#include "lib/policy/file_keys/options_reader.hpp"

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice {
namespace {

// `192.0.2.1:6379`, `[2001:db8::1]:6379` or `redis.example.net:6379`.
std::optional<ServerAddress> server_address(std::string_view text) {
    for (const std::string_view scheme : {"http://", "redis://"}) {
        text.remove_prefix(text.starts_with(scheme) ? scheme.size() : 0);
    }
    const std::size_t colon = text.rfind(':');
    if (colon == std::string_view::npos) {
        return std::nullopt;
    }
    std::string_view host = text.substr(0, colon);
    const bool in_brackets = host.size() > 2 && host.front() == '[' && host.back() == ']';
    host = in_brackets ? host.substr(1, host.size() - 2) : host;
    const bool is_v6 = host.find(':') != std::string_view::npos;
    const std::uint16_t port = whole_number<std::uint16_t>(text.substr(colon + 1)).value_or(0);
    if (!is_server_host(host) || is_v6 != in_brackets || port == 0 ||
        (is_v6 && !parse_address(host))) {
        return std::nullopt;
    }
    return ServerAddress{std::string{host}, port};
}

bool asks_for_tls(std::string_view text) {
    return text.starts_with("https://") || text.starts_with("rediss://");
}

void resolve(const std::string& folder, std::initializer_list<std::string*> files) {
    for (std::string* const file : files) {
        if (!file->empty() && file->front() != '/') {
            file->insert(0, folder);
        }
    }
}
void resolve_tls(const std::string& folder, std::optional<ClusterTls>& tls) {
    if (tls) {
        resolve(folder, {&tls->ca_file, &tls->cert_file, &tls->key_file});
    }
}

}  // namespace

void read_own(const MapReader& map, std::string_view key, const ReadContext& context,
              std::vector<ServerAddress>& into) {
    const YamlNode* list = map.find(key);
    if (list == nullptr) {
        return;
    }
    if (!list->is_list() || list->items.empty() || list->items.size() > kMostServerAddresses) {
        context.problems.error(list->at, "`addresses` is a list of 1 to " +
                                             std::to_string(kMostServerAddresses) +
                                             " hosts with their ports, such as "
                                             "[\"192.0.2.1:6379\"]");
        return;
    }
    for (const YamlNode& item : list->items) {
        std::optional<ServerAddress> address =
            item.is_scalar() ? server_address(item.text) : std::nullopt;
        if (address) {
            into.push_back(*std::move(address));
        } else if (item.is_scalar() && asks_for_tls(item.text)) {
            context.problems.error(item.at,
                                   "an address has no scheme: write host:port, and `tls: {}` "
                                   "beside `addresses`");
        } else {
            context.problems.error(item.at,
                                   "an address is a host and a port, such as \"192.0.2.1:6379\", "
                                   "\"[2001:db8::1]:6379\" or \"redis.example.net:6379\"; found " +
                                       kind_name(item));
        }
    }
}

void check_cluster(const YamlNode& root, const ClusterOptions& cluster, Problems& problems) {
    const YamlNode* const map = value_of(root, "cluster");
    const std::optional<ClusterFault> fault = fault_of_cluster(cluster);
    if (map == nullptr || !fault) {
        return;
    }
    const YamlNode* const value = value_of(*map, fault->key);
    problems.error(value == nullptr ? map->at : value->at, fault->text);
}

void resolve_files(const std::string& config, ClusterOptions& cluster) {
    const std::size_t slash = config.rfind('/');
    const std::string folder = slash == std::string::npos ? "" : config.substr(0, slash + 1);
    resolve(folder, {&cluster.secret_file});
    if (cluster.store) {
        resolve(folder, {&cluster.store->password_file});
        resolve_tls(folder, cluster.store->tls);
    }
    if (cluster.etcd) {
        resolve(folder, {&cluster.etcd->password_file});
        resolve_tls(folder, cluster.etcd->tls);
    }
}

}  // namespace sluice
