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
        ByteView made;
        const auto bytes = [&]() noexcept {
            made = made.empty() ? keys.bytes(key, room) : made;
            return made;
        };
        plan_ = tables[key]->find(keys.digest(key), bytes);
        ranges_ = tables[key]->ranges();
        level_ = ranges_ == nullptr ? nullptr : ranges_->around(bytes());
        look_for_exemption();
        if (const NetworkBans* networks = tables[key]->networks()) [[unlikely]] {
            networks->for_each(bytes(), [&](const OverridePlan& plan, Wide size) {
                // A key that is exempt by name, or with a smaller network, is not banned with it.
                const bool holds = !exempt_ || exempt_addresses_ >= size;
                network_left_ =
                    holds ? std::max(network_left_, ban_left(plan, now)) : network_left_;
            });
        }
    }
}

bool KeyOverride::is_exempt(const OverridePlan& plan) const noexcept {
    return plan.exempt && now_.utc() < plan.exempt_until;
}

bool KeyOverride::has_terms(const OverridePlan& plan) const noexcept {
    const auto numbers = all_->numbers_of(plan);
    return is_exempt(plan) || std::any_of(numbers.begin(), numbers.end(),
                                          [&](const auto& one) { return now_.utc() < one.until; });
}

void KeyOverride::look_for_exemption() noexcept {
    if (plan_ != nullptr && (level_ == nullptr || has_terms(*plan_))) {
        exempt_ = is_exempt(*plan_);
        return;
    }
    for (const auto* level = level_; level != nullptr; level = ranges_->wider_than(*level)) {
        const OverridePlan& plan = all_->plans[level->plan];
        ++exempt_range_;
        if (has_terms(plan)) {
            exempt_ = is_exempt(plan);
            exempt_addresses_ = level->addresses_but_one;
            return;
        }
    }
}

KeyPolicy KeyOverride::policy() const noexcept {
    KeyPolicy policy;
    const Nanoseconds own = plan_ == nullptr ? Nanoseconds{0} : ban_left(*plan_, now_);
    const Nanoseconds left = std::max(own, network_left_);
    if (left != Nanoseconds{0}) {
        policy.add({KeyStatus::Banned, left, key_});
    }
    if (exempt_) {
        policy.add({KeyStatus::Exempt, {}, key_});
    }
    return policy;
}

bool KeyOverride::is_banned_itself() const noexcept {
    return plan_ != nullptr && ban_left(*plan_, now_) != Nanoseconds{0};
}

const LimitOverride* KeyOverride::of_limit(std::size_t limit) const noexcept {
    return found(limit).numbers;
}

KeyOverride::Found KeyOverride::found(std::size_t limit) const noexcept {
    const LimitOverride* own = plan_ == nullptr ? nullptr : live_numbers(*plan_, limit);
    if (own != nullptr || level_ == nullptr || (plan_ != nullptr && is_exempt(*plan_))) {
        return {own, 0};
    }
    std::uint8_t range = 0;
    for (const auto* level = level_; level != nullptr; level = ranges_->wider_than(*level)) {
        const OverridePlan& plan = all_->plans[level->plan];
        ++range;
        if (const LimitOverride* numbers = live_numbers(plan, limit)) {
            return {numbers, range};
        }
        if (is_exempt(plan)) {
            break;
        }
    }
    return {};
}

const LimitOverride* KeyOverride::live_numbers(const OverridePlan& plan,
                                               std::size_t limit) const noexcept {
    for (const LimitOverride& one : all_->numbers_of(plan)) {
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
    return policy;
}

}  // namespace sluice
