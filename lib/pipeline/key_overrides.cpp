#include "lib/pipeline/key_overrides.hpp"

#include "lib/rules/group.hpp"

#include <algorithm>

namespace sluice {
namespace {

// What the key has that these looks share the digest of.
const OverridePlan* plan_of(const LoadedRule& rule, std::uint8_t key, std::uint64_t digest,
                            const CheckContext& context) noexcept {
    const OverrideTable* table = rule.override_tables[key].get();
    if (table == nullptr) {
        return nullptr;
    }
    KeyBytes bytes;
    const auto again = [&]() noexcept {
        (void)key_of(rule.keys[key], rule.missing_key, context.packet_headers(), context.frame(),
                     bytes);
        return bytes.view();
    };
    return table->find(digest, again);
}

// One key that is banned, else one that is exempt, decides for all.
void weigh(const OverridePlan* plan, std::uint8_t key, Now now, PacketKeyStatus& status) noexcept {
    const KeyStatus what = plan == nullptr ? KeyStatus::Limited : key_status_of(*plan, now);
    status.what = std::max(status.what, what);
    if (what == KeyStatus::Banned && ban_left(*plan, now) > status.left) {
        status.left = ban_left(*plan, now);
        status.key = key;
    }
}

}  // namespace

const LimitOverride* override_of(const OverridePlan& plan, const Overrides& all, std::uint8_t limit,
                                 Now now) noexcept {
    for (const LimitOverride& one : all.numbers_of(plan)) {
        if (one.limit == limit && now.utc() < one.until) {
            return &one;
        }
    }
    return nullptr;
}

const OverridePlan* plan_of_key(const LoadedRule& rule, std::uint8_t key, ByteView bytes,
                                const KeyHasher& hash) noexcept {
    if (rule.override_tables.empty() || rule.override_tables[key] == nullptr) {
        return nullptr;
    }
    return rule.override_tables[key]->find(hash.digest(bytes), [&]() noexcept { return bytes; });
}

KeyStatus key_status_of(const OverridePlan& plan, Now now) noexcept {
    if (plan.banned && now.utc() < plan.banned_until) {
        return KeyStatus::Banned;
    }
    return plan.exempt && now.utc() < plan.exempt_until ? KeyStatus::Exempt : KeyStatus::Limited;
}

Nanoseconds ban_left(const OverridePlan& plan, Now now) noexcept {
    return plan.banned_until == kForever ? kNever : plan.banned_until - now.utc();
}

PacketKeyStatus key_status_of(const LoadedRule& rule, std::span<LimitCheck> checks,
                              const CheckContext& context) noexcept {
    PacketKeyStatus status;
    const OverridePlan* plan = nullptr;
    std::size_t keys = 0;
    for (std::size_t i = 0; i < checks.size(); ++i) {
        LimitCheck& check = checks[i];
        const std::uint8_t key = rule.limits[i].key;
        if (key == keys) {
            ++keys;
            // What lacks a part has no digest, and no key has that.
            plan = plan_of(rule, key, check.digest, context);
            weigh(plan, key, context.now, status);
        }
        check.own = plan == nullptr ? nullptr
                                    : override_of(*plan, *rule.overrides,
                                                  static_cast<std::uint8_t>(i), context.now);
    }
    for (std::size_t i = 0; status.what != KeyStatus::Limited && i < checks.size(); ++i) {
        checks[i].asked = false;
    }
    return status;
}

}  // namespace sluice
