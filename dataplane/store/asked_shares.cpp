#include "dataplane/store/asked_shares.hpp"

#include "lib/base/wide.hpp"

#include <algorithm>

namespace sluice {

std::int64_t pay_time(const StoreAsking& limit, std::uint64_t units) {
    constexpr Wide kYear = Wide{366} * 86'400 * 1'000'000'000;
    constexpr Wide kMicrosecond = 1'000;
    const bool is_bucket = limit.count == AskedCount::Bucket;
    const Wide period = is_bucket ? Wide{limit.period} : limit.period * kMicrosecond;
    const Wide parts = is_bucket ? Wide{limit.parts} : Wide{limit.most};
    return parts == 0 ? static_cast<std::int64_t>(kYear)
                      : static_cast<std::int64_t>(
                            std::min<Wide>((period * units + parts - 1) / parts, kYear));
}

AskedShares::Share* AskedShares::place_of(const StoreQuestion& question, std::int64_t now) {
    Set& set = set_of(question);
    const auto is_its = [&](const Share& share) {
        return share.hash == question.hash && share.slot == question.slot;
    };
    const auto found = std::ranges::find_if(set, is_its);
    if (found != set.end()) {
        return &*found;
    }
    const auto first = std::ranges::min_element(set, {}, &Share::paid_at);
    if (first->paid_at > now) {
        return nullptr;
    }
    *first = {.hash = question.hash, .paid_at = now, .slot = question.slot};
    return &*first;
}

void AskedShares::note_level(const StoreQuestion& question, std::uint64_t used, Nanoseconds now) {
    Share* const share = place_of(question, now.count());
    if (share != nullptr) {
        const std::uint64_t units = std::min(used, question.limit.most);
        share->paid_at = std::max(share->paid_at, now.count() + pay_time(question.limit, units));
    }
}

AskedShares::Decision AskedShares::decide(const StoreQuestion& question, Nanoseconds now) {
    const StoreAsking& limit = question.limit;
    if (limit.down == AskedDown::Open || limit.down == AskedDown::Closed) {
        return {.admitted = limit.down == AskedDown::Open};
    }
    Share* const share = place_of(question, now.count());
    if (share == nullptr) {
        const Set& set = set_of(question);
        const std::int64_t free_at = std::ranges::min_element(set, {}, &Share::paid_at)->paid_at;
        return {.wait = Nanoseconds{free_at} - now};
    }
    const std::uint64_t times = limit.down == AskedDown::LocalShare ? limit.machines : 1;
    const std::int64_t charge = pay_time(limit, times * question.cost);
    const std::int64_t least = limit.down == AskedDown::LocalShare ? charge : 0;
    const std::int64_t burst = std::max(pay_time(limit, limit.most), least);
    const std::int64_t owed_until = std::max(share->paid_at, now.count());
    if (question.cost > limit.most) {
        return {};
    }
    const Nanoseconds wait{owed_until - now.count() + charge - burst};
    if (wait > Nanoseconds{0}) {
        return {.wait = wait};
    }
    share->paid_at = owed_until + charge;
    return {.admitted = true};
}

}  // namespace sluice
