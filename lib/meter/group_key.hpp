#pragma once
#include "lib/base/bytes.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace sluice {

// What a bucket is filed under: a keyed hash of the limit's identity and the canonical bytes of its
// key parts. The table keeps 31 bits of it beside the place: a new key is taken for one of the
// eight it meets there with a chance of 8 / 2^31, whatever the number of keys.
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
