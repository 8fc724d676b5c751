#pragma once
#include "lib/pipeline/address_key.hpp"
#include "lib/pipeline/judge_plain.hpp"
#include "lib/pipeline/judge_slow.hpp"
#include "lib/rules/override_table.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

// The short way for one enforcing rule of one token bucket of which keys have overrides, as
// judge_plain() is for others. Beside its bucket's entry a key is looked up in one line more, which
// locate_burst() has asked for:
//
//   its entry has numbers of its own --> their line, which remembers who said them of which key
//   ... says that nothing is said    --> none
//   else                             --> the table of overrides
namespace sluice {

// Judges the looks of such a rule.
class OverriddenLooks {
public:
    // Long: nothing has been done, and the long way is to be taken.
    enum class Outcome : std::uint8_t { Admitted, Refused, Exempt, Long };

    OverriddenLooks(const QuickRule& rule, BucketStore& buckets, Now now) noexcept
        : rule_{rule},
          buckets_{buckets},
          now_{now},
          stale_{buckets.tenants.stale()},
          said_by_{rule.overrides->name()},
          edition_{rule.limit->parts() == 1 && !stale_ ? buckets.tenants.edition() : kNoEdition} {}

    [[nodiscard, gnu::always_inline]] Outcome judge(Look& look, const Flow& flow) const noexcept {
        const IpVersion version = flow.ip_version;
        if ((version != rule_.overridden_v4 && version != rule_.overridden_v6) ||
            look.cost == Units{0}) [[unlikely]] {
            return Outcome::Long;
        }
        const Entry* const entry = look.entry;
        const bool at_hand = entry != nullptr && entry->filed() == look.key.filed;
        if (at_hand && entry->has_own_numbers()) {
            return judge_by_own(look, flow);
        }
        if (at_hand && entry->is_ordinary_in(edition_)) {
            return judge_by_rule(look, at_hand);
        }
        return judge_by_table(look, flow, at_hand);
    }

    // How long a packet that was refused would have to wait.
    [[nodiscard, gnu::noinline]] Nanoseconds wait_of(const Look& look) const noexcept {
        const Entry& entry = *look.entry;
        const Cell cell = buckets_.tenants.cell_of(entry);
        const Limit limit = entry.has_own_numbers()
                                ? buckets_.tenants.pool().at<OwnBucket>(entry.cell().rest).limit()
                                : *rule_.limit;
        return wait(bucket_in(cell, limit), limit, now_.at, look.cost).value_or(kNever);
    }

    // Whether entries may say that nothing is said of their keys, and whether this one's does.
    [[nodiscard]] bool knows_ordinary() const noexcept { return edition_ != kNoEdition; }
    [[nodiscard, gnu::always_inline]] bool is_ordinary(const Look& look) const noexcept {
        const Entry* const entry = look.entry;
        return entry != nullptr && entry->ordinary_bit(look.key.filed, edition_) != 0;
    }

    // The same for a key that had numbers of its own when it was located. kOneUnit: that is what
    // all packets cost.
    template <bool kOneUnit>
    [[nodiscard, gnu::always_inline]] Outcome judge_own(Look& look) const noexcept {
        const Entry* const entry = look.entry;
        if (entry == nullptr || (entry->filed_bit(look.key.filed) & entry->own_bit()) == 0)
            [[unlikely]] {
            return Outcome::Long;
        }
        OwnBucket& bucket = own_of(*entry);
        return is_known(bucket, look) ? take_own(bucket, look,
                                                 kOneUnit ? bucket.after_one(now_.at)
                                                          : bucket.after(look.cost, now_.at))
                                      : Outcome::Long;
    }

    // For whoever asks later (sample_burst): that it was judged, by whatever its bucket says.
    [[nodiscard, gnu::always_inline]] static Outcome noted(Look& look, bool admitted) noexcept {
        look.asked = true;
        look.numbers = nullptr;
        return admitted ? Outcome::Admitted : Outcome::Refused;
    }

private:
    [[nodiscard, gnu::always_inline]] OverrideTable::Brief said_of(
        const Look& look, const Flow& flow) const noexcept {
        return rule_.overrides->brief(look.digest,
                                      [&]() noexcept { return AddressKey{rule_, flow}; });
    }

    // A key that nobody has asked the table about in this edition, or that it says something of.
    [[nodiscard, gnu::always_inline]] Outcome judge_by_table(Look& look, const Flow& flow,
                                                             bool at_hand) const noexcept {
        switch (said_of(look, flow).kind) {
            case OverrideTable::Kind::None:
                return judge_ordinary(look, at_hand);
            case OverrideTable::Kind::Exempt:
                look.asked = false;
                return Outcome::Exempt;
            default:
                return Outcome::Long;
        }
    }

