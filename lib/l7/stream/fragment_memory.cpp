#include "lib/l7/stream/fragment_memory.hpp"

#include "lib/l7/stream/ip_fragment.hpp"

namespace sluice {
namespace {

void count(const FragmentSource& fragment, UnitEvent event, std::uint64_t times = 1) noexcept {
    fragment.counters[static_cast<std::size_t>(event)].add(times);
}

UnitEvent event_of(FragmentOutcome outcome) noexcept {
    switch (outcome) {
        case FragmentOutcome::Follows:
            return UnitEvent::FragmentFollowed;
        case FragmentOutcome::Orphan:
            return UnitEvent::FragmentOrphan;
        case FragmentOutcome::Overlaps:
            return UnitEvent::FragmentOverlap;
    }
    return UnitEvent::FragmentOrphan;
}

void note(FragmentTable& table, const IpFragment& fragment, const FragmentSource& first,
          bool forwarded) noexcept {
    const std::uint64_t evicted = table.counters().of(FragmentEvent::Evicted);
    const FragmentVerdict verdict = table.first(fragment, !forwarded, first.now);
    const bool overlaps = verdict.outcome == FragmentOutcome::Overlaps;
    count(first, overlaps ? UnitEvent::FragmentOverlap : UnitEvent::FragmentFirst);
    count(first, UnitEvent::FragmentEvicted, table.counters().of(FragmentEvent::Evicted) - evicted);
}

}  // namespace

void FragmentMemory::remember(void* memory, const FragmentSource& first, bool forwarded) noexcept {
    FragmentTable& table = static_cast<FragmentMemory*>(memory)->table_;
    if (first.headers.frag == Fragment::First) {
        if (const auto fragment = read_fragment(first.headers, first.frame, first.hash)) {
            note(table, *fragment, first, forwarded);
        }
    }
    if (const auto around = read_fragment_around(first.headers, first.frame, first.hash)) {
        note(table, *around, first, forwarded);
    }
}

std::optional<Reason> FragmentMemory::refuse(void* memory, const FragmentSource& later) noexcept {
    FragmentTable& table = static_cast<FragmentMemory*>(memory)->table_;
    const auto fragment = read_fragment(later.headers, later.frame, later.hash);
    if (!fragment) {
        return std::nullopt;
    }
    const FragmentVerdict verdict = table.later(*fragment, later.now);
    count(later, event_of(verdict.outcome));
    if (!verdict.drop) {
        return std::nullopt;
    }
    return verdict.outcome == FragmentOutcome::Overlaps ? Reason::OverlappingFragment
                                                        : Reason::FragmentOfRefused;
}

FragmentFollower FragmentMemory::follower() noexcept {
    if (policy_ == FragmentPolicy::Judge) {
        return {};
    }
    return {.remember = &remember, .refuse = &refuse, .memory = this};
}

}  // namespace sluice
