#include "lib/l7/http1/path_costs.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace sluice {
namespace {

constexpr std::byte kSlash{'/'};

// FNV-1a. Prefixes are the operator's, so a path cannot make the search longer.
constexpr std::uint64_t kHashBegin = 0xCBF2'9CE4'8422'2325;
constexpr std::uint64_t hash_step(std::uint64_t hash, std::byte byte) noexcept {
    return (hash ^ std::to_integer<std::uint64_t>(byte)) * 0x0000'0100'0000'01B3;
}

constexpr std::size_t slot_of(std::uint64_t hash, std::size_t slots) noexcept {
    return static_cast<std::size_t>(hash ^ hash >> 32U) & (slots - 1);
}

bool is_root(std::string_view prefix) noexcept {
    return prefix == "/";
}

}  // namespace

bool is_path_prefix(std::string_view text) noexcept {
    return text.starts_with('/') && text.size() <= kMaxPathPrefix &&
           (is_root(text) || !text.ends_with('/'));
}

bool are_sound(const std::vector<PathCost>& costs, std::uint32_t most) noexcept {
    const auto comes_late = [](const PathCost& a, const PathCost& b) {
        return a.prefix >= b.prefix;
    };
    return costs.size() <= kMaxPathCosts &&
           std::all_of(costs.begin(), costs.end(),
                       [&](const PathCost& cost) {
                           return is_path_prefix(cost.prefix) && cost.cost >= 1 &&
                                  cost.cost <= most;
                       }) &&
           std::adjacent_find(costs.begin(), costs.end(), comes_late) == costs.end();
}

PathCosts::PathCosts(const std::vector<PathCost>& costs, std::uint32_t otherwise)
    : slots_(std::bit_ceil(2 * costs.size() + 1)), otherwise_{otherwise}, of_root_{otherwise} {
    for (const PathCost& cost : costs) {
        if (is_root(cost.prefix)) {
            of_root_ = cost.cost;
        } else {
            put(cost);
        }
    }
}

void PathCosts::put(const PathCost& cost) {
    std::uint64_t hash = kHashBegin;
    for (const std::byte byte : bytes_of(cost.prefix)) {
        hash = hash_step(hash, byte);
    }
    std::size_t slot = slot_of(hash, slots_.size());
    while (slots_[slot].size != 0) {
        slot = (slot + 1) & (slots_.size() - 1);
    }
    slots_[slot] = {hash, static_cast<std::uint32_t>(prefixes_.size()),
                    static_cast<std::uint32_t>(cost.prefix.size()), cost.cost};
    prefixes_ += cost.prefix;
    longest_ = std::max(longest_, cost.prefix.size());
}

const PathCosts::Slot* PathCosts::find(ByteView prefix, std::uint64_t hash) const noexcept {
    for (std::size_t slot = slot_of(hash, slots_.size()); slots_[slot].size != 0;
         slot = (slot + 1) & (slots_.size() - 1)) {
        const Slot& found = slots_[slot];
        if (found.hash == hash && found.size == prefix.size() &&
            std::memcmp(prefixes_.data() + found.at, prefix.data(), prefix.size()) == 0) {
            return &found;
        }
    }
    return nullptr;
}

std::uint32_t PathCosts::cost_of(ByteView path) const noexcept {
    if (path.empty() || path.front() != kSlash) {
        return otherwise_;
    }
    std::uint32_t cost = of_root_;
    std::uint64_t hash = hash_step(kHashBegin, kSlash);
    const std::size_t end = std::min(path.size(), longest_);
    for (std::size_t at = 1; at <= end; ++at) {
        if (at == path.size() || path[at] == kSlash) {
            const Slot* const found = find(path.first(at), hash);
            cost = found != nullptr ? found->cost : cost;
        }
        if (at < end) {
            hash = hash_step(hash, path[at]);
        }
    }
    return cost;
}

}  // namespace sluice