    [[nodiscard, gnu::always_inline]] Outcome judge_ordinary(Look& look,
                                                             bool at_hand) const noexcept {
        const Outcome outcome = judge_by_rule(look, at_hand);
        if (outcome != Outcome::Long && edition_ != kNoEdition) {
            look.entry->note_ordinary_in(edition_);
        }
        return outcome;
    }

    // A key of which nothing is said.
    [[nodiscard, gnu::always_inline]] Outcome judge_by_rule(Look& look,
                                                            bool at_hand) const noexcept {
        const bool is_current =
            at_hand && (!stale_ || PlainMatch::make_current(*look.entry, rule_.version,
                                                            buckets_.tenants, now_));
        if (!is_current && (look.entry != nullptr || !open_plain(look, rule_, buckets_, now_)))
            [[unlikely]] {
            return Outcome::Long;
        }
        return noted(look, take(*look.entry, *rule_.limit, now_.at, look.cost));
    }

    // A bucket with numbers of its own.
    [[nodiscard, gnu::always_inline]] Outcome judge_by_own(Look& look,
                                                           const Flow& flow) const noexcept {
        OwnBucket& bucket = own_of(*look.entry);
        if (!is_known(bucket, look) && !learn(bucket, look, flow)) [[unlikely]] {
            return Outcome::Long;
        }
        return take_own(bucket, look, bucket.after(look.cost, now_.at));
    }

    [[nodiscard, gnu::always_inline]] OwnBucket& own_of(const Entry& entry) const noexcept {
        return buckets_.tenants.pool().at<OwnBucket>(entry.cell().rest);
    }
    // Whether it has been found before that its numbers are those of the key.
    [[nodiscard, gnu::always_inline]] bool is_known(const OwnBucket& bucket,
                                                    const Look& look) const noexcept {
        const std::uint64_t other = bucket.said_by ^ said_by_;
        return (other | (bucket.digest ^ static_cast<std::uint32_t>(look.digest))) == 0;
    }
    // `after`: what it holds then, if it admits.
    [[nodiscard, gnu::always_inline]] static Outcome take_own(
        OwnBucket& bucket, Look& look, const std::optional<Gcra>& after) noexcept {
        if (after) {
            bucket.keep(*after);
            look.entry->write_instant(after->fresh_from);
        }
        return noted(look, after.has_value());
    }

    // Whether a bucket has the numbers that are said of its key; it remembers that.
    [[nodiscard, gnu::noinline]] bool learn(OwnBucket& bucket, const Look& look,
                                            const Flow& flow) const noexcept {
        const OverrideTable::Brief said = said_of(look, flow);
        if (said.kind != OverrideTable::Kind::Numbers) {
            return false;
        }
        const Limit* limit = gcra_of(rule_.overrides->numbers_of(said).numbers);
        if (limit == nullptr || !bucket.has(*limit) || bucket.until != kForever.count()) {
            return false;
        }
        store_word(bucket.said_by, 0);
        keep_store_order();
        bucket.digest = static_cast<std::uint32_t>(look.digest);
        store_word(bucket.said_by, said_by_);
        return true;
    }

    const QuickRule& rule_;
    BucketStore& buckets_;
    const Now now_;
    const bool stale_;  // entries may carry former numbers
    const std::uint64_t said_by_;
    // Where parts of a ns lie in the entries, or may lie there still, nothing is noted there.
    static constexpr std::uint32_t kNoEdition = kMostEdition + 1;
    const std::uint32_t edition_;
};

// One such rule that matches, among others that do not. False: nothing has been done, and the long
// way is to be taken.
[[nodiscard]] [[gnu::always_inline]] inline bool judge_overridden(
    Packet& packet, const Match& match, const PlainJudging& judging) noexcept {
    const PlainMatch by{match, judging};
    if (by.rule.overrides == nullptr || by.skipped) [[unlikely]] {
        return false;
    }
    const OverriddenLooks looks{by.rule, *judging.buckets, judging.now};
    switch (looks.judge(by.look, packet.flow)) {
        case OverriddenLooks::Outcome::Admitted:
            by.counters.admitted.add(1);
            packet.decision = kWithinLimits;
            return true;
        case OverriddenLooks::Outcome::Refused:
            by.counters.exceeded.add(1);
            packet.decision = refusal_by(by.rule, match.rule);
            if (judging.tell_wait && !forwards(by.rule.exceed_verdict)) [[unlikely]] {
                packet.decision.wait = looks.wait_of(by.look);
            }
            return true;
        case OverriddenLooks::Outcome::Exempt:
            by.counters.admitted.add(1);
            by.counters.exempted.add(1);
            packet.decision = Decision{};
            return true;
        case OverriddenLooks::Outcome::Long:
            break;
    }
    return false;
}

}  // namespace sluice
