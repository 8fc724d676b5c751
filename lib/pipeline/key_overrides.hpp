#pragma once
#include "lib/pipeline/check_limit.hpp"
#include "lib/pipeline/scratch.hpp"

#include <cstdint>
#include <span>

namespace sluice {

// What becomes of a packet by what is said of its keys, before any limit is asked.
enum class KeyStatus : std::uint8_t { Limited, Exempt, Banned };

// The same of all keys of a packet.
struct PacketKeyStatus {
    KeyStatus what = KeyStatus::Limited;
    Nanoseconds left{};    // of the ban; kNever
    std::uint8_t key = 0;  // the key that is banned, the first of equals
};

// Finds what the keys of a packet have in place of a rule's numbers, and notes it in the looks. One
// key that is banned, else one that is exempt, decides for all; the looks then ask for nothing.
[[nodiscard]] PacketKeyStatus key_status_of(const LoadedRule& rule, std::span<LimitCheck> checks,
                                            const CheckContext& context) noexcept;
[[nodiscard]] KeyStatus key_status_of(const OverridePlan& plan, Now now) noexcept;

// The rest of a ban that is in force.
[[nodiscard]] Nanoseconds ban_left(const OverridePlan& plan, Now now) noexcept;

// What a key has; nullptr: nothing of its own.
[[nodiscard]] const OverridePlan* plan_of_key(const LoadedRule& rule, std::uint8_t key,
                                              ByteView bytes, const KeyHasher& hash) noexcept;

// What one limit has for a key at an instant; nullptr: nothing of its own.
[[nodiscard]] const LimitOverride* override_of(const OverridePlan& plan, const Overrides& all,
                                               std::uint8_t limit, Now now) noexcept;

}  // namespace sluice
