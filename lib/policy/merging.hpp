#pragma once
#include "lib/policy/limit_list_reader.hpp"

#include <cstdint>
#include <string>

// How far workers may go ahead of each other under a limit whose key they share.
namespace sluice {

// `max_unsynced` of a rule; 0: it has none, or a wrong one (reported).
[[nodiscard]] std::uint64_t read_max_unsynced(const MapReader& rule, std::uint32_t cost,
                                              const ReadContext& context);

// What is admitted beyond the limit's own bound because several workers charge it.
[[nodiscard]] std::string merged_bound(const AnyLimit& limit, const LimitOwner& owner, PerWord per);

}  // namespace sluice
