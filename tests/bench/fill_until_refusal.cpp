#include "tests/bench/fill_until_refusal.hpp"

#include "lib/bucket/table/bucket_store.hpp"
#include "tests/bench/keys.hpp"

#include <array>

namespace sluice::bench {
namespace {

using namespace std::chrono_literals;

constexpr LimitSlot kSlot = 1;
constexpr std::size_t kBurst = 32;
constexpr std::size_t kGrowth = 8;  // one of so many new keys is one more than have ended

std::size_t live_entries(const BucketTable& table, Instant now) {
    std::size_t live = 0;
    for (std::size_t i = 0; i < table.slots(); ++i) {
        const Entry entry = table.read(i);
        live += !entry.empty() && !entry.idle(now) ? 1U : 0U;
    }
    return live;
}

}  // namespace

double bytes_per_key_at_first_refusal(std::size_t keys, std::uint64_t seed) {
    const AnyLimit limit = TokenBucketLimit{*Limit::make({Units{1}, 100s}, Units{100'000})};
    std::array<SlotRow, 2> rows{};
    rows[kSlot].limit = &limit;
    BucketStore store{keys, 16};
    const KeyHasher hash{{seed, ~seed}};
    Now now{Instant{1h}, {}};
    store.adopt(rows, 0, 1h, now);
    // A key comes every nanosecond; how long it lives is how many there are.
    const std::uint64_t start = store.keys.slots() * 8 / 10;
    for (std::uint64_t number = 0;; ++number) {
        now.at += 1ns;
        if (number % kBurst == 0) {
            (void)store.begin_burst(now);
        }
        const KeyWords words = key_words(number);
        const TableKey key{hash(1, std::as_bytes(std::span{words})), kSlot};
        Entry* entry = store.keys.make_place(key, store.registry, now);
        if (entry == nullptr) {
            break;
        }
        // The first generation ends one by one while the second comes; then they become more.
        const std::uint64_t grown = number > 2 * start ? (number - 2 * start) / kGrowth : 0;
        const std::uint64_t life = start + grown;
        entry->file({now.at + Nanoseconds{static_cast<std::int64_t>(life)}, 0}, key.slot_and_tag,
                    {});
        entry->release();
        store.registry.came(kSlot);
    }
    const double live = static_cast<double>(live_entries(store.keys, now.at));
    return static_cast<double>(store.keys.bytes() + store.parents.bytes()) / live;
}

}  // namespace sluice::bench
