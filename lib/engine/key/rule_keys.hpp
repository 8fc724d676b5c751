#pragma once
#include "lib/engine/burst/limit_check.hpp"
#include "lib/engine/check/check_limit.hpp"
#include "lib/rules/group.hpp"

#include <array>
#include <cstdint>
#include <span>

namespace sluice {

// By key of a rule; 0: it is not there.
using KeyDigests = std::array<std::uint64_t, kMaxLimitsPerRule>;

// Keys under one rule: all that a packet has, or one by its canonical bytes. Lives no longer than
// what it was made from.
class RuleKeys {
public:
    // While the checks still have the digests of their keys.
    RuleKeys(const LoadedRule& rule, std::span<const LimitCheck> checks,
             const CheckContext& context) noexcept;
    RuleKeys(const LoadedRule& rule, const PacketHeaders& headers, ByteView frame,
             const KeyHasher& hash) noexcept;
    RuleKeys(const LoadedRule& rule, std::uint8_t key, ByteView bytes,
             const KeyHasher& hash) noexcept;
    // Keys that have been hashed.
    RuleKeys(const LoadedRule& rule, const PacketHeaders& headers, ByteView frame,
             const KeyDigests& digests) noexcept
        : rule_{rule}, headers_{&headers}, bytes_{frame}, digests_{digests} {}

    [[nodiscard]] const LoadedRule& rule() const noexcept { return rule_; }
    // False: the packet lacks a part of it.
    [[nodiscard]] bool has(std::uint8_t key) const noexcept { return digests_[key] != 0; }
    [[nodiscard]] std::uint64_t digest(std::uint8_t key) const noexcept { return digests_[key]; }
    // The bytes of a key that is there, made in `room` where they are a packet's.
    [[nodiscard]] ByteView bytes(std::uint8_t key, KeyBytes& room) const noexcept;
    [[nodiscard]] TableKey table_key(const LoadedLimit& limit) const noexcept {
        return {KeyHasher::key_under(limit.identity, digests_[limit.key]), limit.slot};
    }

private:
    const LoadedRule& rule_;
    const PacketHeaders* headers_ = nullptr;  // nullptr: the bytes are those of the one key
    ByteView bytes_;                          // else the frame
    KeyDigests digests_{};
};

}  // namespace sluice
