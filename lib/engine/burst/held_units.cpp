#include "lib/engine/burst/held_units.hpp"

#include "lib/engine/burst/burst.hpp"

#include <algorithm>
#include <functional>

namespace sluice {
namespace {

bool lies_in(ByteView text, ByteView frame) noexcept {
    const std::less_equal<const std::byte*> at_most;
    return at_most(frame.data(), text.data()) &&
           at_most(text.data() + text.size(), frame.data() + frame.size());
}

}  // namespace

bool HeldUnits::keep(const Burst& burst, std::size_t row) noexcept {
    const BurstUnits* const units = burst.units();
    const ByteView frame = burst.frame(row).bytes;
    service_ = burst.service(row);
    normalization_ = burst.normalization(row);
    count_ = units == nullptr ? 0 : units->count(row);
    sticky_ = units == nullptr ? Stickiness{} : units->stickiness(row);
    load_ = units == nullptr ? 0 : units->load();
    text_count_ = 0;
    used_ = 0;
    for (std::uint8_t number = 0; number < count_; ++number) {
        const BurstUnits::Unit& unit = units->unit(row, number);
        kinds_[number] = {unit.kind, unit.is_other_reading, unit.asked};
        for (std::size_t i = 0; i < kTextFieldCount; ++i) {
            const auto field = static_cast<TextField>(i);
            const bool is_own = unit.texts.has(field) && !units->derived().has(field);
            if (is_own && !keep_text(number, field, unit.texts.text(field), frame)) {
                return false;
            }
        }
    }
    return true;
}

bool HeldUnits::keep_text(std::uint8_t unit, TextField field, ByteView text,
                          ByteView frame) noexcept {
    if (text_count_ == kMostTexts) {
        return false;
    }
    Text& kept = texts_[text_count_];
    kept.size = static_cast<std::uint32_t>(text.size());
    kept.field = field;
    kept.unit = unit;
    kept.in_frame = lies_in(text, frame);
    ++text_count_;
    if (kept.in_frame) {
        kept.at = static_cast<std::uint32_t>(text.data() - frame.data());
        return true;
    }
    if (text.size() > TextArena::kPerPacket - used_) {
        return false;
    }
    kept.at = static_cast<std::uint32_t>(used_);
    std::copy(text.begin(), text.end(), &bytes_[used_]);
    used_ += text.size();
    return true;
}

const StickyBytes* HeldUnits::to_read_again(std::uint64_t load, bool is_of_service) const noexcept {
    const bool are_requests = count_ != 0 && kinds_[0].kind == Per::Request;
    const bool are_whole = sticky_.remembers && sticky_.remembered.is_whole;
    const bool is_as_before = is_of_service == (service_.service != nullptr);
    return load != load_ && are_requests && are_whole && is_as_before ? &sticky_.remembered
                                                                      : nullptr;
}

void HeldUnits::give_back(const UnitSource& packet, UnitSink& units) const noexcept {
    units.stick(sticky_);
    std::size_t next = 0;
    for (std::size_t number = 0; number < count_; ++number) {
        const Kind& of = kinds_[number];
        UnitTexts* const texts =
            of.is_other_reading ? units.add_other_reading() : units.add(of.kind);
        if (texts == nullptr) {
            return;  // refused
        }
        units.note_asked(of.asked);
        for (; next < text_count_ && texts_[next].unit == number; ++next) {
            const Text& text = texts_[next];
            const ByteView from = text.in_frame ? packet.frame.bytes : ByteView{bytes_};
            if (packet.load == load_ || !is_named(text.field)) {
                texts->set(text.field, from.subspan(text.at, text.size));
            }
        }
    }
}

void HeldUnits::give_back_service(std::size_t row, ServiceRowsOutcome& outcome) const noexcept {
    if (service_.service != nullptr) {
        outcome.with_service |= row_bit(row);
        outcome.packets[row] = service_;
    }
    if (normalization_.any()) {
        outcome.normalize(row) = normalization_;
    }
}

void BurstUnits::find_again(std::size_t row, const UnitSource& packet,
                            const HeldUnits& held) noexcept {
    const bool is_of_service = packet.service.service != nullptr;
    if (const StickyBytes* const bytes = held.to_read_again(packet.load, is_of_service)) {
        finder_.settle(finder_.parser, *bytes, UnitOutcome::Reverted);
        find(row, packet);
        if (held.client().is_proxied) {
            UnitSink{found_, row, packet.service}.note_client(held.client().address);
        }
        return;
    }
    begin_row(row);
    UnitSink sink{found_, row, packet.service};
    held.give_back(packet, sink);
    end_row(row, sink);
}

}  // namespace sluice
