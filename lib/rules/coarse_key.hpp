#pragma once
#include "lib/base/bytes.hpp"
#include "lib/packet/packet_headers.hpp"
#include "lib/rules/group.hpp"
#include "lib/rules/rule_set.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace sluice {

// The wider keys that a key is charged to when the table is full: the same key with its addresses
// widened to /24 (v4) or /64, then /48 (v6), and at last the rule itself. What would not widen a
// packet's key is no step.
class CoarseKeys {
public:
    static constexpr std::size_t kMost = 2;

    // Takes the canonical bytes of a key; they need not outlive the call.
    explicit CoarseKeys(ByteView key) noexcept;
    CoarseKeys(const GroupingKey& key, MissingKey missing, const PacketHeaders& headers,
               ByteView frame) noexcept;

    // The wider keys, nearest first. The first is aggregation level 1.
    [[nodiscard]] std::span<const KeyBytes> keys() const noexcept {
        return std::span{keys_}.first(size_);
    }

private:
    std::array<KeyBytes, kMost> keys_;
    std::size_t size_ = 0;
};

// The aggregation level that stands for the rule itself: one more than a packet's key
// can be widened, be it that addresses of both IP versions are in it.
[[nodiscard]] std::uint8_t rule_level(const GroupingKey& key) noexcept;

// The keys whose bytes those wider keys are, by step: of a packet that a step does not widen, the
// same as the step before.
[[nodiscard]] std::array<GroupingKey, CoarseKeys::kMost> widened(const GroupingKey& key);

}  // namespace sluice
