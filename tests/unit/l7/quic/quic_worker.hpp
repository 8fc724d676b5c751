#pragma once
#include "lib/l7/quic/quic_units.hpp"
#include "tests/unit/l7/quic/quic_datagrams.hpp"
#include "tests/unit/l7/quic/quic_finder.hpp"
#include "tests/unit/l7/stream/unit_probe.hpp"

#include <chrono>
#include <cstddef>

namespace sluice::test {

constexpr Instant kQuicStart{std::chrono::hours{1}};

constexpr QuicBudget quic_budget(std::size_t connections = 256) {
    return {.connections = connections, .half_hellos = 16, .percent = 100};
}

// A worker that reads datagrams to an enforced service of QUIC, all of its time if need be.
struct QuicWorker {
    explicit QuicWorker(const QuicBudget& budget = quic_budget())
        : quic{budget, *InitialOpener::make()} {
        probe.service = enforced_service(ServiceProtocol::Quic);
    }
    void monitor() {
        monitored = *probe.service;
        monitored.mode = Mode::Monitor;
        probe.service = &monitored;
    }

    Instant now = kQuicStart;
    Service monitored;
    QuicUnits quic;
    UnitProbe probe{quic_finder(quic)};
};

// The same packet under the id that the server of connection 1 has given itself.
inline InitialMaker under_server_id(InitialMaker initial) {
    return initial.dcid(quic_id(0xBEEF)).keys_of(quic_id(1)).number(3, 1);
}

}  // namespace sluice::test
