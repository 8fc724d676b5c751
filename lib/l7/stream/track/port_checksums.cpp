#include "lib/l7/stream/track/port_checksums.hpp"

#include <algorithm>

namespace sluice {

PortChecksums::Judgement PortChecksums::judge(ChecksumFinding finding) noexcept {
    const bool changed = learn(finding);
    return {.is_wrong = is_wrong(finding, false), .state_changed = changed};
}

PortChecksums::Judgement PortChecksums::judge_harmless(ChecksumFinding finding) noexcept {
    const bool changed = learn(finding);
    return {.is_wrong = is_wrong(finding, true), .state_changed = changed};
}

bool PortChecksums::prove_unfinished() noexcept {
    if (policy_ != ChecksumPolicy::Auto || proven_) {
        return false;
    }
    const bool changed = state_ != State::Trusting;
    proven_ = true;
    state_ = State::Trusting;
    return changed;
}

bool PortChecksums::note_taken_of(std::uint32_t source) noexcept {
    if (policy_ != ChecksumPolicy::Auto || proven_ || has_taken_of(source)) {
        return false;
    }
    taken_of_[provers_++] = source;
    return provers_ == kProvers && prove_unfinished();
}

bool PortChecksums::has_taken_of(std::uint32_t source) const noexcept {
    const auto end = taken_of_.begin() + provers_;
    return std::find(taken_of_.begin(), end, source) != end;
}

bool PortChecksums::learn(ChecksumFinding finding) noexcept {
    if (policy_ != ChecksumPolicy::Auto || state_ == State::Verifying || proven_) {
        return false;
    }
    right_ += finding == ChecksumFinding::Right ? 1U : 0U;
    unfinished_ +=
        finding == ChecksumFinding::Unfinished && believes_ == UnfinishedSums::ByMajority ? 1U : 0U;
    const State next = next_state();
    const bool changed = next != state_;
    state_ = next;
    return changed;
}

PortChecksums::State PortChecksums::next_state() noexcept {
    if (state_ == State::Learning) {
        // A sender that leaves its sums unfinished does so from its first segment on.
        if (unfinished_ >= right_ && unfinished_ >= kEnough) {
            return State::Trusting;
        }
        return right_ >= kEnough && right_ > unfinished_ ? State::Verifying : State::Learning;
    }
    if (right_ + unfinished_ < kWindow) {
        return state_;
    }
    const State next = unfinished_ >= right_ ? State::Trusting : State::Verifying;
    right_ = 0;
    unfinished_ = 0;
    return next;
}

}  // namespace sluice
