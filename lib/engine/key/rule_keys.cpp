#include "lib/engine/key/rule_keys.hpp"

namespace sluice {

RuleKeys::RuleKeys(const LoadedRule& rule, std::span<const LimitCheck> checks,
                   const CheckContext& context) noexcept
    : rule_{rule}, headers_{&context.packet_headers()}, bytes_{context.frame()} {
    for (std::size_t i = 0; i < checks.size(); ++i) {
        digests_[rule.limits[i].key] = checks[i].digest;
    }
}

RuleKeys::RuleKeys(const LoadedRule& rule, const PacketHeaders& headers, ByteView frame,
                   const KeyHasher& hash) noexcept
    : rule_{rule}, headers_{&headers}, bytes_{frame} {
    for (std::size_t key = 0; key < rule.keys.size(); ++key) {
        KeyBytes bytes;
        const bool is_there =
            key_of(rule.keys[key], rule.missing_key, headers, frame, bytes) != KeyOutcome::Missing;
        digests_[key] = is_there ? hash.digest(bytes.view()) : 0;
    }
}

RuleKeys::RuleKeys(const LoadedRule& rule, std::uint8_t key, ByteView bytes,
                   const KeyHasher& hash) noexcept
    : rule_{rule}, bytes_{bytes} {
    digests_[key] = hash.digest(bytes);
}

ByteView RuleKeys::bytes(std::uint8_t key, KeyBytes& room) const noexcept {
    if (headers_ == nullptr) {
        return bytes_;
    }
    (void)key_of(rule_.keys[key], rule_.missing_key, *headers_, bytes_, room);
    return room.view();
}

}  // namespace sluice
