#include "control/replay/service_outcome.hpp"

#include "lib/engine/decide/would_refuse.hpp"

namespace sluice {
namespace {

// A frame that a tracker refuses is read by nobody; one that it lets through may be refused by a
// reader, unless a rule has decided before that.
std::optional<Reason> reason_of_refusal(const Burst& burst, const BurstUnits& parser,
                                        std::size_t row) {
    if (has_row(parser.services().refused, row)) {
        return parser.services().why[row];
    }
    const BurstUnits* const read = burst.units();
    if (read == nullptr || !has_row(read->unreadable(), row)) {
        return std::nullopt;
    }
    const Decision& decision = burst.packets()[row].decision;
    const bool is_readers = decision.rule == kNoRule && decision.reason == read->why(row);
    return is_readers ? std::optional{decision.reason} : std::nullopt;
}

}  // namespace

std::optional<ServiceOutcome> service_outcome(const Burst& burst, std::size_t row,
                                              const LoadedServices& services) {
    const BurstUnits* const parser = burst.unit_parser();
    if (services.empty() || parser == nullptr || !has_row(parser->services().with_service, row)) {
        return std::nullopt;
    }
    const ServiceRowsOutcome& tracked = parser->services();
    const ServicePacket& packet = tracked.packets[row];
    const auto* const service = static_cast<const LoadedService*>(packet.service);
    return ServiceOutcome{.index = static_cast<std::size_t>(service - services.all.data()),
                          .packet = packet,
                          .refused = reason_of_refusal(burst, *parser, row),
                          .would_refuse = would_be_refusal(burst, row),
                          .rewritten = has_row(tracked.normalized, row)
                                           ? tracked.normalizations[row]
                                           : Normalization{},
                          .is_segment = burst.has_tcp(row)};
}

}  // namespace sluice
