#include "lib/policy/box/box_parts.hpp"
#include "lib/policy/file_keys/options_reader.hpp"
#include "lib/policy/values/network_text.hpp"
#include "lib/policy/values/range_set.hpp"
#include "lib/rules/tenant_name.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {
namespace {

// One network of a tenant, for those that must not lie within one another.
struct OwnedNetwork {
    const TenantOptions* owner = nullptr;
    IpPrefix network;
    Position at;
};

// nullopt: what is wrong was reported.
std::optional<TenantOptions> read_tenant(const YamlNode& item, const ReadContext& context) {
    TenantOptions tenant;
    read_part(item, "tenants", context, tenant);
    if (!item.is_map()) {
        return std::nullopt;
    }
    const YamlNode* name = value_of(item, "name");
    if (!is_tenant_name(tenant.name)) {
        context.problems.error(name == nullptr ? item.at : name->at,
                               "a tenant has a `name`: a small letter, then at most 31 small "
                               "letters, digits and `-`");
        return std::nullopt;
    }
    const YamlNode* share = value_of(item, "table_share");
    if (share == nullptr) {
        context.problems.error(item.at,
                               "a tenant has a `table_share`, the most of the table that all its "
                               "rules together may hold, such as 5%");
    }
    if (value_of(item, "networks") == nullptr) {
        context.problems.error(item.at,
                               "a tenant has `networks`, a list such as [198.51.100.0/24]: its "
                               "rules judge what arrives for them");
    }
    return tenant;
}

bool overlap(const IpPrefix& one, const IpPrefix& other) {
    const std::uint8_t length = std::min(one.length, other.length);
    return one.version == other.version &&
           masked(one.address, length) == masked(other.address, length);
}

std::string text_of_network(const IpPrefix& network) {
    return to_text(network.version, network.address) + "/" + std::to_string(network.length);
}

// The networks of all tenants by their addresses: of two that overlap one begins where the other
// has not ended.
class NetworkOwners {
public:
    explicit NetworkOwners(const ReadContext& context) noexcept : context_{context} {}

    void add(const TenantOptions& owner, const YamlNode& list) {
        for (std::size_t i = 0; i < owner.networks.size(); ++i) {
            const Position at = i < list.items.size() ? list.items[i].at : list.at;
            networks_.push_back({&owner, owner.networks[i], at});
        }
    }

    void check() {
        std::ranges::sort(networks_, {}, &OwnedNetwork::network);
        // Networks lie within one another or apart, so that the widest that has not ended is all
        // that a later one can overlap.
        const OwnedNetwork* open = nullptr;
        for (const OwnedNetwork& one : networks_) {
            if (open == nullptr || !overlap(open->network, one.network)) {
                open = &one;
            } else {
                refuse(*open, one);
            }
        }
    }

private:
    void refuse(const OwnedNetwork& wide, const OwnedNetwork& narrow) const {
        const bool is_own = wide.owner == narrow.owner;
        const std::string whose = is_own ? "this tenant" : "the tenant " + wide.owner->name;
        context_.problems.error(narrow.at, text_of_network(narrow.network) + " overlaps " +
                                               text_of_network(wide.network) + " of " + whose +
                                               ": what arrives for an address is one tenant's");
    }

    const ReadContext& context_;
    std::vector<OwnedNetwork> networks_;
};

void check_shares(const YamlNode& list, const std::vector<TenantOptions>& tenants,
                  const ReadContext& context) {
    unsigned together = 0;
    for (const TenantOptions& tenant : tenants) {
        together += tenant.table_share;
    }
    if (together > 100) {
        context.problems.error(list.at, "the tenants' `table_share` add up to " +
                                            std::to_string(together) +
                                            "%: one could take the places of another");
    }
}

}  // namespace

void read_own(const MapReader& map, std::string_view key, const ReadContext& context,
              std::vector<IpPrefix>& into) {
    const YamlNode* list = map.find(key);
    if (list == nullptr) {
        return;
    }
    if (!list->is_list() || list->items.empty() || list->items.size() > kMostTenantNetworks) {
        context.problems.error(list->at, "`networks` is a list of 1 to " +
                                             std::to_string(kMostTenantNetworks) +
                                             " networks, such as [198.51.100.0/24]");
        return;
    }
    for (const YamlNode& item : list->items) {
        const Result<IpPrefix> network =
            item.is_scalar() ? parse_network(item.text)
                             : Result<IpPrefix>{Error{Errc::BadSyntax, "a network is a text"}};
        if (network) {
            into.push_back(*network);
        } else {
            context.problems.error(item.at, network.error().what);
        }
    }
}

std::vector<TenantOptions> read_tenants(const YamlNode& node, const ReadContext& context) {
    if (!node.is_list() || node.items.size() > kMostTenants) {
        context.problems.error(node.at,
                               "`tenants` is a list of at most " + std::to_string(kMostTenants) +
                                   " tenants, {name: NAME, networks: [NETWORK], table_share: 5%}");
        return {};
    }
    std::vector<TenantOptions> tenants;
    std::vector<const YamlNode*> lists;
    for (const YamlNode& item : node.items) {
        std::optional<TenantOptions> tenant = read_tenant(item, context);
        if (!tenant) {
            continue;
        }
        if (std::ranges::find(tenants, tenant->name, &TenantOptions::name) != tenants.end()) {
            context.problems.error(value_of(item, "name")->at,
                                   "two tenants are called `" + tenant->name + "`");
            continue;
        }
        tenants.push_back(*std::move(tenant));
        lists.push_back(value_of(item, "networks"));
    }
    NetworkOwners owners{context};
    for (std::size_t i = 0; i < tenants.size(); ++i) {
        if (lists[i] != nullptr) {
            owners.add(tenants[i], *lists[i]);
        }
    }
    owners.check();
    check_shares(node, tenants, context);
    return tenants;
}

}  // namespace sluice
