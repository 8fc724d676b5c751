#include "lib/engine/burst/burst_units.hpp"
#include "lib/engine/remote/reserve_client.hpp"
#include "lib/engine/stage/stages.hpp"

#include <bit>

namespace sluice {

UnitColumns unit_columns_of(const Burst& burst, const LoadedSet& set, const CoreState& core,
                            Instant now) noexcept {
    return {.headers = burst.headers(),
            .frames = burst.frames(),
            .ends = burst.connection_ends(0, core.hash),
            .wanted = set.meter_plan.texts,
            .counted = set.meter_plan.counts,
            .hash = core.hash,
            .now = now,
            .services = set.services.empty() || burst.unit_parser() == nullptr
                            ? nullptr
                            : &burst.unit_parser()->services()};
}

namespace {

class FindingUnits {
public:
    FindingUnits(Burst& burst, const LoadedSet& set, const CoreState& core, Instant now) noexcept
        : burst_{burst}, units_{burst.begin_units()}, set_{set}, core_{core}, now_{now} {}

    void run(RowMask rows) noexcept {
        units_.begin(set_.load, set_.meter_plan, static_cast<std::size_t>(std::popcount(rows)));
        for_each_row(rows, [&](std::size_t row) {
            find(row);
            if (set_.proxied_clients != nullptr) [[unlikely]] {
                name_clients(row);
            }
            if (units_.count(row) != 0) {
                take(row);
            }
        });
        burst_.set_several(several_);
        count_events();
        for (Burst& further : units_.further()) {
            parse_burst(further, core_);
            geo_burst(further, set_);
            units_.set_texts(further);
        }
    }

private:
    void find(std::size_t row) noexcept {
        const bool has_waited = burst_.place(row) != kNoPendingSlot;
        const ServicePacket service = burst_.service(row);
        const UnitSource packet{.headers = burst_.headers_of(row),
                                .frame = burst_.frame(row),
                                .note = has_waited ? service.connection : units_.note(row),
                                .wanted = set_.meter_plan.texts,
                                .counted = set_.meter_plan.counts,
                                .requests = set_.request_texts,
                                .hash = core_.hash,
                                .now = now_,
                                .answers = set_.meter_plan.answers_requests,
                                .service = service,
                                .load = set_.load,
                                .unread_bursts = core_.unread_bursts};
        if (has_waited) [[unlikely]] {
            units_.find_again(row, packet, core_.reserve_client->held(burst_.place(row)).units);
        } else {
            units_.find(row, packet);
        }
    }
    void name_clients(std::size_t row) noexcept {
        if (has_row(units_.proxied(), row)) {
            units_.name_proxied(row, *set_.proxied_clients, burst_.headers());
        } else if (has_row(burst_.proxied(), row)) {
            units_.name_clients(row, *set_.proxied_clients);
        }
    }
    // A row that has units stands for the first one.
    void take(std::size_t row) noexcept {
        if (!set_.derived_texts.empty()) {
            units_.derive_texts(row, set_.derived_texts);
        }
        const BurstUnits::Unit& first = units_.unit(row, 0);
        burst_.set_unit(row, first.kind, first.texts);
        several_ |= units_.count(row) > 1 ? row_bit(row) : 0;
        units_.add_further(burst_, row);
    }
    // Rows that have waited were counted when they came, but for those that have no room any more.
    void count_events() const noexcept {
        constexpr auto kTooMany = static_cast<std::size_t>(UnitEvent::TooManyUnits);
        units_.for_each_event([&](std::size_t event, std::uint32_t times) {
            if (burst_.is_new() || event == kTooMany) {
                core_.counters.by_unit_event[event].add(times);
            }
        });
    }

    Burst& burst_;
    BurstUnits& units_;
    const LoadedSet& set_;
    const CoreState& core_;
    Instant now_;
    RowMask several_ = 0;
};

}  // namespace

void find_units(Burst& burst, RowMask rows, const LoadedSet& set, const CoreState& core,
                Instant now) noexcept {
    if (burst.unit_parser() == nullptr) {
        return;
    }
    if (burst.origin() != Burst::Origin::Pending) [[likely]] {
        (void)burst.connection_ends(rows & burst.headers().present_rows(HeaderPart::Tcp),
                                    core.hash);
        rows = burst.unit_parser()->select(unit_columns_of(burst, set, core, now), rows);
    }
    if (rows == 0) {
        return;
    }
    FindingUnits{burst, set, core, now}.run(rows);
    if (!set.services.empty()) {
        burst.set_normalized(burst.unit_parser()->services().normalized);
    }
}

}  // namespace sluice
