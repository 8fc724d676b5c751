#include "lib/l7/stream/track/tcp_window.hpp"

namespace sluice {
namespace {

// A probe of one byte and a FIN may lie beyond a closed window, and empty segments behind them.
constexpr std::uint32_t kBeyondClosed = 2;

}  // namespace

AckPlace place_of_ack(const TcpHalf& half, std::uint32_t ack, std::uint32_t widest,
                      bool is_long) noexcept {
    // Without signs: half of all numbers away, a number is neither before another nor behind it.
    if (ack - half.una <= half.next - half.una) {
        return AckPlace::Fits;
    }
    // A first number is acknowledged by the number behind it, and never by less.
    const std::uint32_t most = is_long ? kWidestWindow : half.una - half.iss - 1;
    if (half.una - ack <= std::min(widest, most)) {
        return AckPlace::Fits;
    }
    return is_behind(ack, half.next) ? AckPlace::Unsent : AckPlace::TooOld;
}

DataPlace place_of_data(const TcpHalf& half, std::uint32_t from, std::uint32_t to,
                        bool is_long) noexcept {
    const std::int32_t ahead = sequence_distance(half.una, from);
    const std::uint32_t before = ahead < 0 ? half.una - from : 0;
    const std::uint32_t size = to - from;
    const std::uint32_t room = half.edge - half.una;
    if (before > half.age_limit(is_long)) {
        return DataPlace::Alien;
    }
    if (size == 0) {
        return before != 0                                                ? DataPlace::Old
               : static_cast<std::uint32_t>(ahead) > room + kBeyondClosed ? DataPlace::Alien
                                                                          : DataPlace::Fits;
    }
    if (before != 0) {
        return size <= before          ? DataPlace::Old
               : size - before <= room ? DataPlace::Fits
                                       : DataPlace::Beyond;
    }
    // Below 2^31 and a segment's size: the sum does not wrap.
    if (static_cast<std::uint32_t>(ahead) + size <= room) {
        return DataPlace::Fits;
    }
    return size == 1 && ahead == 0 && room == 0 ? DataPlace::Probe : DataPlace::Beyond;
}

ResetPlace place_of_reset(const TcpHalf& half, std::uint32_t seq) noexcept {
    if (seq == half.una) {
        return ResetPlace::Exact;
    }
    return !is_behind(half.una, seq) && !is_behind(seq, half.edge + kBeyondClosed)
               ? ResetPlace::InWindow
               : ResetPlace::Outside;
}

}  // namespace sluice
