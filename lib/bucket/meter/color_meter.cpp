#include "lib/bucket/meter/color_meter.hpp"

#include "lib/share/word.hpp"

#include <algorithm>

namespace sluice {
namespace {

Color color_of(const ColorLimit& limit, Demand demand) noexcept {
    return limit.mode() == ColorMode::Aware ? demand.color : Color::Green;
}

bool coupled(const ColorLimit& limit) noexcept {
    return limit.variant() == ColorVariant::Rfc2697;
}

// Yellow comes out of the peak bucket too, not out of one of its own.
bool has_peak(const ColorLimit& limit) noexcept {
    return limit.variant() == ColorVariant::Rfc2698;
}

void take_down_to(Gcra& bucket, const Limit& numbers, Instant now, std::uint64_t units) noexcept {
    if (units != 0) {
        charge(bucket, numbers, now, Units{units});
    }
}

// A process that takes the memory over in between finds a debt no smaller than it was.
void charge_in_order(Gcra& bucket, const Limit& limit, Instant now, Units cost) noexcept {
    Gcra charged = bucket;
    charge(charged, limit, now, cost);
    bucket.fresh_from = charged.fresh_from;
    keep_store_order();
    bucket.below = charged.below;
}

std::uint64_t above(Units have, Units most) noexcept {
    return have > most ? have.count() - most.count() : 0;
}

}  // namespace

std::uint64_t ColorMeter::excess_debt(const ColorLimit& limit, Instant now) const noexcept {
    return debt_of(second_, limit.second(), now) - debt_of(first_, limit.first(), now);
}

bool ColorMeter::second_admits(const ColorLimit& limit, Instant now, Units cost) const noexcept {
    const Limit& second = limit.second();
    if (!coupled(limit)) {
        return admits(second_, second, now, cost);
    }
    return cost.count() <= second.burst() && excess_debt(limit, now) <= tolerance(second, cost);
}

Units ColorMeter::second_remaining(const ColorLimit& limit, Instant now) const noexcept {
    const Limit& second = limit.second();
    return coupled(limit) ? units_left(excess_debt(limit, now), second)
                          : sluice::remaining(second_, second, now);
}

std::optional<Nanoseconds> ColorMeter::second_wait(const ColorLimit& limit, Instant now,
                                                   Units cost) const noexcept {
    if (coupled(limit) && second_admits(limit, now, cost)) {
        return Nanoseconds{0};
    }
    // The second bucket only fills once the first is full: from then on it is like any other.
    return sluice::wait(second_, limit.second(), now, cost);
}

Conformance ColorMeter::check(const ColorLimit& limit, Instant now, Demand demand) const noexcept {
    const Color color = color_of(limit, demand);
    const bool green = color == Color::Green && admits(first_, limit.first(), now, demand.cost);
    const bool fits_second = color != Color::Red && second_admits(limit, now, demand.cost);
    if (green && (fits_second || !has_peak(limit))) {
        return Conformance::Green;
    }
    return fits_second ? Conformance::Yellow : Conformance::Red;
}

void ColorMeter::charge(const ColorLimit& limit, Instant now, Spending spending) noexcept {
    const bool green = spending.conformance == Conformance::Green;
    // The second before the first: of two that are coupled it never owes less than the first.
    if (!green || coupled(limit) || has_peak(limit)) {
        charge_in_order(second_, limit.second(), now, spending.cost);
        keep_store_order();
    }
    if (green) {
        charge_in_order(first_, limit.first(), now, spending.cost);
    }
}

void ColorMeter::leave_at_most(const ColorLimit& limit, Instant now, Units most) noexcept {
    const std::uint64_t first = above(sluice::remaining(first_, limit.first(), now), most);
    const std::uint64_t second = above(second_remaining(limit, now), most);
    take_down_to(first_, limit.first(), now, first);
    if (coupled(limit)) {
        take_down_to(second_, limit.second(), now, first);
    }
    take_down_to(second_, limit.second(), now, second);
}

void ColorMeter::give_back(const ColorLimit& limit, Instant now, Units units) noexcept {
    (void)relieve(first_, limit.first(), now, {units});
    (void)relieve(second_, limit.second(), now, {units});
}

// A coupled second bucket owes its own debt beyond the first's.
bool ColorMeter::forgive_excess(const ColorLimit& limit, Instant now) noexcept {
    if (!coupled(limit)) {
        const bool first = relieve(first_, limit.first(), now, kExcess);
        return relieve(second_, limit.second(), now, kExcess) || first;
    }
    const std::uint64_t first = debt_of(first_, limit.first(), now);
    const std::uint64_t second = excess_debt(limit, now);
    if (first <= limit.first().full() && second <= limit.second().full()) {
        return false;
    }
    const std::uint64_t kept = std::min(first, limit.first().full());
    first_ = owing(kept, limit.first(), now);
    second_ = owing(kept + std::min(second, limit.second().full()), limit.second(), now);
    return true;
}

Units ColorMeter::remaining(const ColorLimit& limit, Instant now) const noexcept {
    const Units second = second_remaining(limit, now);
    return has_peak(limit) ? second
                           : std::max(sluice::remaining(first_, limit.first(), now), second);
}

std::optional<Nanoseconds> ColorMeter::wait(const ColorLimit& limit, Instant now,
                                            Demand demand) const noexcept {
    const Color color = color_of(limit, demand);
    if (color == Color::Red) {
        return std::nullopt;
    }
    const std::optional<Nanoseconds> second = second_wait(limit, now, demand.cost);
    if (color == Color::Yellow || has_peak(limit)) {
        return second;
    }
    const std::optional<Nanoseconds> first = sluice::wait(first_, limit.first(), now, demand.cost);
    return first && second ? std::min(*first, *second) : (first ? first : second);
}

void ColorMeter::renumber(const ColorLimit& from, const ColorLimit& to, Instant changed) noexcept {
    if (!coupled(to)) {
        sluice::renumber(first_, from.first(), to.first(), changed);
        sluice::renumber(second_, from.second(), to.second(), changed);
        return;
    }
    const std::uint64_t first =
        renumbered_debt(debt_of(first_, from.first(), changed), from.first(), to.first());
    const std::uint64_t second =
        renumbered_debt(excess_debt(from, changed), from.second(), to.second());
    first_ = owing(first, to.first(), changed);
    second_ = owing(std::min(first + second, to.second().longest_debt()), to.second(), changed);
}

Instant ColorMeter::fresh_from() const noexcept {
    return std::max(first_.fresh_from, second_.fresh_from);
}

}  // namespace sluice
