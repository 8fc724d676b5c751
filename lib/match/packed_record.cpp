#include "lib/match/packed_record.hpp"

#include <algorithm>

namespace sluice {

// Step by step, but that those between one bound and the next are one entry and its tail.
std::optional<PackedRecord> PackedRecord::make(Steps steps, Wide last, unsigned bits) {
    PackedRecord record;
    const unsigned below = std::max(bits, kBoundBits) - kBoundBits;
    const Wide finer = (Wide{1} << below) - 1;
    std::size_t next = 1;
    while (next < steps.size()) {
        const Wide bound = steps[next].first & ~finer;
        const std::uint32_t before = steps[next - 1].row;
        const Steps from = steps.subspan(next);
        const auto together = static_cast<std::size_t>(
            std::find_if(from.begin(), from.end(),
                         [&](const auto& step) { return (step.first & ~finer) != bound; }) -
            from.begin());
        next += together;
        if (together == 1 && from.front().first == bound) {
            if (!record.add_entry(rest_of(bound, bits), from.front().row)) {
                return std::nullopt;
            }
            continue;
        }
        if (below > kBoundBits || !record.add_tail(from.first(together), before, bound) ||
            !record.add_entry(rest_of(bound, bits),
                              kMaxValue + static_cast<std::uint32_t>(record.tail_count_))) {
            return std::nullopt;
        }
        // Behind it, the last of them goes on, unless nothing is there or another begins.
        const Wide end = (bound | finer) + 1;
        const bool goes_on =
            (bound | finer) != last && (next == steps.size() || steps[next].first != end);
        if (goes_on && !record.add_entry(rest_of(end, bits), steps[next - 1].row)) {
            return std::nullopt;
        }
    }
    return record.wrap(steps.front().row) ? std::optional{record} : std::nullopt;
}

PackedRecord PackedRecord::of_value(std::uint32_t value) {
    PackedRecord record;
    record.entries_[record.entry_count_++] = entry_of(0, value);
    return record;
}

bool PackedRecord::add_entry(std::uint64_t bits, std::uint32_t value) {
    if (entry_count_ == entries_.size()) {
        return false;
    }
    entries_[entry_count_++] = entry_of(bits, value);
    return true;
}

// `before`: the value of keys before the first of these steps, which begin from the bound on.
bool PackedRecord::add_tail(Steps steps, std::uint32_t before, Wide bound) {
    if (steps.front().first == bound) {
        before = steps.front().row;
        steps = steps.subspan(1);
    }
    const bool is_one = steps.size() == 1;
    if (tail_count_ == kMostTails || steps.size() > kTailWords ||
        (!is_one && steps.back().row != before)) {
        return false;
    }
    std::uint64_t* const tail = &tails_[tail_count_ * kTailWords];
    tail[0] =
        is_one ? entry_of(0, before) : entry_of(fine_bits(steps.front().first), steps.front().row);
    tail[1] = entry_of(fine_bits(steps.back().first), steps.back().row);
    ++tail_count_;
    return true;
}

// So that keys before the first entry find their value in the last.
bool PackedRecord::wrap(std::uint32_t before) {
    if (entry_count_ != 0 && static_cast<std::uint8_t>(entries_[entry_count_ - 1]) == before) {
        return true;
    }
    if (!add_entry(0, before)) {
        return false;
    }
    const auto begin = entries_.begin();
    const auto end = begin + static_cast<std::ptrdiff_t>(entry_count_);
    std::rotate(begin, end - 1, end);
    return true;
}

void PackedRecord::write(std::uint64_t* to, std::size_t entries) const {
    std::uint64_t* const rest = std::copy_n(entries_.begin(), entry_count_, to);
    std::fill(rest, to + entries, entries_[entry_count_ - 1]);
    std::copy_n(tails_.begin(), tail_count_ * kTailWords, to + entries);
}

}  // namespace sluice
