#include "lib/conn/track/port_checksums.hpp"

namespace sluice {

PortChecksums::Judgement PortChecksums::judge(ChecksumFinding finding) noexcept {
    Judgement judgement;
    if (policy_ == ChecksumPolicy::Auto) {
        right_ += finding == ChecksumFinding::Right ? 1U : 0U;
        unfinished_ += finding == ChecksumFinding::Unfinished ? 1U : 0U;
        const State next = next_state();
        judgement.state_changed = next != state_;
        state_ = next;
    }
    judgement.is_wrong = state_ == State::Verifying && (finding == ChecksumFinding::Wrong ||
                                                        finding == ChecksumFinding::Unfinished);
    return judgement;
}

PortChecksums::State PortChecksums::next_state() noexcept {
    const std::uint32_t known = right_ + unfinished_;
    if (state_ == State::Learning) {
        // A sender that leaves its sums unfinished does so from its first segment on.
        if (unfinished_ >= right_ && unfinished_ >= kEnough) {
            return State::Trusting;
        }
        return right_ >= kEnough && right_ > unfinished_ ? State::Verifying : State::Learning;
    }
    if (known < kWindow) {
        return state_;
    }
    const State next = unfinished_ >= right_ ? State::Trusting : State::Verifying;
    right_ = 0;
    unfinished_ = 0;
    return next;
}

}  // namespace sluice
