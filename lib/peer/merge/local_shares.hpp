#pragma once
#include "lib/base/lazy_array.hpp"
#include "lib/peer/merge/account.hpp"
#include "lib/peer/merge/bucket_state.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace sluice {

// A bucket of the cluster that was charged without a note while the store was away; or a window,
// whose units are all noted, so that there are none to be told.
struct LocalShare {
    Account account{};         // its hash is 0: nobody's
    std::uint64_t units = 0;   // admitted so, that the store is to be told of yet
    BucketState before;        // the copy as it would be without what these were charged
    BucketState least;         // what the store owes at least, unless it has lost something
    Instant over{};            // when the copy owes nothing any more: then nothing is to be told
    std::uint32_t outage = 0;  // that it was charged in last
};

// The share of the window that is the copy's by now: what that of the one before leaves out is left
// out of it, too, where that counts still.
[[nodiscard]] inline LocalShare rolled(const LocalShare& share, const Account& account,
                                       const BucketState& copy) noexcept {
    LocalShare next{.account = account, .before = copy, .least = copy};
    if (copy.lasts == 2 && share.least.lasts == 2) {
        const WindowCounts former = moved_to(share.least.counts, copy.counts.epoch, copy.lasts);
        next.least.counts.previous = std::min(former.previous, copy.counts.previous);
    }
    return next;
}

// The counts of a copy without what it was charged for other boxes. nullptr: there is no share.
[[nodiscard]] inline WindowCounts without_others(const BucketState& copy,
                                                 const LocalShare* share) noexcept {
    WindowCounts counts = copy.counts;
    if (share == nullptr || share->least.lasts != copy.lasts ||
        share->least.counts.epoch > counts.epoch) {
        return counts;
    }
    const WindowCounts least = moved_to(share->least.counts, counts.epoch, copy.lasts);
    if (share->least.counts.epoch == counts.epoch) {
        counts.current = std::min(counts.current, least.current);
    }
    counts.previous = share->least.counts.epoch + 1 >= counts.epoch
                          ? std::min(counts.previous, least.previous)
                          : counts.previous;
    return counts;
}

// Units of a charge without the store, and what the copy is charged for each.
struct SharedUnits {
    std::uint64_t units = 0;
    std::uint32_t times = 1;
};

// The local shares of a worker, each at one of a few places.
class LocalShares {
public:
    explicit LocalShares(bool any) : places_{zeroed_array<LocalShare>(any ? kPlaces : kWays)} {
        mask_ = any ? kPlaces - 1 : kWays - 1;
    }

    // nullptr: there is none.
    [[nodiscard]] LocalShare* find(const Account& account) noexcept {
        return first_of(account,
                        [&](const LocalShare& at) { return at.account.has_key_of(account); });
    }
    // `before`: the copy that these units are charged to; `least`, for a bucket that had no place.
    // nullptr: there is no place for it, since what others there have is still to be told. What is
    // paid back by now is not.
    [[nodiscard]] LocalShare* note(const Account& account, std::uint64_t units,
                                   const BucketState& before, const BucketState& least,
                                   Instant now) noexcept {
        LocalShare* share = find(account);
        if (share == nullptr) {
            share = first_of(account, [now](const LocalShare& at) { return at.over <= now; });
            share = share != nullptr
                        ? share
                        : first_of(account, [](const LocalShare& at) { return at.units == 0; });
            if (share == nullptr) {
                return nullptr;
            }
            *share = {.account = account, .units = 0, .before = before, .least = least};
        }
        share->before = share->units == 0 ? before : share->before;
        share->units += units;
        return share;
    }

private:
    static constexpr std::size_t kPlaces = 8192;
    static constexpr std::size_t kWays = 4;

    [[nodiscard]] LocalShare* first_of(const Account& account, const auto& is_it) noexcept {
        const std::size_t first = account.hash & mask_ & ~(kWays - 1);
        for (std::size_t i = first; i < first + kWays; ++i) {
            if (is_it(places_[i])) {
                return &places_[i];
            }
        }
        return nullptr;
    }

    LazyArray<LocalShare> places_;
    std::size_t mask_ = 0;
};

}  // namespace sluice
