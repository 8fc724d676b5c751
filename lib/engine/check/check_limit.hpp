#pragma once
#include "lib/bucket/meter/later_demand.hpp"
#include "lib/engine/burst/burst.hpp"
#include "lib/engine/burst/core_state.hpp"
#include "lib/engine/burst/limit_check.hpp"
#include "lib/rules/load/loaded_set.hpp"

namespace sluice {

class ReserveClient;

// The colour a packet comes with: the drop precedence of assured forwarding (RFC 2597), else green.
[[nodiscard]] Color color_of(std::uint8_t dscp) noexcept;
[[nodiscard]] inline Color color_of_row(const HeaderColumns& headers, std::size_t row) noexcept {
    return has_row(headers.present_rows(Field::IpDscp), row) ? color_of(headers.dscp[row])
                                                             : Color::Green;
}

// How the limits are looked at that are asked of their keys' owners.
struct AskContext {
    enum class Pass : std::uint8_t {
        Local,     // as any other limit: this worker is the owner
        DryRun,    // as if all owners said yes; nothing is counted, noted or charged
        NotAsked,  // as in the dry run: the packet is refused whatever they would say
        Answered,  // by what they have answered
    };
    Pass pass = Pass::Local;
    ReserveClient* reserve_client = nullptr;
    std::uint32_t place = ~std::uint32_t{0};  // of the packet (PendingSlot)
    std::uint8_t unit = 0;                    // of the packet

    [[nodiscard]] bool asks() const noexcept {
        return pass != Pass::Local && reserve_client != nullptr;
    }
    [[nodiscard]] bool is_dry_run() const noexcept { return pass == Pass::DryRun; }
};

// At the key's owner: the packet's colour, and the units that are reserved for other questions.
struct QuestionContext {
    Color color = Color::Green;
    ChargedBefore reserved;
    ConnectionStart connection{};  // as in Question
    bool reserves_value = false;   // for another one, the value that this one shows
};

// One packet being judged under one rule set.
struct CheckContext {
    const LoadedSet& set;
    CoreState& core;
    Now now;
    const FrameColumns& frames;
    const HeaderColumns& headers;
    std::size_t row;
    const LimitCheck* checks = nullptr;  // of all units of the packet
    AskContext ask{};
    const QuestionContext* question = nullptr;  // of which there is no packet here; nullptr: none
    // True if refusals say how long to wait: a client is told the longest wait of all that refuse.
    bool tells_wait = false;
    // True if the packet is of a connection whose client has completed the handshake, as far as a
    // ban asks for it (LoadedSet::proves_senders).
    bool is_proven = false;
    // The drop of a packet whose source is banned for all that it sends; nullptr: it is not.
    const Decision* ban = nullptr;

    [[nodiscard]] const PacketHeaders& packet_headers() const noexcept {
        return headers.headers(row);
    }
    [[nodiscard]] ByteView frame() const noexcept { return frames.frame(row).bytes; }
    [[nodiscard]] Color color() const noexcept {
        return question != nullptr ? question->color : color_of_row(headers, row);
    }
};

// Finds or makes the bucket of a look and asks it. Afterwards look.entry is held until settled, or
// is nullptr if the key found no place and the rule's on_full decided.
void check_limit(LimitCheck& check, const LoadedLimit& limit, const LoadedRule& rule,
                 const CheckContext& context) noexcept;

// The same for a bucket of the given aggregation level (0: the key's own), and no other: what finds
// no place there is counted as on_full says. False: it found none.
[[nodiscard]] bool check_at_level(LimitCheck& check, const LoadedLimit& limit,
                                  const LoadedRule& rule, const CheckContext& context,
                                  std::uint8_t aggregation_level) noexcept;

// Charges a look that was admitted, or, when `rejected`, whatever fits of its cost; both end the
// hold.
void commit(LimitCheck& check, const CheckContext& context, bool spends, bool rejected) noexcept;

}  // namespace sluice
