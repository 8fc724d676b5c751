#pragma once
#include "lib/base/bytes.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace sluice {

// What a bucket is filed under: a keyed hash of the limit's identity and the canonical bytes of its
// key parts. All 64 bits take part (line and fingerprint): at 1e6 live keys a flood of 1e6 new ones
// meets an equal one with a chance of about 1 in 2e7.
struct GroupKey {
    std::uint64_t hash = 0;
    [[nodiscard]] bool operator==(const GroupKey&) const noexcept = default;
};

using HashSecret = std::array<std::uint64_t, 2>;

// SipHash-1-3 (Aumasson, Bernstein 2012; the variant of Rust's and Ruby's hash tables): keyed, so
// nobody who does not know the secret can aim two keys at one place.
class KeyHasher {
public:
    explicit constexpr KeyHasher(HashSecret secret) noexcept : secret_{secret} {}

    [[nodiscard]] GroupKey operator()(std::uint64_t limit_identity, ByteView key) const noexcept;

private:
    HashSecret secret_;
};

}  // namespace sluice
