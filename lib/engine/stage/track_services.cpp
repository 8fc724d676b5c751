#include "lib/engine/stage/track_services.hpp"

#include "lib/engine/burst/burst_units.hpp"
#include "lib/engine/remote/reserve_client.hpp"
#include "lib/engine/stage/stages.hpp"

namespace sluice {

namespace {

// Answers of the box go to clients that have completed a handshake.
void note_handshakes(const ServiceRowsOutcome& outcome, Burst& burst) noexcept {
    for_each_row(outcome.with_service, [&](std::size_t row) {
        const ServicePacket& packet = outcome.packets[row];
        const Handshake handshake = packet.is_established ? Handshake::Completed
                                    : packet.service->path == ServicePath::Inbound
                                        ? Handshake::OneWay
                                        : Handshake::Untracked;
        burst.note_handshakes(handshake, row_bit(row));
    });
}

// Ports of datagrams in fragments are those of their first ones.
void give_ports(const ServiceRowsOutcome& outcome, Burst& burst) noexcept {
    for_each_row(outcome.in_fragments, [&](std::size_t row) {
        burst.headers().set_datagram(row, outcome.ports[row].from, outcome.ports[row].to);
    });
}
void give_ports_again(const CoreState& core, RowMask rows, Burst& burst) noexcept {
    for_each_row(rows & ~burst.headers().common, [&](std::size_t row) {
        const DatagramPorts ports = core.reserve_client->held(burst.place(row)).units.ports();
        if (ports.to != 0 && burst.headers().frag[row] == Fragment::Later) {
            burst.headers().set_datagram(row, ports.from, ports.to);
        }
    });
}

// Rows that were handed over say what is to be changed in them, and no more.
void forget_unless_normalized(BurstUnits& units, const Burst& burst) noexcept {
    if (!burst.normalizes()) {
        units.forget_services();
    }
}

void take_over(const ServiceRowsOutcome& outcome, Burst& burst) noexcept {
    burst.set_of_services(outcome.with_service);
    burst.set_normalized(outcome.normalized);
    note_handshakes(outcome, burst);
}

// Rows that waited were followed when they came, and are not followed again.
void meet_again(BurstUnits& units, RowMask rows, const TrackedColumns& columns,
                const CoreState& core, Burst& burst) noexcept {
    units.forget_services();
    for_each_row(rows, [&](std::size_t row) {
        core.reserve_client->held(burst.place(row)).units.give_back_service(row, units.services());
    });
    units.meet_again(columns);
    take_over(units.services(), burst);
}

TrackedColumns tracked_columns_of(const UnitColumns& columns, Burst& burst, const LoadedSet& set,
                                  const CoreState& core) noexcept {
    return {.burst = columns,
            .services = set.services,
            .scratch = burst.scratch().matches,
            .counters = core.counters.by_unit_event,
            .load = set.load,
            .untracked_bursts = core.unread_bursts + core.untracked_bursts};
}

}  // namespace

void adopt_services(Burst& burst, const LoadedSet& set, const CoreState& core,
                    Instant now) noexcept {
    BurstUnits* const units = burst.unit_parser();
    if (set.services.empty() || units == nullptr) {
        return;
    }
    const UnitColumns columns = unit_columns_of(burst, set, core, now);
    units->forget_services();
    units->meet_again(tracked_columns_of(columns, burst, set, core));
}

void notify_connections(Burst& burst, const LoadedSet& set, const CoreState& core,
                        Instant now) noexcept {
    if (set.services.empty() || burst.unit_parser() == nullptr || core.answered == nullptr) {
        return;
    }
    for (const MadeReset& reset : core.answered->resets()) {
        burst.unit_parser()->note_reset(reset, now);
    }
    for (const AgreedUpgrade& upgrade : core.answered->upgrades()) {
        burst.unit_parser()->note_upgrade(upgrade);
    }
}

RowMask track_services(Burst& burst, RowMask rows, const LoadedSet& set, const CoreState& core,
                       Instant now) noexcept {
    BurstUnits* const units = burst.unit_parser();
    if (burst.origin() == Burst::Origin::Pending) {
        give_ports_again(core, rows, burst);
    }
    if (units == nullptr) {
        return 0;
    }
    if (burst.origin() == Burst::Origin::Worker) {
        forget_unless_normalized(*units, burst);
        return 0;
    }
    const UnitColumns unit_columns = unit_columns_of(burst, set, core, now);
    const TrackedColumns columns = tracked_columns_of(unit_columns, burst, set, core);
    if (burst.origin() == Burst::Origin::Pending) {
        meet_again(*units, rows, columns, core, burst);
        return 0;
    }
    (void)burst.connection_ends(rows & burst.headers().present_rows(HeaderPart::Tcp), core.hash);
    units->track(columns, rows);
    const ServiceRowsOutcome& outcome = units->services();
    for_each_row(outcome.refused, [&](std::size_t row) {
        burst.decision(row) = dropped_for(outcome.why[row]);
        if (has_row(outcome.resets, row)) {
            burst.decision(row).verdict = Verdict::Reset;
        }
    });
    for_each_row(outcome.would_refuse, [&](std::size_t row) {
        core.counters.would_refuse[static_cast<std::size_t>(outcome.why[row])].add(1);
    });
    give_ports(outcome, burst);
    take_over(outcome, burst);
    return outcome.refused;
}

}  // namespace sluice
