#pragma once
#include "lib/base/bytes.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// The cost of a request by where its path begins: `cost: {path: {/v1/export: 25}, default: 1}`.
namespace sluice {

// Paths that begin so, segment by segment: /login is where /login and /login/x begin, and not
// /loginx. `/` is where all paths begin.
struct PathCost {
    std::string prefix;  // in the paths' normal form, without a slash at its end
    std::uint32_t cost = 1;

    [[nodiscard]] bool operator==(const PathCost&) const noexcept = default;
};

inline constexpr std::size_t kMaxPathCosts = 1024;   // of a rule
inline constexpr std::size_t kMaxPathPrefix = 1024;  // bytes

[[nodiscard]] bool is_path_prefix(std::string_view text) noexcept;
// True if prefixes are such, ascending, each there once and no more than can be, at costs from 1 to
// `most`.
[[nodiscard]] bool are_sound(const std::vector<PathCost>& costs, std::uint32_t most) noexcept;

// Immutable. A path is gone through once, up to the longest prefix, however many prefixes there
// are; what its slashes end is found by hashing.
class PathCosts {
public:
    // `costs` are sound.
    PathCosts(const std::vector<PathCost>& costs, std::uint32_t otherwise);

    // By the longest of the prefixes; of no path, `*` for one, what all others cost.
    [[nodiscard]] std::uint32_t cost_of(ByteView path) const noexcept;

private:
    struct Slot {
        std::uint64_t hash = 0;
        std::uint32_t at = 0;    // in prefixes_
        std::uint32_t size = 0;  // 0: empty
        std::uint32_t cost = 0;
    };

    // nullptr: it is none of the prefixes.
    [[nodiscard]] const Slot* find(ByteView prefix, std::uint64_t hash) const noexcept;
    void put(const PathCost& cost);

    std::vector<Slot> slots_;  // a power of two, at most half of them taken
    std::string prefixes_;
    std::size_t longest_ = 0;
    std::uint32_t otherwise_;
    std::uint32_t of_root_;  // of a path without a longer prefix
};

}  // namespace sluice
