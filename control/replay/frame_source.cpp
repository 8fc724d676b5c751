#include "control/replay/frame_source.hpp"

#include <algorithm>

namespace sluice {

void FrameSource::read_ahead() {
    state_ = reader_.next(ahead_);
}

std::span<KeptFrame> FrameSource::next_batch() {
    if (!started_) {
        started_ = true;
        read_ahead();
    }
    std::size_t size = 0;
    const Instant timestamp = ahead_.timestamp;
    while (size < kMaxBurst && state_ == CaptureReader::Next::Frame &&
           ahead_.timestamp == timestamp) {
        kept_[size++].keep(ahead_);
        read_ahead();
    }
    if (size > 0) {
        now_ = std::max(now_, timestamp);
    }
    return std::span{kept_}.first(size);
}

}  // namespace sluice
