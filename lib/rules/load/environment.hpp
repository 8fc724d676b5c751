#pragma once
#include "lib/bucket/hash/siphash.hpp"
#include "lib/rules/load/limit_slots.hpp"
#include "lib/rules/load/rule_rows.hpp"
#include "lib/rules/load/shared_limits.hpp"

#include <cstdint>

namespace sluice {

class LoadedRules;

// True if the table of the countries and ASNs that rules use is made. Left out, no rule matches by
// them.
enum class OriginTable : bool { LeftOut, Made };

// All that loading a rule set depends on besides the set. As it stands: one worker whose tables are
// empty and that has no rules yet.
struct Environment {
    HashSecret secret{};  // under which the workers hash keys
    Sharers sharers{};    // how many workers there are, and how often they merge amounts
    TableView tables{};   // what their tables hold
    RuleRows::ReadRow row_totals = [](std::uint32_t) { return RuleTotals{}; };
    // The rules that are replaced: a limit keeps its slot, a rule its counters. nullptr: none.
    const LoadedRules* before = nullptr;
    // Slots of the entries that an earlier process has left, if there are no rules before.
    const SlotsImage* found = nullptr;
    Moves moves = Moves::GoOn;
    Forgives forgives = Forgives::Nothing;
    OriginTable origins = OriginTable::Made;
    // The directions of a connection come to different workers: services are followed by what
    // clients send alone.
    bool splits_connections = false;
};

}  // namespace sluice
