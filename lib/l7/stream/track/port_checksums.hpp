#pragma once
#include "lib/packet/checksum_check.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace sluice {

enum class ChecksumPolicy : std::uint8_t { Auto, Verify, Trust };

// The belief about frames that their sender has not finished (ChecksumFinding::Unfinished).
enum class UnfinishedSums : std::uint8_t {
    ByMajority,  // they come because a neighbour leaves sums to its adapter, if most are so
    ByProof,     // nothing, before receivers have taken some: prove_unfinished(), note_taken_of()
};

// One side's of a port or a service. With Auto, checksums are verified once 64 frames came right,
// and nobody who sends unfinished or wrong ones changes that: what verifies goes on, until
// receivers are seen to take unfinished ones. Then they are trusted, and the state says so.
//
//   Learning --64 right--> Verifying --proof--> Trusting, for good
//      '--most of 64 unfinished, ByMajority--> Trusting --most of 1,024 right--> Verifying
class PortChecksums {
public:
    enum class State : std::uint8_t {
        Learning,   // too few frames have come: nothing is dropped
        Verifying,  // a wrong checksum is dropped
        Trusting,   // unfinished checksums come: nothing is dropped
    };
    static constexpr std::uint32_t kEnough = 64;
    static constexpr std::uint32_t kWindow = 1024;
    static constexpr std::size_t kProvers = 8;

    explicit PortChecksums(ChecksumPolicy policy = ChecksumPolicy::Auto,
                           UnfinishedSums unfinished = UnfinishedSums::ByMajority) noexcept
        : policy_{policy}, believes_{unfinished}, state_{start_of(policy)} {}

    struct Judgement {
        bool is_wrong = false;       // the frame is to be dropped
        bool state_changed = false;  // which somebody should be told
    };
    [[nodiscard]] Judgement judge(ChecksumFinding finding) noexcept;
    // Judgement of a frame whose receiver will tell whether it takes it, or that changes nothing
    // but for its sender: with Auto an unfinished one passes.
    [[nodiscard]] Judgement judge_harmless(ChecksumFinding finding) noexcept;
    // A receiver has taken an unfinished frame. True: the state has changed.
    [[nodiscard]] bool prove_unfinished() noexcept;
    // A receiver has taken bytes of unfinished frames that came from this source: of as many
    // sources as kProvers that is the proof. True: the state has changed.
    [[nodiscard]] bool note_taken_of(std::uint32_t source) noexcept;
    [[nodiscard]] bool has_taken_of(std::uint32_t source) const noexcept;
    // Sources noted so far are not to be believed.
    void forget_takers() noexcept { provers_ = 0; }

    [[nodiscard]] State state() const noexcept { return state_; }
    // Trust needs no look at the bytes.
    [[nodiscard]] bool needs_finding() const noexcept { return policy_ != ChecksumPolicy::Trust; }
    // A frame of that kind is wrong, as far as is known.
    [[nodiscard]] bool is_wrong(ChecksumFinding finding, bool is_harmless) const noexcept {
        const bool unfinished_is = !is_harmless || policy_ != ChecksumPolicy::Auto;
        return state_ == State::Verifying &&
               (finding == ChecksumFinding::Wrong ||
                (finding == ChecksumFinding::Unfinished && unfinished_is));
    }

private:
    [[nodiscard]] static State start_of(ChecksumPolicy policy) noexcept {
        return policy == ChecksumPolicy::Auto     ? State::Learning
               : policy == ChecksumPolicy::Verify ? State::Verifying
                                                  : State::Trusting;
    }
    // True: the state has changed.
    [[nodiscard]] bool learn(ChecksumFinding finding) noexcept;
    [[nodiscard]] State next_state() noexcept;

    ChecksumPolicy policy_;
    UnfinishedSums believes_;
    State state_;
    bool proven_ = false;
    std::uint8_t provers_ = 0;
    std::array<std::uint32_t, kProvers> taken_of_{};
    // Since the window began; before it ends they are what was learnt.
    std::uint32_t right_ = 0;
    std::uint32_t unfinished_ = 0;
};

}  // namespace sluice
