#pragma once
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

// The canonical bytes of a key that is an address, once more.
class AddressKey {
public:
    AddressKey(const QuickRule& rule, const Flow& flow) noexcept {
        const std::byte* address = rule.address_in(flow);
        if (flow.ip_version == rule.overridden_v4) {
            std::uint32_t word;
            std::memcpy(&word, address, sizeof(word));
            write(rule.v4_header | std::uint64_t{word & rule.v4_mask} << 32);
        } else {
            std::array<std::uint64_t, 2> words;
            std::memcpy(&words, address, sizeof(words));
            const std::uint64_t low = words[0] & rule.v6_mask[0];
            const std::uint64_t high = words[1] & rule.v6_mask[1];
            write(rule.v6_header | low << 32, low >> 32 | high << 32,
                  static_cast<std::uint32_t>(high >> 32));
        }
    }
    operator ByteView() const noexcept { return std::span{bytes_}.first(size_); }

private:
    // In words, as the hash reads them: a load that spans two stores waits for both.
    void write(const auto&... pieces) noexcept {
        ((std::memcpy(bytes_.data() + size_, &pieces, sizeof(pieces)), size_ += sizeof(pieces)),
         ...);
    }

    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): what is written is read.
    std::array<std::byte, 20> bytes_;
    std::size_t size_ = 0;
};

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
        Entry& entry = *look.entry;
        const PoolLine line = entry.cell().rest;
        OwnBucket& bucket = buckets_.tenants.pool().at<OwnBucket>(line);
        const bool is_known = bucket.said_by == rule_.overrides->name() &&
                              bucket.digest == static_cast<std::uint32_t>(look.digest);
        if (!is_known && !learn(bucket, look, flow)) [[unlikely]] {
            return Outcome::Long;
        }
        const std::optional<Gcra> after = bucket.after(look.cost, now_.at);
        if (after) {
            bucket.keep(*after);
            entry.write({after->fresh_from, line});
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
        store_word(bucket.said_by, rule_.overrides->name());
        return true;
    }

    // For whoever asks later (sample_burst): that it was judged, by whatever its bucket says.
    [[nodiscard, gnu::always_inline]] static Outcome noted(Look& look, bool admitted) noexcept {
        look.asked = true;
        look.numbers = nullptr;
        return admitted ? Outcome::Admitted : Outcome::Refused;
    }

    const QuickRule& rule_;
    BucketStore& buckets_;
    const Now now_;
    const bool stale_;  // entries may carry former numbers
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
            if (judging.tell_wait && !forwards(by.rule.on_exceed)) [[unlikely]] {
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

// The same where all packets meet this rule (RuleSet::has_one_way()), as JudgeOnly is for others.
class JudgeOnlyOverridden {
public:
    JudgeOnlyOverridden(Burst& burst, const RuleSet& set, CoreState& core, Now now) noexcept
        : burst_{burst}, rule_{set.quick.front()}, core_{core}, now_{now} {}

    // As JudgeOnly::go_on().
    [[nodiscard]] std::size_t go_on(std::size_t row) noexcept {
        using Outcome = OverriddenLooks::Outcome;
        const OverriddenLooks by{rule_, core_.buckets, now_};
        const std::span<Packet> packets = burst_.packets();
        Look* const looks = burst_.scratch().looks.get();
        const bool tell_wait = core_.policy.tell_wait && !forwards(rule_.on_exceed);
        std::array<std::uint64_t, 3> counts{};
        for (; row != packets.size(); ++row) {
            Packet& packet = packets[row];
            Look& look = looks[row];
            if (is_malformed(packet.flow.parsed)) [[unlikely]] {
                packet.decision = decide_malformed(packet.flow.parsed, core_.policy);
                continue;
            }
            const Outcome outcome = by.judge(look, packet.flow);
            if (outcome == Outcome::Long) [[unlikely]] {
                break;
            }
            ++counts[static_cast<std::size_t>(outcome)];
            if (outcome == Outcome::Refused) {
                packet.decision = refusal_by(rule_, 0);
                packet.decision.wait = tell_wait ? by.wait_of(look) : Nanoseconds{};
            } else {
                packet.decision = outcome == Outcome::Admitted ? kWithinLimits : Decision{};
            }
        }
        RuleCounters& counters = core_.counters.rules[rule_.counters];
        counters.admitted.add(counts[0] + counts[2]);
        counters.exceeded.add(counts[1]);
        counters.exempted.add(counts[2]);
        return row;
    }

private:
    Burst& burst_;
    const QuickRule rule_;
    CoreState& core_;
    const Now now_;
};

}  // namespace sluice
