#pragma once
#include "lib/peer/merge/terms.hpp"
#include "lib/policy/limits/limit_list_reader.hpp"

#include <cstdint>
#include <string>

// How far workers may go ahead of each other under a limit whose key they share.
namespace sluice {

// `max_unsynced` of a rule; 0: it has none, or a wrong one (reported).
[[nodiscard]] std::uint64_t read_max_unsynced(const MapReader& rule, std::uint32_t cost,
                                              const ReadContext& context);

[[nodiscard]] SharedNumbers shared_numbers(const AnyLimit& limit, const LimitOwner& owner, Per per);

// Tells whether the workers of a box can share the limit, and if not, why.
[[nodiscard]] SharingTerms terms_for(const SharedNumbers& numbers, const RssMapping& box);

// The amount that is admitted beyond the limit's own bound because several workers charge it.
[[nodiscard]] std::string merged_note(const SharedNumbers& numbers, const SharingTerms& terms);

}  // namespace sluice
