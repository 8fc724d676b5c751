#pragma once
#include "control/replay/kept_frame.hpp"
#include "lib/capture/reader.hpp"
#include "lib/engine/burst/burst.hpp"

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace sluice {

// A capture in bursts of one clock reading each.
//
//   timestamps   5 5 5 | 7 | 6 6 | 8        now = max(previous now, timestamp)
//   now            5     7    7    8        a burst ends where the timestamp changes
class FrameSource {
public:
    explicit FrameSource(CaptureReader& reader) : reader_{reader} {}

    // The next frames; empty at the end, of which end() says why.
    [[nodiscard]] std::span<KeptFrame> next_batch();
    // The clock reading of the last batch.
    [[nodiscard]] Instant now() const noexcept { return now_; }
    [[nodiscard]] CaptureReader::Next end() const noexcept { return state_; }

private:
    void read_ahead();

    CaptureReader& reader_;
    std::array<KeptFrame, kMaxBurst> kept_;
    CapturedFrame ahead_;  // read, not yet handed out; good while state_ is Frame
    CaptureReader::Next state_ = CaptureReader::Next::Frame;
    bool started_ = false;
    Instant now_{};
};

}  // namespace sluice
