#pragma once
#include "lib/base/line_memory.hpp"
#include "lib/base/prefetch.hpp"
#include "lib/bucket/hash/group_key.hpp"
#include "lib/rules/overrides.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <immintrin.h>

// The keys that have an override, for the packet path: immutable, one line of 64 bytes per look-up.
//
//   digest --> line  [ digest | check, said ] x 4     full: go on in the next line, if a bit of the
//                                                     digest says that keys like it did
//
// No other key may pass for an exempt one. The digest (64 bits, keyed, of the key's bytes) finds
// the place; only where it fits, a second hash of the same bytes under another secret gives 32 bits
// more. A key outside passes for one of n keys with a probability of n / 2^96 for each key tried:
// with a million keys, and every address of a /64 tried, 2^-12. Both secrets are random and never
// leave the box, so it can be tried only packet by packet: at a hundred million a second a single
// hit is to be expected after some twenty million years.
namespace sluice {

class NetworkBans;
class OverrideRanges;

class OverrideTable {
public:
    // Terms of networks of keys beside those that are named; nullptr: none.
    struct Wider {
        std::shared_ptr<const NetworkBans> bans{};
        std::shared_ptr<const OverrideRanges> ranges{};
    };
    // A table for the keys; digests are those of KeyHasher{secret}.
    OverrideTable(const KeyOverrides& keys, const Overrides& all, const HashSecret& secret,
                  Wider wider);
    OverrideTable(const KeyOverrides& keys, const Overrides& all, const HashSecret& secret)
        : OverrideTable{keys, all, secret, Wider{}} {}

    void prefetch(std::uint64_t digest) const noexcept { prefetch1(line_for(digest)); }
    // The first line of a key, for prefetching.
    [[nodiscard]] const void* line_for(std::uint64_t digest) const noexcept {
        return &line(line_at(digest));
    }

    // The key's override; nullptr: nothing of its own. `bytes()` gives the key's canonical bytes,
    // and is called only where the digest is known.
    template <typename Bytes>
    [[nodiscard]] const OverridePlan* find(std::uint64_t digest, Bytes&& bytes) const noexcept {
        const std::uint32_t said = say(digest, bytes);
        return said == kEmpty ? nullptr : &all_->plans[plan_in(said)];
    }

    // The same in short, for the fast path of one token bucket, which reads no plan.
    enum class Kind : std::uint8_t {
        None,     // the key has no override
        Exempt,   // it is exempt, for ever
        Numbers,  // it has other numbers for the first limit, for ever, and nothing else
        Other,    // any other plan
    };
    [[nodiscard]] static Kind kind_of(const OverridePlan& plan, const Overrides& all) noexcept;
    struct Brief {
        Kind kind = Kind::None;
        std::uint32_t plan = 0;  // unless None: its index
    };
    template <typename Bytes>
    [[nodiscard]] Brief brief(std::uint64_t digest, Bytes&& bytes) const noexcept {
        const std::uint32_t said = say(digest, bytes);
        const auto kind = static_cast<Kind>(said >> kKindShift & kKindMask);
        if (wider_.bans != nullptr && kind != Kind::Exempt && is_in_network(bytes())) [[unlikely]] {
            return {Kind::Other, plan_in(said)};
        }
        if (wider_.ranges != nullptr && kind == Kind::None) [[unlikely]] {
            return brief_in_range(bytes());
        }
        return {kind, plan_in(said)};
    }
    // The networks that are banned; nullptr: none.
    [[nodiscard]] const NetworkBans* networks() const noexcept { return wider_.bans.get(); }
    // The networks and ranges with terms of their own; nullptr: none.
    [[nodiscard]] const OverrideRanges* ranges() const noexcept { return wider_.ranges.get(); }
    // For a key of Kind::Numbers.
    [[nodiscard]] const LimitOverride& numbers_of(Brief brief) const noexcept {
        return all_->numbers[all_->plans[brief.plan].first];
    }
    // A keyed hash of the overrides in their brief form, not 0: where it is equal, also in an
    // earlier process, so are these.
    [[nodiscard]] std::uint64_t name() const noexcept { return name_; }

