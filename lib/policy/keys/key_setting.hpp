#pragma once
#include "lib/base/units.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace sluice {

inline constexpr std::size_t kMaxKeySettings = 10'000;
// Settings of one tenant's rules, and of all tenants'.
inline constexpr std::size_t kMaxTenantKeySettings = 1'000;
inline constexpr std::size_t kMaxTenantsKeySettings = kMaxKeySettings / 2;

// An operator's setting of one key at run time. It wins over the rule file.
struct KeySetting {
    enum class What : std::uint8_t { Numbers, Exempt, Banned };

    std::string rule;
    std::string key;       // part|part, in one spelling
    std::size_t tier = 1;  // of the rule's keys, from 1 on
    What what = What::Numbers;
    std::string limit{};  // of Numbers: its name, and its numbers; empty: as the limit has them
    std::string rate{};
    std::string burst{};
    std::string count{};
    std::int64_t until = 0;  // UTC, seconds; 0: for good
    std::string reason{};
    std::string of{};         // the shape of the keys that it was set for; empty: not known
    std::int64_t set_at = 0;  // UTC, seconds
    std::uint32_t set_by = 0;
    bool is_new = false;  // what is wrong with it is an error, else a warning

    [[nodiscard]] bool operator==(const KeySetting&) const = default;
};

using KeySettings = std::vector<KeySetting>;

}  // namespace sluice
