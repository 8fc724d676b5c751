#pragma once
#include "lib/bucket/meter/any_limit.hpp"
#include "lib/bucket/meter/cell.hpp"
#include "lib/bucket/meter/gcra.hpp"
#include "lib/bucket/pool/line_pool.hpp"
#include "lib/share/word.hpp"

#include <cstdint>
#include <optional>

// A token or leaky bucket of a key with numbers of its own. Its state means nothing without them,
// and the limit's entries do not hold them, so both lie in a line of the pool: the entry alone
// suffices to read it, to bring it under other numbers and to decide when it may be forgotten.
// Window algorithms need none of this: they keep what was used, under any count.
namespace sluice {

// Numbers that a key has in place of its limit's.
struct OwnNumbers {
    const AnyLimit* numbers = nullptr;  // nullptr: none, the limit's count
    // UTC; from then on those of the next network around the key, or the limit's.
    Nanoseconds until = Nanoseconds::max();
};

// Numbers of a key, as GCRA takes them: a unit takes `whole` ns and `rest` of `parts_` of one.
struct LineNumbers {
    std::uint64_t whole;
    std::uint64_t burst_;
    std::uint32_t rest;
    std::uint32_t parts_;

    [[nodiscard]] std::uint64_t burst() const noexcept { return burst_; }
    [[nodiscard]] std::uint32_t parts() const noexcept { return parts_; }
    [[nodiscard]] std::uint64_t period() const noexcept { return whole * parts_ + rest; }
    // Without the reciprocal that a Limit has: only one unit needs no division.
    [[nodiscard]] Lapse time_of(Units cost) const noexcept {
        if (cost == Units{1}) {
            return {whole, rest};
        }
        const std::uint64_t total = cost.count() * period();
        return {total / parts_, static_cast<std::uint32_t>(total % parts_)};
    }
};

// Plain data that fits a pool line.
struct OwnBucket {
    Gcra state;
    // The Limit, in a form that fits: a unit takes `whole` ns and `rest` of `parts` of one.
    std::uint32_t rest = 0;
    std::uint64_t whole = 1;
    std::uint64_t burst = 1;
    std::uint32_t parts = 1;
    // A part of the key's digest; `said_by` is the name of the override table that gave it these
    // numbers. If both are equal, the look-up can be left out. 0: unknown.
    std::uint32_t digest = 0;
    std::int64_t until = 0;  // ns of UTC
    std::uint64_t said_by = 0;

    [[nodiscard]] LineNumbers numbers() const noexcept { return {whole, burst, rest, parts}; }
    [[nodiscard]] Limit limit() const noexcept { return *checked_limit(); }
    // The limit of a line that may just have become something else.
    [[nodiscard]] Result<Limit> checked_limit() const noexcept {
        return Limit::make({Units{parts}, Nanoseconds{static_cast<std::int64_t>(period())}},
                           Units{burst});
    }
    // The period, in `parts` of a ns.
    [[nodiscard]] std::uint64_t period() const noexcept { return numbers().period(); }
    [[nodiscard]] bool has(const Limit& limit) const noexcept {
        return period() == limit.period() && burst == limit.burst() && parts == limit.parts();
    }
    void set(const Limit& limit, Nanoseconds ends) noexcept {
        said_by = 0;
        whole = limit.period() / limit.parts();
        rest = static_cast<std::uint32_t>(limit.period() % limit.parts());
        burst = limit.burst();
        parts = limit.parts();
        until = ends.count();
    }
    // A new state, in an order in which each store leaves at least what was owed before.
    void keep(const Gcra& after) noexcept {
        state.fresh_from = after.fresh_from;
        keep_store_order();
        state.below = after.below;
    }
    // The state once it has admitted `cost`; nullopt: it does not.
    [[nodiscard, gnu::always_inline]] std::optional<Gcra> after(Units cost,
                                                                Instant now) const noexcept {
        return cost == Units{1} ? taken(Units{1}, now) : taken(cost, now);
    }

private:
    // Compiled apart for one unit, which costs no division.
    [[nodiscard, gnu::always_inline]] std::optional<Gcra> taken(Units cost,
                                                                Instant now) const noexcept {
        const LineNumbers own = numbers();
        const InParts<LineNumbers> in_parts{own};
        if (!conforms(in_parts, state, now, cost)) {
            return std::nullopt;
        }
        return next_tat(in_parts, state, now, cost);
    }
};
static_assert(sizeof(OwnBucket) <= kLineBytes);

// The Limit of a token or leaky bucket; nullptr: another algorithm.
[[nodiscard]] inline const Limit* gcra_of(const AnyLimit& limit) noexcept {
    if (const auto* token = std::get_if<TokenBucketLimit>(&limit)) {
        return &token->gcra;
    }
    const auto* leaky = std::get_if<LeakyBucketLimit>(&limit);
    return leaky != nullptr ? &leaky->gcra : nullptr;
}

// The instant from which a bucket equals a fresh one, if its own numbers end at `ends` and `base`
// counts from then on.
[[nodiscard]] inline Instant fresh_from(const Gcra& state, const Limit& own, const Limit& base,
                                        Instant ends) noexcept {
    if (state.fresh_from <= ends) {
        return state.fresh_from;
    }
    return owing(renumbered_debt(debt_of(state, own, ends), own, base), base, ends).fresh_from;
}

}  // namespace sluice
