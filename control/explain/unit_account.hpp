#pragma once
#include "control/json.hpp"
#include "lib/respond/decision.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice {

// Texts by their fields' names.
using NamedTexts = std::vector<std::pair<std::string, std::string>>;

// A limit that a unit of a packet does not fit in, once the units before it have been charged.
struct UnitShortage {
    std::string limit;  // its name in the rule
    std::string key;
    std::uint64_t left = 0;
    std::uint64_t cost = 0;
};

// One of several requests, hellos or queries of a packet. They are judged one by one, and charged
// all or none.
struct UnitAccount {
    std::string_view kind;  // "request", "handshake" or "query"
    NamedTexts texts;
    std::optional<Decision> refused{};  // by a rule, be it one of its other readings
    bool is_known = true;  // false: no rule refused the packet, and what did said nothing of units
    std::string rule{};    // that refused it
    std::optional<UnitShortage> shortage{};  // of that rule, the first
};

// "several in one packet\n ... request 1 of 4: ...\n"; the texts of a unit that is not refused
// stand there as far as they are others than the first one's. Empty of a packet with one unit.
[[nodiscard]] std::string units_text(const std::vector<UnitAccount>& units);
[[nodiscard]] Json units_json(const std::vector<UnitAccount>& units);

}  // namespace sluice
