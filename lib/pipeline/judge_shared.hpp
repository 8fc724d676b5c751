#pragma once
#include "lib/pipeline/judge_plain.hpp"
#include "lib/pipeline/take_ahead.hpp"

// The short way for one enforcing rule of one token bucket whose keys several workers spend, as
// judge_plain() is for others.
namespace sluice {

// False: nothing has been done, and the long way is to be taken.
[[nodiscard]] [[gnu::always_inline]] inline bool judge_shared(Packet& packet, const Match& match,
                                                              const PlainJudging& judging,
                                                              Ledger& ledger) noexcept {
    const PlainMatch by{match, judging};
    if (by.rule.max_unsynced == 0 || !by.is_at_hand(judging)) [[unlikely]] {
        return false;
    }
    switch (TakeAhead{by.rule, judging.now.at, ledger}(by.look)) {
        case Taken::Nothing:
            refuse(packet, match.rule, by, judging);
            return true;
        case Taken::Unknown:
            return false;
        case Taken::All:
            break;
    }
    by.counters.admitted.add(1);
    packet.decision = kWithinLimits;
    return true;
}

}  // namespace sluice
