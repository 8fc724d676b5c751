#pragma once
#include "lib/base/bytes.hpp"
#include "lib/meter/siphash.hpp"

#include <array>
#include <cstdint>

// A keyed hash from the CPU's AES rounds: every block of 16 bytes is added to the state and goes
// through four rounds under keys that come of the secret. Two keys that differ in one block of the
// attacker's choice meet with a probability of at most 2^-113 (the bound for four rounds of AES,
// Keliher and Sui 2007), so nobody who does not know the secret can aim two keys at one place.
namespace sluice {

class AesHash {
public:
    // Whether this CPU has the instructions.
    [[nodiscard]] static bool works_here() noexcept;

    // Hashes nothing: for a CPU where works_here() is false.
    AesHash() noexcept = default;
    // Needs works_here(), like the call.
    explicit AesHash(const HashSecret& secret) noexcept;

    [[nodiscard]] std::uint64_t operator()(ByteView bytes) const noexcept;

    struct alignas(16) RoundKey {
        std::array<std::uint64_t, 2> words;
    };

private:
    std::array<RoundKey, 5> keys_{};
};

}  // namespace sluice
