#include "lib/l7/stream/fragment_table.hpp"

#include "lib/l7/stream/tick.hpp"

#include <algorithm>
#include <bit>
#include <new>

namespace sluice {
namespace {

std::size_t fragment_lines_for(std::size_t datagrams) noexcept {
    // Half of the places stay empty, so that a line is rarely full before the table is.
    return std::bit_ceil(std::max<std::size_t>(datagrams / 2, 1));
}

}  // namespace

FragmentTable::FragmentTable(const FragmentBudget& budget)
    : memory_{fragment_lines_for(budget.datagrams) * sizeof(Line)},
      check_memory_{fragment_lines_for(budget.datagrams) * sizeof(LineChecks)},
      lines_{static_cast<Line*>(memory_.data())},
      checks_{static_cast<LineChecks*>(check_memory_.data())},
      mask_{fragment_lines_for(budget.datagrams) - 1},
      timeout_ticks_{ticks_of(budget.timeout) + 1},
      on_overlap_{budget.on_overlap},
      on_orphan_{budget.on_orphan} {
    for (std::size_t i = 0; i <= mask_; ++i) {
        Line& line = *new (&lines_[i]) Line{};
        new (&checks_[i]) LineChecks{};
        for (std::size_t way = 0; way < kWays; ++way) {
            line.datagrams[way].slot = static_cast<std::uint8_t>(way);
        }
    }
}

std::uint64_t FragmentTable::memory_of(const FragmentBudget& budget) noexcept {
    const std::size_t lines = fragment_lines_for(budget.datagrams);
    return LineMemory::taken_for(lines * sizeof(Line)) +
           LineMemory::taken_for(lines * sizeof(LineChecks));
}

FragmentTable::Datagram* FragmentTable::find(std::uint64_t digest, std::uint32_t ticks) noexcept {
    for (Datagram& one : lines_[digest & mask_].datagrams) {
        if (one.state != State::Free && one.tag == tag_of(digest)) {
            if (ticks - one.began <= timeout_ticks_) {
                return &one;
            }
            one.state = State::Free;
        }
    }
    return nullptr;
}

// Datagrams of a line stand in the order in which they began.
FragmentTable::Datagram& FragmentTable::place_for(std::uint64_t digest,
                                                  std::uint32_t ticks) noexcept {
    auto& datagrams = lines_[digest & mask_].datagrams;
    auto place = std::find_if(datagrams.begin(), datagrams.end(), [&](const Datagram& one) {
        return one.state == State::Free || ticks - one.began > timeout_ticks_;
    });
    if (place == datagrams.end()) {
        count(FragmentEvent::Evicted);
        place = datagrams.begin();
    }
    std::rotate(place, place + 1, datagrams.end());
    return datagrams.back();
}

FragmentVerdict FragmentTable::overlapped(Datagram& datagram) noexcept {
    count(FragmentEvent::Overlap);
    if (on_overlap_ == OnOverlap::Discard) {
        datagram.state = State::Discarded;
    }
    return {FragmentOutcome::Overlaps, datagram.state != State::Passes};
}

// Counts the bytes that have come in all; a datagram that is whole is forgotten.
void FragmentTable::add_bytes(Datagram& datagram, const IpFragment& fragment) noexcept {
    datagram.come = static_cast<std::uint16_t>(
        std::min<std::uint32_t>(std::uint32_t{datagram.come} + fragment.size, 0xFFFF));
    if (!fragment.more) {
        datagram.total = static_cast<std::uint16_t>(fragment.offset + fragment.size);
    }
    if (datagram.total != 0 && datagram.come == datagram.total &&
        datagram.state != State::Discarded) {
        datagram.state = State::Free;
        count(FragmentEvent::Completed);
    }
}

FragmentVerdict FragmentTable::first(const IpFragment& fragment, bool drop, Instant now) noexcept {
    const std::uint32_t ticks = ticks_of(now.time_since_epoch());
    count(FragmentEvent::First);
    if (Datagram* known = find(fragment.digest, ticks)) {
        if (known->state == State::Discarded || known->first_end != fragment.size) {
            return overlapped(*known);
        }
        known->state = drop ? State::Drops : known->state;
        return {FragmentOutcome::Follows, known->state == State::Drops};
    }
    Datagram& made = place_for(fragment.digest, ticks);
    made = {.tag = tag_of(fragment.digest),
            .began = ticks,
            .first_end = fragment.size,
            .state = drop ? State::Drops : State::Passes,
            .slot = made.slot};
    checks_[fragment.digest & mask_].of_slot[made.slot] = {};
    add_bytes(made, fragment);
    return {FragmentOutcome::Follows, drop};
}

// True if it claims bytes that others have, or lies where the datagram does not reach.
bool FragmentTable::overlaps(const Datagram& datagram, const IpFragment& fragment) const noexcept {
    const std::uint32_t end = std::uint32_t{fragment.offset} + fragment.size;
    const std::uint32_t come = std::uint32_t{datagram.come} + fragment.size;
    const std::uint32_t total = fragment.more ? datagram.total : end;
    const bool other_end = datagram.total != 0 && total != datagram.total;
    return fragment.offset < datagram.first_end || other_end || end > 0xFFFF ||
           (total != 0 && (end > total || come > total));
}

// The place of this fragment's check; nullptr: there is none.
std::uint8_t* FragmentTable::check_for(const Datagram& datagram,
                                       const IpFragment& fragment) noexcept {
    const std::size_t step = datagram.first_end;
    if (fragment.check == 0 || step == 0 || fragment.offset % step != 0 || fragment.offset < step) {
        return nullptr;
    }
    const std::size_t place = fragment.offset / step - 1;
    Checks& checks = checks_[fragment.digest & mask_].of_slot[datagram.slot];
    return place < checks.size() ? &checks[place] : nullptr;
}

FragmentVerdict FragmentTable::later(const IpFragment& fragment, Instant now) noexcept {
    const std::uint32_t ticks = ticks_of(now.time_since_epoch());
    Datagram* known = find(fragment.digest, ticks);
    if (known == nullptr) {
        count(FragmentEvent::Orphan);
        return {FragmentOutcome::Orphan, on_orphan_ == OnOrphan::Drop};
    }
    std::uint8_t* const check = check_for(*known, fragment);
    const bool drop = known->state == State::Drops;
    if (check != nullptr && *check == fragment.check && known->state != State::Discarded) {
        count(FragmentEvent::Followed);
        return {FragmentOutcome::Follows, drop};
    }
    if (known->state == State::Discarded || (check != nullptr && *check != 0) ||
        overlaps(*known, fragment)) {
        return overlapped(*known);
    }
    if (check != nullptr) {
        *check = fragment.check;
    }
    count(FragmentEvent::Followed);
    add_bytes(*known, fragment);
    return {FragmentOutcome::Follows, drop};
}

}  // namespace sluice
