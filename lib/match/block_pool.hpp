#pragma once
#include "lib/match/classifier_parts.hpp"

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

namespace sluice {

// Blocks of bits, each kept once.
class BlockPool {
public:
    [[nodiscard]] std::uint32_t add(const Block& block);
    [[nodiscard]] std::size_t size() const noexcept { return blocks_.size(); }
    [[nodiscard]] const Block& operator[](std::uint32_t at) const noexcept { return blocks_[at]; }
    [[nodiscard]] std::vector<Block> take() { return std::move(blocks_); }

private:
    struct Hash {
        [[nodiscard]] std::size_t operator()(const Block& block) const noexcept;
    };
    std::vector<Block> blocks_;
    std::unordered_map<Block, std::uint32_t, Hash> ids_;
};

}  // namespace sluice
