#pragma once
#include "lib/base/bytes.hpp"
#include "lib/base/wide.hpp"
#include "lib/bucket/hash/aes_hash.hpp"
#include "lib/bucket/hash/siphash.hpp"

#include <cstdint>

namespace sluice {

// A bucket's name in its table: a keyed hash of the limit's identity and the canonical bytes of its
// key parts.
struct GroupKey {
    std::uint64_t hash = 0;
    [[nodiscard]] bool operator==(const GroupKey&) const noexcept = default;
};

// Keyed, so nobody who does not know the secret can aim two keys at one place: AES rounds where the
// CPU has them, SipHash-1-3 where it has not.
class KeyHasher {
public:
    explicit KeyHasher(const HashSecret& secret) noexcept
        : has_aes_{AesHash::works_here()},
          aes_{has_aes_ ? AesHash{secret} : AesHash{}},
          secret_{secret} {}

    // A digest of the key's bytes alone: made once for all limits that share a key.
    [[nodiscard]] std::uint64_t digest(ByteView key) const noexcept {
        return has_aes_ ? aes_(key) : siphash_1_3(secret_, key);
    }

    // For whoever hashes many keys: nullptr where the CPU has no AES rounds.
    [[nodiscard]] const AesHash* aes() const noexcept { return has_aes_ ? &aes_ : nullptr; }

    // One key's places under different limits have nothing to do with each other.
    [[nodiscard]] static GroupKey key_under(std::uint64_t identity, std::uint64_t digest) noexcept {
        return key_from(start_of(identity), digest);
    }
    // The same in two steps: the first is a limit's, for all its keys.
    [[nodiscard]] static std::uint64_t start_of(std::uint64_t identity) noexcept {
        return identity * kOdd;
    }
    [[nodiscard]] static GroupKey key_from(std::uint64_t start, std::uint64_t digest) noexcept {
        const Wide product = static_cast<Wide>(digest + start) * kOdd;
        return {static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64)};
    }

    [[nodiscard]] GroupKey operator()(std::uint64_t identity, ByteView key) const noexcept {
        return key_under(identity, digest(key));
    }

private:
    static constexpr std::uint64_t kOdd = 0x9E37'79B9'7F4A'7C15;

    bool has_aes_;
    AesHash aes_;
    HashSecret secret_;
};

}  // namespace sluice
