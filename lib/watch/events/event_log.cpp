#include "lib/watch/events/event_log.hpp"

#include <algorithm>
#include <span>
#include <utility>

namespace sluice {

void EventLog::adopt(const LoadedSet& rules) {
    Known known{.load = rules.load, .rules = {}};
    known.rules.reserve(rules.rules.size());
    for (const LoadedRule& rule : rules.rules) {
        Names names{.rule = rule.id, .limits = {}};
        // Rules that tell nothing are asked nothing.
        for (std::size_t i = 0; !rule.events.empty() && i < rule.limits.size(); ++i) {
            names.limits.push_back(rule.limits[i].name);
        }
        known.rules.push_back(std::move(names));
    }
    known_.push_back(std::move(known));
    if (known_.size() > kKnownSets) {
        known_.pop_front();
    }
}

const EventLog::Names* EventLog::names_of(const EventRecord& record) const noexcept {
    const auto known = std::find_if(known_.begin(), known_.end(),
                                    [&](const Known& one) { return one.load == record.load; });
    return known == known_.end() || record.rule >= known->rules.size() ? nullptr
                                                                       : &known->rules[record.rule];
}

void EventLog::take(const EventRecord& record, std::uint32_t lcore, const PairOf& pair_of) {
    const Names* const names = names_of(record);
    const bool is_ban =
        record.kind == KeyEventKind::BanStart || record.kind == KeyEventKind::BanEnd;
    if (names == nullptr || (!is_ban && record.limit >= names->limits.size())) {
        lose(1, record.utc);
        return;
    }
    append({.kind = record.kind,
            .utc_ns = record.utc.count(),
            .for_ns = record.length.count(),
            .lcore = lcore,
            .rule = names->rule,
            .limit = is_ban ? std::string{} : names->limits[record.limit],
            .key = text_of_key(std::span{record.bytes}.first(record.size), pair_of)});
    ++counts_[static_cast<std::size_t>(record.kind)];
}

void EventLog::lose(std::uint64_t events, Nanoseconds utc) {
    if (events == 0) {
        return;
    }
    counts_[static_cast<std::size_t>(KeyEventKind::Lost)] += events;
    append({.kind = KeyEventKind::Lost, .utc_ns = utc.count(), .lost = events});
}

void EventLog::bridged(const std::string& pair, std::uint64_t packets, Nanoseconds utc) {
    append({.kind = KeyEventKind::Bridged, .utc_ns = utc.count(), .packets = packets, .key = pair});
    ++counts_[static_cast<std::size_t>(KeyEventKind::Bridged)];
}

void EventLog::debts_forgiven(const std::string& rule, const std::string& key, std::uint64_t debts,
                              Nanoseconds utc) {
    append({.kind = KeyEventKind::DebtsForgiven,
            .utc_ns = utc.count(),
            .packets = debts,
            .rule = rule,
            .key = key});
    ++counts_[static_cast<std::size_t>(KeyEventKind::DebtsForgiven)];
}

void EventLog::checksums_trusted(const std::string& service, std::string_view side,
                                 Nanoseconds utc) {
    append({.kind = KeyEventKind::ChecksumsTrusted,
            .utc_ns = utc.count(),
            .limit = std::string{side},
            .key = service});
    ++counts_[static_cast<std::size_t>(KeyEventKind::ChecksumsTrusted)];
}

void EventLog::append(KeyEvent event) {
    event.number = next_++;
    events_.push_back(std::move(event));
    if (events_.size() > most_) {
        events_.pop_front();
    }
}

EventLog::Slice EventLog::read(std::uint64_t from, std::size_t most) const {
    const std::uint64_t oldest = next_ - events_.size();
    const std::uint64_t first = std::clamp(from, oldest, next_);
    Slice slice{
        .next = first, .missed = from != 0 && from < oldest ? oldest - from : 0, .events = {}};
    for (; slice.next < next_ && slice.events.size() < most; ++slice.next) {
        slice.events.push_back(events_[static_cast<std::size_t>(slice.next - oldest)]);
    }
    return slice;
}

}  // namespace sluice
