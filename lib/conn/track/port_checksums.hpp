#pragma once
#include "lib/packet/checksum_check.hpp"

#include <cstdint>

namespace sluice {

enum class ChecksumPolicy : std::uint8_t { Auto, Verify, Trust };

// One port's. With Auto, checksums are verified once 64 frames came right; where frames come that
// their sender has not finished, they are trusted, and the port's state says so. What most of a
// window of frames are decides again, so that a few made up frames switch nothing off.
class PortChecksums {
public:
    enum class State : std::uint8_t {
        Learning,   // too few frames have come: nothing is dropped
        Verifying,  // a wrong checksum is dropped
        Trusting,   // unfinished checksums come: nothing is dropped
    };
    static constexpr std::uint32_t kEnough = 64;
    static constexpr std::uint32_t kWindow = 1024;

    explicit PortChecksums(ChecksumPolicy policy = ChecksumPolicy::Auto) noexcept
        : policy_{policy}, state_{start_of(policy)} {}

    struct Judgement {
        bool is_wrong = false;       // the frame is to be dropped
        bool state_changed = false;  // which somebody should be told
    };
    [[nodiscard]] Judgement judge(ChecksumFinding finding) noexcept;

    [[nodiscard]] State state() const noexcept { return state_; }
    // Trust needs no look at the bytes.
    [[nodiscard]] bool needs_finding() const noexcept { return policy_ != ChecksumPolicy::Trust; }

private:
    [[nodiscard]] static State start_of(ChecksumPolicy policy) noexcept {
        return policy == ChecksumPolicy::Auto     ? State::Learning
               : policy == ChecksumPolicy::Verify ? State::Verifying
                                                  : State::Trusting;
    }
    [[nodiscard]] State next_state() noexcept;

    ChecksumPolicy policy_;
    State state_;
    // Since the window began; before it ends they are what was learnt.
    std::uint32_t right_ = 0;
    std::uint32_t unfinished_ = 0;
};

}  // namespace sluice
