#pragma once
#include "control/daemon/api/api.hpp"
#include "control/daemon/api/sought.hpp"
#include "control/json.hpp"

#include <cstddef>
#include <cstdint>

namespace sluice {

// The part of GET /v1/find that tells of the kernel's early drop, as its maps say:
// {"state":"works","ports":[{"interface":…,"early_drop":true,…}],"entries":[{"network":…,"at":
// [INTERFACE],"rule":…,"by":"penalty_box",…}],"more":false}. An entry that several ports have is
// one. null: it is no address and no network, or nobody has answered.
struct EarlyDropTerms {
    std::uint32_t most = 0;   // entries
    bool lists_read = false;  // else nothing is told of conditions, whose lists may name networks
};
[[nodiscard]] Json early_drop_json(const Sought& sought, const EarlyDropTerms& terms,
                                   const RuleView& view, Services& services);

// The same of an answer, whose entries may be told; at most so many of them are.
[[nodiscard]] Json early_drop_json(const FoundEarlyDrops& found, std::size_t most,
                                   const KeySettings& settings);

}  // namespace sluice
