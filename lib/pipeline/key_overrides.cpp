#include "lib/pipeline/key_overrides.hpp"

#include "lib/rules/group.hpp"

#include <algorithm>

namespace sluice {
namespace {

// What the key has that these looks share the digest of.
const OverridePlan* plan_of(const LoadedRule& rule, std::uint8_t key, std::uint64_t digest,
                            const Judging& judging) noexcept {
    const OverrideTable* table = rule.override_tables[key].get();
    if (table == nullptr) {
        return nullptr;
    }
    KeyBytes bytes;
    const auto again = [&]() noexcept {
        (void)key_of(rule.keys[key], rule.missing_key, judging.flow(), judging.frame(), bytes);
        return bytes.view();
    };
    return table->find(digest, again);
}

// One key that is banned, else one that is exempt, decides for all.
void weigh(const OverridePlan* plan, std::uint8_t key, Now now, Fate& fate) noexcept {
    const KeyFate what = plan == nullptr ? KeyFate::Judged : fate_of(*plan, now);
    fate.what = std::max(fate.what, what);
    if (what == KeyFate::Banned && ban_left(*plan, now) > fate.left) {
        fate.left = ban_left(*plan, now);
        fate.key = key;
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

KeyFate fate_of(const OverridePlan& plan, Now now) noexcept {
    if (plan.banned && now.utc() < plan.banned_until) {
        return KeyFate::Banned;
    }
    return plan.exempt && now.utc() < plan.exempt_until ? KeyFate::Exempt : KeyFate::Judged;
}

Nanoseconds ban_left(const OverridePlan& plan, Now now) noexcept {
    return plan.banned_until == kForever ? kNever : plan.banned_until - now.utc();
}

Fate fate_of(const LoadedRule& rule, std::span<Look> looks, const Judging& judging) noexcept {
    Fate fate;
    const OverridePlan* plan = nullptr;
    std::size_t keys = 0;
    for (std::size_t i = 0; i < looks.size(); ++i) {
        Look& look = looks[i];
        const std::uint8_t key = rule.limits[i].key;
        if (key == keys) {
            ++keys;
            // What lacks a part has no digest, and no key has that.
            plan = plan_of(rule, key, look.digest, judging);
            weigh(plan, key, judging.now, fate);
        }
        look.own = plan == nullptr ? nullptr
                                   : override_of(*plan, *rule.overrides,
                                                 static_cast<std::uint8_t>(i), judging.now);
    }
    for (std::size_t i = 0; fate.what != KeyFate::Judged && i < looks.size(); ++i) {
        looks[i].asked = false;
    }
    return fate;
}

}  // namespace sluice
