#pragma once
#include "lib/pipeline/check_limit.hpp"
#include "lib/pipeline/scratch.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <span>

namespace sluice {

// The penalty boxes of a rule with a ban, for one packet. Who is refused is noted where the bucket
// lies that refused it:
//
//   the key's own bucket     the key's own box
//   a wider key's (on_full)  that network's box, with `after` times the factor
//   the rule's               nowhere: no rule bans everybody at once
//
// Where several workers share a key, each notes what it refuses in its own box, and looks into
// those of the others: all refusals together are a ban, and it holds at all of them at once.
//
// A key meets its own ban, or, as long as it has no bucket of its own, that of a network which it
// would be charged to.
class PenaltyBoxes {
public:
    // The looks still have the digests of their keys.
    PenaltyBoxes(const LoadedRule& rule, std::span<const LimitCheck> checks,
                 const CheckContext& context) noexcept;

    struct Sentence {
        Nanoseconds left{};    // of the longest ban
        std::uint8_t key = 0;  // that has it, the first of equals
    };
    // nullopt: no key of the packet is banned.
    [[nodiscard]] std::optional<Sentence> sentence() const noexcept;

    // Notes, once for each key, what the limits have just refused; `yellow` says whether their
    // second colour is a refusal. How many bans began by that.
    [[nodiscard]] unsigned note(std::span<const LimitCheck> checks, bool yellow) const noexcept;

private:
    [[nodiscard]] TableKey table_key(const LoadedLimit& limit) const noexcept {
        return {KeyHasher::key_under(limit.identity, digests_[limit.key]), limit.slot};
    }
    [[nodiscard]] Nanoseconds left_in(Entry* entry) const noexcept;
    [[nodiscard]] Nanoseconds left_of(const LoadedLimit& box) const noexcept;
    [[nodiscard]] Nanoseconds left_at_peers(const LoadedLimit& box) const noexcept;
    [[nodiscard]] bool has_bucket(std::uint8_t key) const noexcept;
    [[nodiscard]] bool is_last_of_all(const LimitCheck& check,
                                      const LoadedLimit& box) const noexcept;
    void ban_now(LimitCheck& check, const LoadedLimit& box) const noexcept;
    [[nodiscard]] bool bans_now(const LoadedLimit& box,
                                std::uint8_t aggregation_level) const noexcept;

    const LoadedRule& rule_;
    const CheckContext& context_;
    std::array<std::uint64_t, kMaxLimitsPerRule> digests_{};  // by key; 0: it lacks a part
};

}  // namespace sluice
