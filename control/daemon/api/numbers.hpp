#pragma once
#include "lib/wire/message.hpp"

#include <nlohmann/json.hpp>

namespace sluice {

// Counts of a worker, or of all of them together, by verdict, reason and event, and what there is
// now of connections, questions and held packets: by name, in the order of their tables.
[[nodiscard]] nlohmann::ordered_json counts_json(const WorkerStats& worker);
// Cycles of one turn in `of_turns`.
[[nodiscard]] nlohmann::ordered_json cycles_json(const StageStats& stats);
[[nodiscard]] nlohmann::ordered_json ledger_json(const WorkerStats& worker);

// How often a new key found no place, for whatever reason.
[[nodiscard]] std::uint64_t no_place(const WorkerStats& worker);

// The sums over all workers that counts_json() shows.
[[nodiscard]] WorkerStats total_of(const std::vector<WorkerStats>& workers);

}  // namespace sluice
