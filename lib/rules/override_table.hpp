#pragma once
#include "lib/base/line_memory.hpp"
#include "lib/meter/group_key.hpp"
#include "lib/rules/overrides.hpp"

#include <cstddef>
#include <cstdint>

// Which keys have an override, for the packet path: immutable, one line of 64 bytes looked at.
//
//   digest --> line  [ digest | check, plan ] x 4     full: go on in the next line
//
// Nobody may be taken for an exempt key. The digest (64 bits, keyed, of the key's bytes) finds the
// place; only where it fits, a second hash of the same bytes under another secret gives 32 bits
// more. A stranger is taken for one of n keys with a probability of n / 2^96 for each key that he
// tries: with a million keys, and every address of a /64 tried, 2^-12. Both secrets are random and
// never leave the box, so it can be tried only packet by packet: at a hundred million a second a
// single hit is to be expected after some twenty million years.
namespace sluice {

class OverrideTable {
public:
    // A table for the keys; digests are those of KeyHasher{secret}.
    OverrideTable(const KeyOverrides& keys, const Overrides& all, const HashSecret& secret);

    void prefetch(std::uint64_t digest) const noexcept { __builtin_prefetch(&line_of(digest)); }

    // What the key has; nullptr: nothing of its own. `bytes()` gives the key's canonical bytes, and
    // is called only where the digest is known.
    template <typename Bytes>
    [[nodiscard]] const OverridePlan* find(std::uint64_t digest, Bytes&& bytes) const noexcept {
        for (std::size_t at = line_at(digest);; at = at + 1 == lines_ ? 0 : at + 1) {
            for (const Slot& slot : line(at).slots) {
                if (slot.plan == kEmpty) {
                    return nullptr;
                }
                if (slot.digest == digest && slot.check == check_of(bytes())) {
                    return &all_->plans[slot.plan - 1];
                }
            }
        }
    }

    [[nodiscard]] const Overrides& all() const noexcept { return *all_; }
    [[nodiscard]] std::size_t bytes() const noexcept { return memory_.bytes(); }

private:
    static constexpr std::uint32_t kEmpty = 0;
    struct Slot {
        std::uint64_t digest = 0;
        std::uint32_t check = 0;
        std::uint32_t plan = kEmpty;  // index + 1
    };
    struct alignas(64) Line {
        Slot slots[4];
    };
    static_assert(sizeof(Line) == 64, "one miss for a key");

    [[nodiscard]] std::size_t line_at(std::uint64_t digest) const noexcept {
        return static_cast<std::size_t>((static_cast<Wide>(digest) * lines_) >> 64);
    }
    [[nodiscard]] Line& line(std::size_t at) const noexcept {
        return static_cast<Line*>(memory_.data())[at];
    }
    [[nodiscard]] const Line& line_of(std::uint64_t digest) const noexcept {
        return line(line_at(digest));
    }
    [[nodiscard]] std::uint32_t check_of(ByteView key) const noexcept {
        return static_cast<std::uint32_t>(check_.digest(key));
    }
    void add(std::uint64_t digest, std::uint32_t check, std::uint32_t plan) noexcept;

    const Overrides* all_;
    std::size_t lines_;
    LineMemory memory_;
    KeyHasher check_;
};

}  // namespace sluice
