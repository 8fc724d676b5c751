#pragma once
#include "lib/policy/yaml/map_reader.hpp"
#include "lib/rules/box_config.hpp"

#include <optional>
#include <string_view>
#include <vector>

// Parts of sluice.yaml in a form of their own; read_own() leaves `into` as it is where the key is
// not there, and reports a wrong value.
namespace sluice {

// `ports`: pairs, each with a name and two devices of its own.
void read_own(const MapReader& map, std::string_view key, const ReadContext& context,
              std::vector<PairConfig>& into);
// `tunnels`: a list of words.
void read_own(const MapReader& map, std::string_view key, const ReadContext& context,
              Tunnels& into);
// `mode` of a socket: octal.
void read_own(const MapReader& map, std::string_view key, const ReadContext& context, mode_t& into);
// `allow` and `to` of `management`, which have to be there.
void read_own(const MapReader& map, std::string_view key, const ReadContext& context,
              std::vector<ManagedService>& into);
void read_own(const MapReader& map, std::string_view key, const ReadContext& context,
              std::vector<VersionedAddress>& into);
// `hosts` and `behind_proxy` of `web`.
void read_own(const MapReader& map, std::string_view key, const ReadContext& context,
              std::vector<std::string>& into);
void read_own(const MapReader& map, std::string_view key, const ReadContext& context,
              std::vector<WebProxy>& into);

// `addresses` of the servers of `cluster`.
void read_own(const MapReader& map, std::string_view key, const ReadContext& context,
              std::vector<ServerAddress>& into);

// Reports the first fault that the keys of `cluster` have together.
void check_cluster(const YamlNode& root, const ClusterOptions& cluster, Problems& problems);

// `networks` of a tenant.
void read_own(const MapReader& map, std::string_view key, const ReadContext& context,
              std::vector<IpPrefix>& into);

// `api: {listen: "127.0.0.1:8480", token_file: token}`; nullopt: something of it is wrong, and was
// reported.
[[nodiscard]] std::optional<ApiOptions> read_api(const YamlNode& node, const ReadContext& context);

// `web: {listen: "127.0.0.1:8480"}`; nullopt: something of it is wrong, and was reported.
[[nodiscard]] std::optional<WebOptions> read_web(const YamlNode& node, const ReadContext& context);

// `192.0.2.1:8480` or `[2001:db8::1]:8480`; nullopt: it is neither.
struct ListenText {
    VersionedAddress address{};
    std::uint16_t port = 0;
};
[[nodiscard]] std::optional<ListenText> read_listen(std::string_view text);

// `notify: {NAME: {url: "https://…", secret_file: FILE}}`; what is wrong of it was reported.
[[nodiscard]] std::vector<Webhook> read_webhooks(const YamlNode& node, const ReadContext& context);

// `tenants: [{name: NAME, networks: [NETWORK], table_share: 5%}]`; likewise.
[[nodiscard]] std::vector<TenantOptions> read_tenants(const YamlNode& node,
                                                      const ReadContext& context);

}  // namespace sluice
