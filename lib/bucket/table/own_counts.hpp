#pragma once
#include "lib/base/units.hpp"
#include "lib/bucket/meter/any_limit.hpp"
#include "lib/bucket/table/entry.hpp"

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace sluice {

// Counts that keys have in place of those of their limit by windows. An entry has no key, but for
// its tag; so of the few that share one the largest counts, and never less than the limit's.
class OwnCounts {
public:
    void add(std::uint64_t hash, Units count) { counts_.emplace_back(tag_of(hash), count.count()); }
    // Any key may have so many.
    void raise_all(Units count) { of_any_ = std::max(of_any_, count.count()); }
    void sort() { std::sort(counts_.begin(), counts_.end()); }

    // The most that a fresh bucket of the entry's key may have, where the limit has `base`.
    [[nodiscard]] Units most_of(const Entry& entry, Units base) const noexcept {
        const auto tag = static_cast<std::uint32_t>(entry.slot_and_tag() & kTagMask);
        std::uint64_t most = std::max(base.count(), of_any_);
        for (auto at = std::lower_bound(counts_.begin(), counts_.end(), std::pair{tag, kLeast});
             at != counts_.end() && at->first == tag; ++at) {
            most = std::max(most, at->second);
        }
        return Units{most};
    }
    [[nodiscard]] bool operator==(const OwnCounts&) const = default;

private:
    static constexpr std::uint64_t kTagMask = (std::uint64_t{1} << kTagBits) - 1;
    static constexpr std::uint64_t kLeast = 0;
    [[nodiscard]] static std::uint32_t tag_of(std::uint64_t hash) noexcept {
        return static_cast<std::uint32_t>(TableKey{GroupKey{hash}, 0}.slot_and_tag & kTagMask);
    }

    std::uint64_t of_any_ = 0;
    std::vector<std::pair<std::uint32_t, std::uint64_t>> counts_{};  // by tag
};

// True if a limit counts what was used in windows, which means the same under any count.
[[nodiscard]] inline bool counts_in_windows(const AnyLimit& limit) noexcept {
    return counting_of(limit) == Counting::Windows;
}

// The same windows with another count.
[[nodiscard]] inline AnyLimit with_count(AnyLimit limit, Units count) noexcept {
    std::visit(
        [count](auto& one) noexcept {
            if constexpr (requires { one.numbers.count = count.count(); }) {
                one.numbers.count = count.count();
            }
        },
        limit);
    return limit;
}

}  // namespace sluice
