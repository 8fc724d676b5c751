#include "lib/policy/merging.hpp"

#include "lib/ledger/terms.hpp"

namespace sluice {
namespace {

// Where sluice.yaml says nothing else.
constexpr Nanoseconds kUsualInterval = std::chrono::milliseconds{1};

}  // namespace

std::uint64_t read_max_unsynced(const MapReader& rule, std::uint32_t cost,
                                const ReadContext& context) {
    const std::optional<std::uint64_t> number = rule.number("max_unsynced", kMostMaxUnsynced);
    if (number && *number < cost) {
        context.problems.error(
            rule.find("max_unsynced")->at,
            "`max_unsynced` is at least what one packet costs, " + std::to_string(cost));
        return 0;
    }
    return number.value_or(0);
}

std::string merged_bound(const AnyLimit& limit, const LimitOwner& owner, PerWord per) {
    const bool bytes = counted(per) == Per::Byte;
    const SharingTerms terms = owner.overridden
                                   ? SharingTerms{}
                                   : terms_for({.limit = limit,
                                                .largest_cost = largest_cost(bytes, owner.cost),
                                                .workers = 2,
                                                .merge_interval = kUsualInterval,
                                                .max_unsynced = owner.max_unsynced});
    if (terms.sharing != Sharing::Merged) {
        return ", for each worker";
    }
    const std::string ahead = std::to_string(terms.max_unsynced);
    const std::uint64_t most = most_at_once(limit) / 2 / terms.max_unsynced + 1;
    const unsigned windows = windows_touched(limit);
    return ", + " + (windows > 1 ? std::to_string(windows) + " * " : "") + ahead +
           " for each worker beyond the first (max_unsynced " + ahead + "; with more than " +
           std::to_string(most) + ": for each worker)";
}

}  // namespace sluice
