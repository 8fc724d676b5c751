#include "lib/l7/stream/service_rows.hpp"

namespace sluice {

RowMask find_services(const HeaderColumns& columns, RowMask rows, const LoadedServices& services,
                      RuleMatches& scratch, ServiceRows& found) noexcept {
    found.fill(kNoServiceIndex);
    if (services.empty()) {
        return 0;
    }
    services.classifier->match_headers(columns, rows, scratch);
    RowMask with_service = 0;
    for (const RuleMatch& match : scratch.matched()) {  // by ascending number
        for_each_row(match.rows & ~with_service,
                     [&](std::size_t row) { found[row] = static_cast<std::uint16_t>(match.rule); });
        with_service |= match.rows;
    }
    return with_service;
}

}  // namespace sluice
