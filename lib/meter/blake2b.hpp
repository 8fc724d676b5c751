#pragma once
#include "lib/base/bytes.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace sluice {

// BLAKE2b with a digest of 128 bits, without a key (RFC 7693). For names of long texts: two
// programs have to give a text the same name without a secret between them, and nobody may find
// another text of that name. Buckets are found by the keyed hashes, which are many times faster.
class Blake2b {
public:
    static constexpr std::size_t kBlock = 128;
    using Digest = std::array<std::byte, 16>;

    Blake2b() noexcept;
    void add(ByteView bytes) noexcept;
    // Once, at the end.
    [[nodiscard]] Digest digest() noexcept;

private:
    void compress(bool last) noexcept;

    std::array<std::uint64_t, 8> state_;
    std::uint64_t count_ = 0;              // bytes that have been compressed
    std::array<std::byte, kBlock> block_;  // that comes next
    std::size_t filled_ = 0;               // of it; a full one waits: it may be the last
};

}  // namespace sluice
