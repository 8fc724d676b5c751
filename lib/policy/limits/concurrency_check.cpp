#include "lib/policy/limits/concurrency_check.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace sluice {
namespace {

struct Meaningless {
    std::string_view key;
    bool is_given;
    std::string_view why;
};

}  // namespace

void check_concurrency(const MapReader& map, const Rule& rule, const ReadContext& context) {
    const bool counts_open =
        std::any_of(rule.limits.begin(), rule.limits.end(), [](const MeteredLimit& limit) {
            return algorithm_of(limit.limit) == Algorithm::Concurrency;
        });
    if (!counts_open) {
        return;
    }
    const auto table = std::to_array<Meaningless>({
        {"cost", rule.cost != 1 || !rule.path_costs.empty(), "each connection counts once"},
        {"rejected_spend", rule.rejected_spend, "a connection that is refused is not open"},
    });
    for (const Meaningless& row : table) {
        if (row.is_given) {
            context.problems.error(
                map.place_of_key(row.key),
                "`" + std::string{row.key} +
                    "` has no meaning beside a concurrency limit: " + std::string{row.why});
        }
    }
}

}  // namespace sluice