    [[nodiscard]] const Overrides& all() const noexcept { return *all_; }
    [[nodiscard]] std::size_t bytes() const noexcept { return memory_.bytes(); }

private:
    static constexpr std::uint32_t kEmpty = 0;
    // The value of a slot: the plan's index + 1, its kind, and eight of its line's 32 bits that
    // mark which keys have overflowed to the next.
    static constexpr unsigned kPlanBits = 22;
    static constexpr std::uint32_t kPlanMask = (1U << kPlanBits) - 1;
    static constexpr unsigned kKindShift = kPlanBits;
    static constexpr std::uint32_t kKindMask = 3;
    static constexpr unsigned kPassedShift = 24;
    static_assert(kMaxOverrides < kPlanMask, "a plan for each key");

    struct Slot {
        std::uint64_t digest = 0;
        std::uint32_t check = 0;
        std::uint32_t said = kEmpty;
    };
    struct alignas(64) Line {
        Slot slots[4];

        // The slots that hold a digest; a bit each, in the order 0, 2, 1, 3.
        [[nodiscard]] unsigned hits(std::uint64_t digest) const noexcept {
            const auto* halves = reinterpret_cast<const __m256i*>(slots);
            const __m256i digests =
                _mm256_unpacklo_epi64(_mm256_load_si256(halves), _mm256_load_si256(halves + 1));
            const __m256i same =
                _mm256_cmpeq_epi64(digests, _mm256_set1_epi64x(static_cast<long long>(digest)));
            return static_cast<unsigned>(_mm256_movemask_pd(_mm256_castsi256_pd(same)));
        }
        [[nodiscard]] bool passed_on(std::uint64_t digest) const noexcept {
            return (slots[digest >> 3 & 3].said >> (kPassedShift + (digest & 7)) & 1U) != 0;
        }
        void pass_on(std::uint64_t digest) noexcept {
            slots[digest >> 3 & 3].said |= 1U << (kPassedShift + (digest & 7));
        }
    };
    static_assert(sizeof(Line) == 64, "one miss for a key");

    [[nodiscard]] static std::uint32_t plan_in(std::uint32_t said) noexcept {
        return (said & kPlanMask) - 1;
    }
    // The key's value, without the bits that are the line's; kEmpty: none.
    template <typename Bytes>
    [[nodiscard]] std::uint32_t say(std::uint64_t digest, Bytes&& bytes) const noexcept {
        for (std::size_t at = line_at(digest);; at = next(at)) {
            const Line& here = line(at);
            for (unsigned hits = here.hits(digest); hits != 0; hits &= hits - 1) {
                constexpr std::uint8_t kInOrder[] = {0, 2, 1, 3};
                const Slot& slot = here.slots[kInOrder[std::countr_zero(hits)]];
                const std::uint32_t said = slot.said & ((1U << kPassedShift) - 1);
                if (said != kEmpty && slot.check == check_of(bytes())) {
                    return said;
                }
            }
            if (!here.passed_on(digest)) [[likely]] {
                return kEmpty;
            }
        }
    }

    [[nodiscard]] std::size_t line_at(std::uint64_t digest) const noexcept {
        return static_cast<std::size_t>((static_cast<Wide>(digest) * lines_) >> 64);
    }
    [[nodiscard]] std::size_t next(std::size_t at) const noexcept {
        return at + 1 == lines_ ? 0 : at + 1;
    }
    [[nodiscard]] Line& line(std::size_t at) const noexcept {
        return static_cast<Line*>(memory_.data())[at];
    }
    [[nodiscard]] bool is_in_network(ByteView key) const noexcept;
    [[nodiscard]] Brief brief_in_range(ByteView key) const noexcept;
    [[nodiscard]] std::uint32_t check_of(ByteView key) const noexcept {
        return static_cast<std::uint32_t>(check_.digest(key));
    }
    void add(std::uint64_t digest, std::uint32_t check, std::uint32_t said) noexcept;

    const Overrides* all_;
    Wider wider_;
    std::size_t lines_;
    LineMemory memory_;
    KeyHasher check_;
    std::uint64_t name_ = 0;
};

}  // namespace sluice
