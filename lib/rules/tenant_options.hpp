#pragma once
#include "lib/base/config_key.hpp"
#include "lib/packet/ip_address.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

namespace sluice {

// A customer with rules of its own, over what arrives for its networks alone. Only sluiced reads
// it.
struct TenantOptions {
    std::string name;
    std::vector<IpPrefix> networks;                // of no other tenant
    unsigned table_share = 0;                      // percent: what all its rules together may hold
    std::uint64_t rules = 32;                      // at most, with their candidates
    std::uint64_t text = std::uint64_t{64} << 10;  // bytes of its rule file, at most
    Nanoseconds compile_time = std::chrono::seconds{1};  // that its file may take by itself
};

template <>
inline constexpr auto kConfigKeys<TenantOptions> = std::tuple{
    ConfigKey{"name", &TenantOptions::name, form::Text{}},
    ConfigKey{"networks", &TenantOptions::networks, form::Own{}},
    ConfigKey{"table_share", &TenantOptions::table_share, form::Percent{}},
    ConfigKey{"rules", &TenantOptions::rules, form::Count{{1, 1024}}},
    ConfigKey{"text", &TenantOptions::text, form::Size{{256, std::uint64_t{1} << 20}}},
    ConfigKey{"compile_time", &TenantOptions::compile_time,
              form::Time{{std::chrono::milliseconds{10}, std::chrono::seconds{10}},
                         "from 10ms to 10s, such as 1s"}},
};

inline constexpr std::size_t kMostTenants = 256;
inline constexpr std::size_t kMostTenantNetworks = 1024;  // of one

}  // namespace sluice
