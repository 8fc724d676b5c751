#include "lib/l7/http1/doubts_of_readings.hpp"

#include "lib/l7/http1/request_readings.hpp"
#include "lib/l7/stream/unit_sink.hpp"

#include <memory>

namespace sluice {

RequestDoubts doubts_of_readings(const RequestHead& head, const UnitSource& packet) {
    const auto found = std::make_unique<FoundUnits>();
    found->arena.begin_only_packet();
    const ServicePacket no_service;
    UnitSink units{*found, 0, no_service};
    (void)units.add(Per::Request);
    add_other_readings(head, packet, ReadingsOf::All, units);
    RequestDoubts doubts = found->doubts;
    doubts.too_many_readings |= found->refused;
    return doubts;
}

}  // namespace sluice
