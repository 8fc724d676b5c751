#include "lib/engine/stage/trace_burst.hpp"

#include "lib/engine/decide/would_refuse.hpp"
#include "lib/engine/stage/preview_burst.hpp"
#include "lib/match/classifier.hpp"

#include <algorithm>
#include <cstring>
#include <functional>

namespace sluice {
namespace {

// The rows that a rule has matched; of units behind a packet's first one, nothing.
RowMask matched_by(const Burst& burst, std::uint32_t rule) noexcept {
    for (const RuleMatch& match : burst.scratch().matches.matched()) {
        if (match.rule == rule) {
            return match.rows;
        }
    }
    return 0;
}

template <typename Wanted>
RowMask rows_where(const Burst& burst, RowMask rows, Wanted&& wanted) noexcept {
    RowMask found = 0;
    for_each_row(rows, [&](std::size_t row) {
        found |= wanted(burst.packets()[row].decision) ? row_bit(row) : 0;
    });
    return found;
}

void put_matches(const Burst& burst, std::size_t row, TraceRecord& record) noexcept {
    record.matched_count = 0;
    for (const RuleMatch& match : burst.scratch().matches.matched()) {
        if (has_row(match.rows, row)) {
            if (record.matched_count < kMostNamedMatches) {
                record.matched[record.matched_count] = match.rule;
            }
            ++record.matched_count;
        }
    }
}

// Records the key of the rule that decided.
void put_key(Burst& burst, std::size_t row, const LoadedSet& set, TraceRecord& record) noexcept {
    record.key_size = 0;
    const Decision& decision = record.decision;
    if (decision.rule >= set.rules.size()) {
        return;
    }
    const LoadedRule& rule = set.rules[decision.rule];
    if (decision.key >= rule.keys.size()) {
        return;
    }
    KeyBytes key;
    if (key_of(rule.keys[decision.key], rule.missing_key, burst.deciding_headers(row),
               burst.frame(row).bytes, key) != KeyOutcome::Complete) {
        return;
    }
    record.key_size = static_cast<std::uint16_t>(key.view().size());
    std::copy(key.view().begin(), key.view().end(), record.key.begin());
}

RowMask would_be_refused(const Burst& burst, RowMask rows) noexcept {
    RowMask found = 0;
    for_each_row(
        rows, [&](std::size_t row) { found |= would_be_refusal(burst, row) ? row_bit(row) : 0; });
    return found;
}

// A row that another worker has handed over is of a service that is not known here.
std::uint32_t service_of(const Burst& burst, std::size_t row, const LoadedSet& set) noexcept {
    if (burst.origin() == Burst::Origin::Worker || !has_row(burst.of_services(), row)) {
        return kOfNoService;
    }
    const auto* const service = static_cast<const LoadedService*>(burst.service(row).service);
    const std::vector<LoadedService>& all = set.services.all;
    const bool is_of_set =
        !std::less<>{}(service, all.data()) && std::less<>{}(service, all.data() + all.size());
    return is_of_set ? static_cast<std::uint32_t>(service - all.data()) : kOfNoService;
}

RowMask rows_of(Trace& trace, std::size_t worker, const TracedBurst& decided) noexcept {
    Burst& burst = decided.burst;
    RowMask rows = burst.live();
    if (trace.terms().refused) {
        rows = rows_where(burst, rows,
                          [](const Decision& decision) { return !forwards(decision.verdict); });
    }
    if (trace.terms().would_refuse) {
        rows = decided.evaluated ? would_be_refused(burst, rows) : 0;
    }
    if (!trace.terms().rule.empty()) {
        if (decided.rule == kNoRule || !decided.evaluated) {
            return 0;
        }
        const RowMask matched = trace.terms().refused ? 0 : matched_by(burst, decided.rule);
        rows &= matched | rows_where(burst, rows, [&](const Decision& decision) {
                    return decision.rule == decided.rule;
                });
    }
    if (trace.condition() == nullptr || rows == 0) {
        return rows;
    }
    RowMask found = rows_of_condition(trace, worker, burst, rows);
    if (decided.evaluated && burst.units() != nullptr) {
        for (Burst& further : burst.units()->further()) {
            const RowMask there = burst.units()->rows_of(further, rows & ~found);
            const RowMask hits = there == 0 ? 0 : rows_of_condition(trace, worker, further, there);
            for_each_row(hits == 0 ? 0 : rows & ~found, [&](std::size_t row) {
                found |=
                    (burst.units()->rows_of(further, row_bit(row)) & hits) != 0 ? row_bit(row) : 0;
            });
        }
    }
    return found;
}

void record(const Trace& trace, const TracedBurst& decided, std::size_t row,
            TraceTap& tap) noexcept {
    TraceRecord* const record = tap.next(decided.now.at);
    if (record == nullptr) {
        return;
    }
    Burst& burst = decided.burst;
    const FrameView frame = burst.frame(row);
    record->load = decided.set.load;
    record->utc = decided.now.utc();
    record->decision = burst.packets()[row].decision;
    record->headers = burst.headers_of(row);
    record->headers.unit = nullptr;
    record->wire_size = frame.wire_size;
    record->matched_count = 0;
    record->key_size = 0;
    record->service = decided.evaluated ? service_of(burst, row, decided.set) : kOfNoService;
    record->would_refuse = decided.evaluated ? would_be_refusal(burst, row) : std::nullopt;
    if (decided.evaluated) {
        put_matches(burst, row, *record);
        put_key(burst, row, decided.set, *record);
    }
    record->kept =
        static_cast<std::uint16_t>(std::min<std::size_t>(frame.bytes.size(), trace.terms().snap));
    std::memcpy(record->frame.data(), frame.bytes.data(), record->kept);
    tap.commit();
}

}  // namespace

RowMask rows_of_condition(Trace& trace, std::size_t worker, Burst& burst, RowMask rows) noexcept {
    RuleMatches& matches = trace.matches(worker);
    const LoadedSet& set = trace.condition()->set();
    rows &= burst.headers().well_formed();
    set.classifier->match_headers(burst.headers(), rows, matches);
    if (matches.pending_rows() != 0) {
        set.classifier->match_texts(burst.frames(), burst.headers(), matches.pending_rows() & rows,
                                    *trace.condition()->texts(worker), matches);
    }
    RowMask found = 0;
    for (const RuleMatch& match : matches.matched()) {
        found |= match.rows;
    }
    return found & rows;
}

void trace_burst(Trace& trace, std::size_t worker, const TracedBurst& decided) noexcept {
    if (trace.preview_tap(worker) != nullptr) {
        preview_burst(trace, worker, decided);
        return;
    }
    TraceTap& tap = trace.tap(worker);
    for_each_row(rows_of(trace, worker, decided),
                 [&](std::size_t row) { record(trace, decided, row, tap); });
}

// A rule decides only what it matches. Of units behind a packet's first one nothing is known yet.
bool may_trace(Trace& trace, std::size_t worker, Burst& burst, std::uint32_t rule,
               Instant now) noexcept {
    if (burst.size() == 0 || trace.preview_tap(worker) != nullptr ||
        !trace.tap(worker).has_room(now)) {
        return false;
    }
    if (burst.units() != nullptr && !burst.units()->further().empty()) {
        return true;
    }
    RowMask rows = burst.live();
    if (!trace.terms().rule.empty()) {
        rows &= rule == kNoRule ? 0 : matched_by(burst, rule);
    }
    return rows != 0 &&
           (trace.condition() == nullptr || rows_of_condition(trace, worker, burst, rows) != 0);
}

}  // namespace sluice
