#include "lib/engine/check/gauge_check.hpp"

#include "lib/bucket/meter/connection_meter.hpp"
#include "lib/engine/check/ask_bucket.hpp"

namespace sluice {
namespace {

LedgerEvent event_of(GaugeAnswer answer) noexcept {
    return answer == GaugeAnswer::Closed  ? LedgerEvent::DownClosed
           : answer == GaugeAnswer::Share ? LedgerEvent::LocalShareRefused
                                          : LedgerEvent::UsedUp;
}

}  // namespace

Conformance ask_gauges(const LimitCheck& check, const CheckContext& context) noexcept {
    if (context.core.gauges == nullptr || check.entry == nullptr || check.cost == Units{0} ||
        !std::holds_alternative<ConcurrencyLimit>(*check.numbers)) {
        return check.conformance;
    }
    const LimitRegistry& registry = context.core.buckets.registry;
    const Cell cell = registry.cell_of(*check.entry);
    ConnectionStart start;
    if (!ConnectionMeter::opens_more(cell, registry.pool(), start_of(check, context, start),
                                     context.now)) {
        return check.conformance;
    }
    const Account account{check.key.hash, check.entry->slot(),
                          check.entry->stamp().aggregation_level};
    const Units used = sluice::used(cell, *check.numbers, registry.pool(), context.now) +
                       check.cost + charged_before(check, context).all();
    const ConnectionGauges::Asked asked{used.count(), most_of(*check.numbers).count(),
                                        context.question != nullptr};
    const bool is_dry_run = context.ask.is_dry_run();
    ConnectionGauges& gauges = *context.core.gauges;
    const GaugeAnswer answer = is_dry_run ? gauges.judge(account, asked, context.now)
                                          : gauges.admit(account, asked, context.now);
    if (answer == GaugeAnswer::Admitted) {
        return check.conformance;
    }
    if (!is_dry_run && answer != GaugeAnswer::OthersHaveIt) {
        context.core.ledger->count(event_of(answer));
    }
    // A round trip to the store makes room for it.
    return answer == GaugeAnswer::NotConfirmed ? Conformance::NoRoom : Conformance::Red;
}

Units beside_box(const LimitCheck& check, const CheckContext& context) noexcept {
    const ConnectionGauges* gauges = context.core.gauges;
    if (gauges == nullptr || check.entry == nullptr ||
        !std::holds_alternative<ConcurrencyLimit>(*check.numbers)) {
        return {};
    }
    const Account account{check.key.hash, check.entry->slot(),
                          check.entry->stamp().aggregation_level};
    return gauges->is_shared(account)
               ? Units{gauges->beside(account, most_of(*check.numbers).count(), context.now)}
               : Units{};
}

}  // namespace sluice
