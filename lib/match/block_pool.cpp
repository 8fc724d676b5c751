#include "lib/match/block_pool.hpp"

namespace sluice {

std::size_t BlockPool::Hash::operator()(const Block& block) const noexcept {
    std::uint64_t hash = 0;
    for (const std::uint64_t word : block.words) {
        hash = (hash ^ word) * 0x9E37'79B9'7F4A'7C15;
        hash ^= hash >> 29;
    }
    return hash;
}

std::uint32_t BlockPool::add(const Block& block) {
    const auto [at, fresh] = ids_.try_emplace(block, static_cast<std::uint32_t>(blocks_.size()));
    if (fresh) {
        blocks_.push_back(block);
    }
    return at->second;
}

}  // namespace sluice
