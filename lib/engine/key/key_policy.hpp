#pragma once
#include "lib/bucket/table/own_bucket.hpp"
#include "lib/engine/key/rule_keys.hpp"
#include "lib/rules/override_ranges.hpp"

#include <cstdint>
#include <span>

// The policy for keys under a rule before any of its limits is checked: what operators have set for
// them (overrides), and what the rule's penalty boxes hold. Every decision and every answer about a
// key comes from here; the fast path has a brief form of it (fast_key_policy.hpp).
namespace sluice {

// In the order of precedence: of several, be they of one key or of several keys of a packet, the
// greatest holds.
enum class KeyStatus : std::uint8_t {
    Limited,  // by the limits, with the rule's numbers or the key's own
    Boxed,    // banned, by a penalty box
    Exempt,   // by an operator
    Banned,   // by an operator
};
[[nodiscard]] constexpr bool is_banned(KeyStatus status) noexcept {
    return status == KeyStatus::Boxed || status == KeyStatus::Banned;
}

struct KeyPolicy {
    KeyStatus status = KeyStatus::Limited;
    Nanoseconds left{};    // of the longest ban; kNever
    std::uint8_t key = 0;  // that is banned so long, the first of equals

    void add(const KeyPolicy& other) noexcept {
        if (other.status > status || (other.status == status && other.left > left)) {
            *this = other;
        }
    }
};

// An operator's override of one key. Its own terms come first; then, from the smallest on, those
// of the networks and ranges that it lies in. What has ended is passed over: whether the key is
// exempt is as the first says that has any terms left, and each limit has the numbers of the first
// that has some for it, unless one that is exempt comes before.
class KeyOverride {
public:
    KeyOverride() noexcept = default;  // nothing
    KeyOverride(const RuleKeys& keys, std::uint8_t key, Now now) noexcept;

    [[nodiscard]] KeyPolicy policy() const noexcept;
    // By its own name; else a ban in its policy is that of a network.
    [[nodiscard]] bool is_banned_itself() const noexcept;
    // In place of a limit's numbers, by its index in the rule; nullptr: the limit's count.
    [[nodiscard]] const LimitOverride* of_limit(std::size_t limit) const noexcept;
    [[nodiscard]] OwnNumbers own_numbers(std::size_t limit) const noexcept;
    // The network or range that a limit's numbers come from, of those that the key lies in from the
    // smallest on, from 1 on; 0: from none. And the one that exempts it.
    [[nodiscard]] std::uint8_t range_of(std::size_t limit) const noexcept {
        return found(limit).range;
    }
    [[nodiscard]] std::uint8_t exempt_range() const noexcept { return exempt_range_; }

private:
    [[nodiscard]] bool is_exempt(const OverridePlan& plan) const noexcept;
    [[nodiscard]] bool has_terms(const OverridePlan& plan) const noexcept;
    [[nodiscard]] const LimitOverride* live_numbers(const OverridePlan& plan,
                                                    std::size_t limit) const noexcept;
    void look_for_exemption() noexcept;
    struct Found {
        const LimitOverride* numbers = nullptr;
        std::uint8_t range = 0;
    };
    [[nodiscard]] Found found(std::size_t limit) const noexcept;

    const OverridePlan* plan_ = nullptr;
    const Overrides* all_ = nullptr;
    const OverrideRanges* ranges_ = nullptr;
    const OverrideRanges::Level* level_ = nullptr;  // the smallest that it lies in
    Now now_;
    std::uint8_t key_ = 0;
    bool exempt_ = false;
    std::uint8_t exempt_range_ = 0;
    Wide exempt_addresses_{};     // but one, of the range that exempts it; 0: its own name does
    Nanoseconds network_left_{};  // of the longest ban of a network that holds for it
};

// The policy of all keys together.
[[nodiscard]] KeyPolicy policy_of(const RuleKeys& keys, CoreState& core, Now now) noexcept;

// policy_of() for a packet that is about to be decided: the keys' own numbers are noted in the
// checks.
[[nodiscard]] KeyPolicy apply_policy(const RuleKeys& keys, std::span<LimitCheck> checks,
                                     CoreState& core, Now now) noexcept;

}  // namespace sluice
