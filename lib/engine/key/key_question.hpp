#pragma once
#include "lib/engine/burst/core_state.hpp"
#include "lib/rules/group.hpp"
#include "lib/rules/key_action.hpp"
#include "lib/rules/load/loaded_set.hpp"

#include <array>
#include <cstdint>
#include <span>

// A question or command of an operator about one key of a rule. The worker answers between two
// bursts, since nobody else may touch its buckets.
namespace sluice {

struct KeyQuestion {
    KeyAction action = KeyAction::Show;
    std::uint64_t load = 0;         // of the set that `rule` is meant in
    std::uint32_t rule = 0;         // index in it
    std::uint8_t key = 0;           // of the rule's keys
    KeyBytes bytes;                 // the key
    std::uint16_t limits = 0xFFFF;  // a bit for each limit of the rule that is meant
    bool with_ban = true;           // Reset: the key's ban is meant too
    Units units;                    // of Grant
};
static_assert(kMaxLimitsPerRule <= 16);

// One limit's bucket of the key.
struct KeyBucket {
    std::uint8_t limit = 0;   // index in the rule
    bool own = false;         // the key has a bucket here; else it would get one
    bool overridden = false;  // the key has numbers of its own
    // The rate of these numbers: so many units in a time. No time: they are no bucket's.
    Rate rate{};
    // 0: no wider key owes anything that counts against this one. Else the nearest that does: its
    // network, the one after that, or the rule itself.
    std::uint8_t aggregation_level = 0;
    Units before;       // what would have been admitted
    Units remaining;    // what would be admitted now
    Units most;         // of a full bucket
    Units given_wider;  // back to wider keys on this one's behalf: the most to any of them
    Nanoseconds wait;   // until the cost is admitted; kNever
    Nanoseconds fresh;  // until it equals a fresh bucket
    // Without a bucket of its own: what it owes in tables that are charged no more counts, and its
    // next packet takes it over.
    bool carried = false;
    // The network or range that its numbers come from, of those that it lies in from the smallest
    // on, from 1 on; 0: from none.
    std::uint8_t range = 0;
};

// The key's place in the rule's penalty box.
struct KeyBox {
    Units refusals;      // that count now
    Units after;         // so many are a ban; 0: the rule has none
    Nanoseconds left{};  // of the ban that its packets meet, before anything was done; 0: none
    bool lifted = false;
    std::uint8_t aggregation_level = 0;  // of the wider network whose ban it is; 0: its own
};

struct KeyAnswer {
    bool known = false;  // the worker acts on that set
    // The key is: nothing below is asked of its packets.
    bool exempt = false;
    bool banned = false;
    std::uint8_t exempt_range = 0;  // that exempts it, counted as in KeyBucket; 0: none does
    KeyBox box;
    std::uint8_t count = 0;
    std::array<KeyBucket, kMaxLimitsPerRule> buckets{};

    [[nodiscard]] std::span<const KeyBucket> limits() const noexcept {
        return std::span{buckets}.first(count);
    }
};

// To be called between bursts, by the owner of `core`.
[[nodiscard]] KeyAnswer answer_key(const KeyQuestion& question, const LoadedSet& set,
                                   CoreState& core, Now now) noexcept;

}  // namespace sluice
