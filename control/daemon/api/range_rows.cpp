#include "control/daemon/api/range_rows.hpp"

#include "lib/policy/overrides/named_ranges.hpp"

#include <span>

namespace sluice {

Json range_row_json(const FoundKey& found, std::uint8_t nth) {
    const NamedRange* range = range_around(found.rule->ranges.get(), found.ask.key,
                                           std::as_bytes(std::span{found.ask.bytes}), nth);
    if (range == nullptr) {
        return {};
    }
    return {{"key", to_text(range->range)},
            {"source", source_name(range->place.source)},
            {"line", range->place.line},
            {"reason", range->reason == nullptr ? "" : *range->reason}};
}

}  // namespace sluice
