#pragma once
#include "lib/base/result.hpp"
#include "lib/base/units.hpp"
#include "lib/bucket/hash/siphash.hpp"

#include <array>
#include <cstdint>
#include <type_traits>

namespace sluice {

struct StateShape;

// The kernel's name for this boot.
[[nodiscard]] std::array<char, 40> this_boot();

// Instants that a process may begin at: for at least half a year they are good for every limit.
inline constexpr Instant kLatestBegin =
    kEndOfInstants - kLongestDebt - std::chrono::hours{24 * 183};

// Secrets that must stay the same for as long as buckets are to be found again.
struct StateSecrets {
    HashSecret hash{};
};

// The identity of a region's files. Written once, before the region has its name; the sum in it
// says that every bit is as it was then.
struct RegionHeader {
    std::array<char, 8> magic{};
    std::uint32_t layout = 0;
    std::uint32_t workers = 0;
    std::array<char, 40> boot_id{};
    std::uint64_t id = 0;  // of the worker files that belong to it
    std::uint64_t keys = 0;
    std::uint64_t pool_lines = 0;
    std::uint64_t rss_mapping = 0;
    std::uint64_t lineage = 0;
    std::int64_t lead = 0;  // of its instants, before CLOCK_BOOTTIME
    StateSecrets secrets;
    std::uint64_t sum = 0;  // of all before it

    [[nodiscard]] static RegionHeader make(const StateShape& shape, std::uint64_t id);
    // The sum, once all else is there.
    void seal() noexcept { sum = sum_now(); }

    // Checks that it is of this layout, as it was written, with sizes that can be.
    [[nodiscard]] Result<Done> check() const;
    // The same of one whose instants go on: of this boot, with instants that can be.
    [[nodiscard]] Result<Done> check_running() const;
    [[nodiscard]] bool is_of_this_boot() const;
    [[nodiscard]] bool has_shape(const StateShape& shape) const noexcept;
    [[nodiscard]] StateShape shape() const noexcept;

private:
    [[nodiscard]] std::uint64_t sum_now() const noexcept;
};
static_assert(std::has_unique_object_representations_v<RegionHeader>, "its sum is over its bytes");

}  // namespace sluice
