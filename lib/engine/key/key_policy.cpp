#include "lib/engine/key/key_policy.hpp"

#include "lib/engine/key/penalty_box.hpp"
#include "lib/rules/network_bans.hpp"

#include <algorithm>

namespace sluice {
namespace {

// Visits the limits with what operators have set for their keys, each of which is looked up once.
template <typename Visit>
KeyPolicy policy_by_name(const RuleKeys& keys, Now now, Visit&& visit) noexcept {
    const LoadedRule& rule = keys.rule();
    KeyPolicy policy;
    if (rule.overrides == nullptr) {
        return policy;
    }
    KeyOverride found;
    std::size_t key = 0;
    for (std::size_t limit = 0; limit < rule.limits.size(); ++limit) {
        if (rule.limits[limit].key == key) {
            found = KeyOverride{keys, static_cast<std::uint8_t>(key++), now};
            policy.add(found.policy());
        }
        visit(limit, found);
    }
    return policy;
}

// 0: it bans nobody, or no more.
Nanoseconds ban_left(const OverridePlan& plan, Now now) noexcept {
    if (!plan.banned || now.utc() >= plan.banned_until) {
        return Nanoseconds{0};
    }
    return plan.banned_until == kForever ? kNever : plan.banned_until - now.utc();
}

// Boxes are looked into only where they can still change something.
void add_boxes(const RuleKeys& keys, CoreState& core, Now now, KeyPolicy& policy) noexcept {
    if (policy.status > KeyStatus::Boxed) {
        return;
    }
    const PenaltyBoxes boxes{keys, core, now};
    for (const LoadedLimit& box : keys.rule().ban.boxes) {
        if (const BoxBan ban = boxes.ban_in(box); ban.left != Nanoseconds{0}) {
            policy.add({KeyStatus::Boxed, ban.left, box.key});
        }
    }
}

}  // namespace

KeyOverride::KeyOverride(const RuleKeys& keys, std::uint8_t key, Now now) noexcept
    : all_{keys.rule().overrides.get()}, now_{now}, key_{key} {
    const auto& tables = keys.rule().override_tables;
    if (keys.has(key) && !tables.empty() && tables[key] != nullptr) {
        KeyBytes room;
        plan_ =
            tables[key]->find(keys.digest(key), [&]() noexcept { return keys.bytes(key, room); });
        if (const NetworkBans* networks = tables[key]->networks()) [[unlikely]] {
            networks->for_each(keys.bytes(key, room), [&](const OverridePlan& plan) {
                network_left_ = std::max(network_left_, ban_left(plan, now));
            });
        }
    }
}

KeyPolicy KeyOverride::policy() const noexcept {
    KeyPolicy policy;
    const bool exempt = plan_ != nullptr && plan_->exempt && now_.utc() < plan_->exempt_until;
    const Nanoseconds own = plan_ == nullptr ? Nanoseconds{0} : ban_left(*plan_, now_);
    // A key that is exempt by name is not banned by its network.
    const Nanoseconds left = exempt ? own : std::max(own, network_left_);
    if (left != Nanoseconds{0}) {
        policy.add({KeyStatus::Banned, left, key_});
    }
    if (exempt) {
        policy.add({KeyStatus::Exempt, {}, key_});
    }
    return policy;
}

bool KeyOverride::is_banned_itself() const noexcept {
    return plan_ != nullptr && ban_left(*plan_, now_) != Nanoseconds{0};
}

const LimitOverride* KeyOverride::of_limit(std::size_t limit) const noexcept {
    if (plan_ == nullptr) {
        return nullptr;
    }
    for (const LimitOverride& one : all_->numbers_of(*plan_)) {
        if (one.limit == limit && now_.utc() < one.until) {
            return &one;
        }
    }
    return nullptr;
}

OwnNumbers KeyOverride::own_numbers(std::size_t limit) const noexcept {
    const LimitOverride* own = of_limit(limit);
    return own == nullptr ? OwnNumbers{} : OwnNumbers{&own->numbers, own->until};
}

KeyPolicy policy_of(const RuleKeys& keys, CoreState& core, Now now) noexcept {
    KeyPolicy policy = policy_by_name(keys, now, [](std::size_t, const KeyOverride&) {});
    add_boxes(keys, core, now, policy);
    return policy;
}

KeyPolicy apply_policy(const RuleKeys& keys, std::span<LimitCheck> checks, CoreState& core,
                       Now now) noexcept {
    KeyPolicy policy =
        policy_by_name(keys, now, [checks](std::size_t limit, const KeyOverride& found) {
            checks[limit].own = found.of_limit(limit);
        });
    add_boxes(keys, core, now, policy);
    if (policy.status != KeyStatus::Limited) {
        for (LimitCheck& check : checks) {
            check.asked = false;
        }
    }
    return policy;
}

}  // namespace sluice
