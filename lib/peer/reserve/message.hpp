#pragma once
#include "lib/bucket/meter/cell.hpp"
#include "lib/bucket/meter/color_limit.hpp"
#include "lib/bucket/meter/connection_segment.hpp"
#include "lib/bucket/table/entry.hpp"

#include <cstdint>
#include <type_traits>

// What a worker asks the owner of a key, and is answered. Each message is complete by itself: the
// owner needs neither the packet nor anything else of who asks.
namespace sluice {

// A question of one asker: its place there, and how often that place has been given.
struct Ticket {
    std::uint32_t place = 0;
    std::uint32_t turn = 0;

    [[nodiscard]] bool operator==(const Ticket&) const noexcept = default;
};

struct Question {
    enum class Kind : std::uint8_t {
        Ask,     // may it be charged? Reserved until it is settled
        Commit,  // it is charged
        Cancel,  // it never will be
        Spend,   // no answer: as much as there is of the cost is charged (rejected_spend)
    };
    Ticket ticket;
    Kind kind = Kind::Ask;
    Color color = Color::Green;  // of the packet, as it came
    LimitSlot slot = 0;
    std::uint32_t own = 0;  // the key's own numbers (Overrides::numbers), from 1 on; 0: the limit's
    std::uint64_t load = 0;  // of the rule set that `own` is meant in
    std::uint64_t hash = 0;  // of the key under the limit
    Units cost;
    ConnectionStart connection{};  // that it may open or complete; a digest of 0: none
};
static_assert(sizeof(Question) == 64 && std::is_trivially_copyable_v<Question>);

struct Answer {
    enum class What : std::uint8_t {
        Judged,   // by the bucket: conformance says how
        NoPlace,  // the key found no place for its bucket, and the rule's on_full decided
        Unknown,  // the owner's rules have no such limit
    };
    Ticket ticket;
    What what = What::Unknown;
    Conformance conformance = Conformance::Red;
    std::uint8_t aggregation_level = 0;  // of the bucket
    Nanoseconds wait{};                  // of a refusal
};
static_assert(sizeof(Answer) == 24 && std::is_trivially_copyable_v<Answer>);

[[nodiscard]] constexpr bool admits(const Answer& answer) noexcept {
    return answer.what != Answer::What::Unknown &&
           (answer.conformance == Conformance::Green || answer.conformance == Conformance::Yellow);
}

}  // namespace sluice
