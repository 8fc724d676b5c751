#pragma once
#include "lib/l7/quic/quic_units.hpp"
#include "lib/l7/stream/unit_finder.hpp"
#include "lib/l7/stream/unit_sink.hpp"
#include "lib/l7/stream/unit_source.hpp"
#include "lib/l7/stream/wanted_protocols.hpp"
#include "lib/packet/text_field.hpp"

namespace sluice::test {

// A finder that shows each datagram to `quic` alone, which outlives it.
[[nodiscard]] inline UnitFinder quic_finder(QuicUnits& quic) {
    return {.find =
                [](void* self, const UnitSource& packet, UnitSink& units) noexcept {
                    const auto payload = read_payload(packet.headers, packet.frame.bytes);
                    static_cast<QuicUnits*>(self)->find(*payload, packet, units);
                },
            .settle =
                [](void* self, const StickyBytes& bytes, UnitOutcome fate) noexcept {
                    static_cast<QuicUnits*>(self)->settle(bytes, fate == UnitOutcome::Forwarded);
                },
            .refused =
                [](void* self, const StickyBytes& bytes) noexcept {
                    return static_cast<const QuicUnits*>(self)->refused(bytes);
                },
            .parser = &quic,
            .texts = kQuicTexts};
}

}  // namespace sluice::test
