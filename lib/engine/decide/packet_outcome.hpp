#pragma once
#include "lib/engine/burst/scratch.hpp"
#include "lib/engine/decide/blocking_rules.hpp"
#include "lib/respond/decision.hpp"
#include "lib/rules/load/meter_plan.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace sluice {

// Findings of the checks of one packet; a bit for each look-up.
struct CheckFindings {
    std::uint64_t refused = 0;
    std::uint64_t exempt = 0;
    std::uint64_t coarsened = 0;  // checked at an aggregation level above: Scratch::coarser
    unsigned shared = 0;          // limits that several workers spend
    bool opened = false;          // a bucket, which may have taken the place of another
};

// The outcome of the rules of one packet by their limits' findings, in one pass in the order of the
// file.
class PacketOutcome {
public:
    // `tell_wait`: the wait of a refused packet is worked out, which only the general path does, as
    // where a rule that refuses tells it.
    PacketOutcome(const MeterPlan& plan, std::span<const BucketLookup> lookups,
                  const CheckFindings& found, bool tell_wait) noexcept
        : plan_{plan}, lookups_{lookups}, found_{found} {
        for (std::size_t first = 0; first < lookups.size();) {
            first = add_rule(first);
        }
        may_decide_ &= found.refused == 0 || !tell_wait;
        if (!forwards(decision_.verdict)) {
            spending_ = 0;
            may_decide_ &= !rejected_spend_;
        }
        kept_back_ = forwards(decision_.verdict) ? 0 : leads_ & ~refusing_;
        for (std::size_t first = 0; plan.has_candidates && first < lookups.size();) {
            first = add_candidate(first);
        }
    }

    // True if the fast path may carry it out: no refusal spends or notes anything.
    [[nodiscard]] bool may_decide() const noexcept { return may_decide_; }
    // The decision of the strictest refusing rule, the first of equals.
    [[nodiscard]] const Decision& decision() const noexcept { return decision_; }
    // The look-ups that are charged, a bit for each: those that admitted the packet, of a
    // monitoring rule only if no other limit of it has refused; none if the packet is not
    // forwarded. For a candidate that is what would be if its rule had its limits.
    [[nodiscard]] std::uint64_t spending() const noexcept { return spending_; }
    // The rules that refused, or whose key is exempt, a bit for their first look-up each.
    [[nodiscard]] std::uint64_t refusing() const noexcept { return refusing_; }
    [[nodiscard]] std::uint64_t exempting() const noexcept { return exempting_; }
    // And those that neither admit nor refuse the packet, since another one keeps it back.
    [[nodiscard]] std::uint64_t kept_back() const noexcept { return kept_back_; }

private:
    [[nodiscard]] const LimitPlan& limit_of(std::size_t lookup) const noexcept {
        return plan_.limits[lookups_[lookup].limit];
    }
    // The look-ups of one rule, and where those of the next begin.
    struct RuleLookups {
        std::uint64_t bits;
        std::size_t next;
        bool has_limit;  // none of a rule whose penalty boxes alone are looked up
    };
    [[gnu::always_inline]] RuleLookups lookups_from(std::size_t first) const noexcept {
        const std::uint32_t index = limit_of(first).rule;
        RuleLookups found{0, first, false};
        for (; found.next < lookups_.size() && limit_of(found.next).rule == index; ++found.next) {
            found.bits |= std::uint64_t{1} << found.next;
            found.has_limit |= limit_of(found.next).meter != FastMeter::Penalty;
        }
        return found;
    }
    // Returned is the first look-up of the next rule.
    [[gnu::always_inline]] std::size_t add_rule(std::size_t first) noexcept {
        const std::uint32_t index = limit_of(first).rule;
        const std::uint64_t lead = std::uint64_t{1} << first;
        const auto [bits, next, has_limit] = lookups_from(first);
        const RulePlan& rule = plan_.rules[index];
        const std::uint64_t refused = found_.refused & bits;
        const std::uint64_t exempt = found_.exempt & bits;
        const bool enforces = rule.mode == Mode::Enforce;
        leads_ |= lead;
        rejected_spend_ |= rule.rejected_spend;
        may_decide_ &= refused == 0 || (rule.refuses_fast && !rule.tells_wait);
        refusing_ |= refused != 0 ? lead : 0;
        exempting_ |= exempt != 0 ? lead : 0;
        spending_ |= enforces || refused == 0 ? bits & ~(refused | exempt) : 0;
        if (enforces) {
            refused != 0 ? keep_stricter(rule, index, refused) : admit(exempt != 0, has_limit);
        }
        return next;
    }
    void admit(bool exempt, bool evaluated) noexcept {
        const Reason reason = exempt      ? Reason::Exempt
                              : evaluated ? Reason::WithinLimits
                                          : Reason::Unmatched;
        const bool tells = decision_.rule == kNoRule && says_more(reason, decision_.reason);
        decision_.reason = tells ? reason : decision_.reason;
    }
    // Once all rules have been added.
    [[gnu::noinline]] std::size_t add_candidate(std::size_t first) noexcept {
        const RulePlan& rule = plan_.rules[limit_of(first).rule];
        const auto [bits, next, has_limit] = lookups_from(first);
        if (rule.candidate) {
            const std::uint64_t refused = found_.refused & bits;
            const bool acts = plan_.rules[rule.place].mode == Mode::Enforce;
            const bool spends = !blocking_.any_but(rule.place) &&
                                (refused == 0 || (acts && forwards(rule.exceed_verdict)));
            const std::uint64_t lead = std::uint64_t{1} << first;
            const bool is_kept_back = refused == 0 && blocking_.any_but(rule.place);
            kept_back_ = (kept_back_ & ~lead) | (is_kept_back ? lead : 0);
            spending_ &= ~bits;
            spending_ |= spends ? bits & ~(refused | found_.exempt) : 0;
        }
        return next;
    }
    void keep_stricter(const RulePlan& rule, std::uint32_t index, std::uint64_t refused) noexcept {
        if (!forwards(rule.exceed_verdict)) {
            blocking_.add(index);
        }
        if (decision_.rule != kNoRule && decision_.verdict >= rule.exceed_verdict) {
            return;
        }
        const auto first = static_cast<std::size_t>(std::countr_zero(refused));
        decision_ = {.verdict = rule.exceed_verdict,
                     .reason = Reason::OverLimit,
                     .key = limit_of(first).key,
                     .action = rule.on_exceed,
                     .rule = index};
    }

    const MeterPlan& plan_;
    std::span<const BucketLookup> lookups_;
    const CheckFindings& found_;
    Decision decision_;
    BlockingRules blocking_;
    std::uint64_t spending_ = 0;
    std::uint64_t refusing_ = 0;
    std::uint64_t exempting_ = 0;
    std::uint64_t leads_ = 0;  // the first look-up of each rule
    std::uint64_t kept_back_ = 0;
    bool may_decide_ = true;
    bool rejected_spend_ = false;
};

}  // namespace sluice
