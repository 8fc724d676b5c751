#include "lib/policy/limits/merging.hpp"

#include "lib/bucket/table/own_bucket.hpp"
#include "lib/policy/limits/limit_builder.hpp"
#include "lib/policy/values/units_text.hpp"

namespace sluice {
std::uint64_t read_max_unsynced(const MapReader& rule, std::uint32_t cost,
                                const ReadContext& context) {
    const YamlNode* const said = rule.find("max_unsynced");
    if (said != nullptr && said->is_scalar() && !parse_number(said->text, kMostMaxUnsynced) &&
        sluice::parse_size(said->text)) {
        context.problems.error(said->at,
                               "`max_unsynced` is a number of what the limits of the rule count, "
                               "bytes under `per: byte`: without a unit, such as 10 or 4096");
        return 0;
    }
    const std::optional<std::uint64_t> number = rule.number("max_unsynced", kMostMaxUnsynced);
    if (number && *number < cost) {
        context.problems.error(
            said->at, "`max_unsynced` is at least what one packet costs, " + std::to_string(cost));
        return 0;
    }
    return number.value_or(0);
}

SharedNumbers shared_numbers(const AnyLimit& limit, const LimitOwner& owner, Per per) {
    const bool bytes = per == Per::Byte;
    return {.limit = limit,
            .largest_cost = largest_cost(bytes, owner.cost),
            .max_unsynced = owner.max_unsynced,
            .overridden = owner.overridden,
            .per = per};
}

SharingTerms terms_for(const SharedNumbers& numbers, const RssMapping& box) {
    if (numbers.overridden) {
        return {.why = "its keys may have numbers of their own"};
    }
    return terms_for({.limit = numbers.limit,
                      .largest_cost = numbers.largest_cost,
                      .workers = box.workers,
                      .merge_interval = box.merge_interval,
                      .max_unsynced = numbers.max_unsynced});
}

std::string merged_note(const SharedNumbers& numbers, const SharingTerms& terms) {
    const std::string ahead =
        std::to_string(terms.max_unsynced) +
        std::string{numbers.per == Per::Byte ? " bytes"
                                             : unit_word(numbers.per, terms.max_unsynced == 1)};
    const unsigned windows = windows_touched(numbers.limit);
    return ", + " + (windows > 1 ? std::to_string(windows) + " * " : "") + ahead +
           " for each worker beyond the first (max_unsynced " + ahead + "; with more than " +
           std::to_string(terms.most_workers) + " workers: at the owners of its keys)";
}

}  // namespace sluice
