#include "lib/l7/stream/unit_sink.hpp"

namespace sluice {

void FoundUnits::clear() noexcept {
    further_count = 0;
    unit_count = 0;
    rows_left = 0;
    crowded_out = 0;
    unjudgeable = unreadable = would_refuse = following = remembered = awaiting = proxied = 0;
    counts.fill(0);
    for (std::size_t i = 0; i < counted_events; ++i) {
        events[which_events[i]] = 0;
    }
    counted_events = 0;
    doubts = {};
    arena.clear();
}

UnitTexts* UnitSink::add(Per kind) noexcept {
    std::uint8_t& count = units_.counts[row_];
    // Nobody's share is taken by others.
    if (count >= kUnitShare && count >= units_.most_now()) [[unlikely]] {
        units_.refused = true;
        units_.crowded_out |= count < units_.most ? row_bit(row_) : 0;
        return nullptr;
    }
    FoundUnit& unit = units_.unit_at(row_, count++);
    unit.kind = kind;
    unit.is_other_reading = false;
    unit.asked = {};
    unit.texts.clear();
    return &unit.texts;
}
UnitTexts* UnitSink::add_other_reading() noexcept {
    std::size_t first = units_.counts[row_] - std::size_t{1};
    while (units_.unit_at(row_, first).is_other_reading) {
        --first;
    }
    const FoundUnit& read = units_.unit_at(row_, first);
    UnitTexts* const texts = add(read.kind);
    if (texts != nullptr) {
        *texts = read.texts;
        units_.unit_at(row_, units_.counts[row_] - std::size_t{1}).is_other_reading = true;
    }
    return texts;
}
void UnitSink::note_asked(AskedRequest request) noexcept {
    units_.unit_at(row_, units_.counts[row_] - std::size_t{1}).asked = request;
}
void UnitSink::note_doubts(HeadShapes shapes, DoubtOutcome outcome) noexcept {
    units_.doubts.add(shapes, outcome);
}
void UnitSink::note_doubts(const RequestDoubts& doubts) noexcept {
    units_.doubts.add(doubts);
}
void UnitSink::note_too_many_readings() noexcept {
    units_.doubts.too_many_readings = true;
}
Normalization& UnitSink::normalize() noexcept {
    return units_.services.normalize(row_);
}
std::span<std::byte> UnitSink::room() noexcept {
    return units_.arena.room();
}
ByteView UnitSink::keep(std::size_t size) noexcept {
    return units_.arena.keep(size);
}
void UnitSink::refuse() noexcept {
    units_.refused = true;
}
bool UnitSink::is_refused() const noexcept {
    return units_.refused;
}
void UnitSink::drop_repeat() noexcept {
    note_drop(Reason::Retransmission);
}
void UnitSink::drop(Reason reason) noexcept {
    if (service_.is_enforced()) {
        units_.unreadable |= row_bit(row_);
        note_drop(reason);
    } else if (service_.service != nullptr && !has_row(units_.would_refuse, row_)) {
        units_.would_refuse |= row_bit(row_);
        units_.would_why[row_] = reason;
    }
}
void UnitSink::note_drop(Reason reason) noexcept {
    if (!has_row(units_.unjudgeable, row_)) {
        units_.unjudgeable |= row_bit(row_);
        units_.why[row_] = reason;
    }
}
void UnitSink::remember(const StickyBytes& bytes) noexcept {
    units_.remembered |= row_bit(row_);
    units_.sticky[row_] = bytes;
}
void UnitSink::remember_datagram(std::uint64_t datagram, std::uint8_t carrier) noexcept {
    if (!has_row(units_.remembered, row_)) {
        remember({.carrier = carrier});
    }
    units_.sticky[row_].datagram = datagram;
}
void UnitSink::follow(const StickyBytes& bytes) noexcept {
    units_.following |= row_bit(row_);
    units_.followed[row_] = bytes;
}
void UnitSink::stick(const Stickiness& of) noexcept {
    if (of.remembers) {
        remember(of.remembered);
    }
    if (of.follows) {
        follow(of.followed);
    }
    if (of.awaits) {
        note_awaits();
    }
    if (of.is_unjudgeable) {
        note_drop(of.why);
    }
    if (of.client.is_proxied) {
        note_client(of.client.address);
    }
    note_quic_dcid(of.quic_dcid);
}
void UnitSink::note_client(const VersionedAddress& client) noexcept {
    units_.proxied |= row_bit(row_);
    units_.clients[row_] = client;
}
void UnitSink::note_awaits() noexcept {
    units_.awaiting |= row_bit(row_);
}
void UnitSink::note_quic_dcid(const ConnectionId& id) noexcept {
    units_.quic_dcids[row_] = id;
}
void UnitSink::count(UnitEvent event, std::uint32_t times) noexcept {
    std::uint32_t& count = units_.events[static_cast<std::size_t>(event)];
    if (count == 0 && times != 0) {
        units_.which_events[units_.counted_events++] = static_cast<std::uint8_t>(event);
    }
    count += times;
}

}  // namespace sluice
