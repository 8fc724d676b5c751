#pragma once
#include "lib/l7/stream/service.hpp"
#include "lib/match/classifier.hpp"
#include "lib/packet/field.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace sluice {

inline constexpr std::size_t kMaxServiceProxies = 4096;  // networks of one service

// Fields that all packets of a connection in its client's direction share, and that are known
// before any origin is looked up: the condition of a service tests these alone.
inline constexpr auto kServiceFields = std::to_array<Field>(
    {Field::Dir, Field::Port, Field::VlanId, Field::VlanInnerId, Field::IpVersion, Field::IpSrc,
     Field::IpDst, Field::IpProto, Field::L4Sport, Field::L4Dport});
[[nodiscard]] constexpr bool is_service_field(Field field) noexcept {
    return std::find(kServiceFields.begin(), kServiceFields.end(), field) != kServiceFields.end();
}

// Checks that every number of the services, and of the classifier that finds them, is what the
// workers rely on. nullopt: it is; else what is wrong.
[[nodiscard]] std::optional<std::string> find_service_fault(const std::vector<Service>& services,
                                                            const Classifier& classifier);

}  // namespace sluice
