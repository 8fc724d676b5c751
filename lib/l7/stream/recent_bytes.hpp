#pragma once
#include "lib/base/bytes.hpp"
#include "lib/base/lazy_array.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>

namespace sluice {

// The bytes of the latest segments, one behind the other in a ring: the oldest go first. A place in
// it may have been written anew since; only a digest of the bytes tells.
class RecentBytes {
public:
    // Room for so many bytes, rounded up to a power of two, of at least one segment. Pages are
    // touched as they are written. Aborts if there is no memory.
    explicit RecentBytes(std::size_t bytes)
        : size_{size_for(bytes)}, bytes_{zeroed_array<std::byte>(size_)} {}

    [[nodiscard]] static constexpr std::size_t size_for(std::size_t bytes) noexcept {
        return std::bit_ceil(bytes < kLeast ? kLeast : bytes);
    }

    // Keeps a segment's bytes, at most 65,535, in one piece. The place of the first is returned;
    // that of others is as much further on.
    std::uint32_t put(ByteView bytes) noexcept;
    // The bytes that were kept there, or what has been written over them; none: both surely not.
    [[nodiscard]] ByteView at(std::uint32_t place, std::size_t size) const noexcept;

private:
    static constexpr std::size_t kLeast = std::size_t{1} << 17;

    std::size_t size_;
    LazyArray<std::byte> bytes_;
    std::uint32_t end_ = 0;  // the place behind the last byte
};

}  // namespace sluice
