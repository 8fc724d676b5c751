#include "lib/respond/answer/tcp_answer.hpp"

#include <algorithm>

namespace sluice {

std::optional<TcpTimestamps> timestamps_toward_sender(const TcpFacts& came) noexcept {
    if (!came.timestamps) {
        return std::nullopt;
    }
    return TcpTimestamps{.value = came.timestamps->echo, .echo = came.timestamps->value};
}

ResponseCut cut_response(std::size_t size, bool has_timestamps) noexcept {
    constexpr std::size_t kOptions = 12;
    const std::size_t piece = kResponseMss - (has_timestamps ? kOptions : 0);
    if (size == 0 || size > kMostResponseSegments * piece) {
        return {};
    }
    return {.count = (size + piece - 1) / piece, .piece = piece};
}

ResponsePlace response_to(const TcpFacts& request) noexcept {
    return {.seq = request.ack,
            .request = request.seq,
            .received = request.end(),
            .timestamps = timestamps_toward_sender(request)};
}

MadeSegment response_segment(const ResponsePlace& place, ByteView response, const ResponseCut& cut,
                             std::size_t index) noexcept {
    const std::size_t begin = index * cut.piece;
    const bool is_last = index + 1 == cut.count;
    return {.seq = place.seq + static_cast<std::uint32_t>(begin),
            .ack = is_last ? place.received : place.request,
            .flags = is_last ? std::uint16_t{kTcpAck | kTcpPsh | kTcpFin} : kTcpAck,
            .timestamps = place.timestamps,
            .payload = response.subspan(begin, std::min(cut.piece, response.size() - begin))};
}

std::optional<MadeSegment> reset_toward_sender(const TcpFacts& came) noexcept {
    if (came.has(kTcpRst)) {
        return std::nullopt;
    }
    const bool has_ack = came.has(kTcpAck);
    return MadeSegment{.seq = has_ack ? came.ack : 0,
                       .ack = came.end(),
                       .flags = std::uint16_t{kTcpRst | kTcpAck},
                       .timestamps = timestamps_toward_sender(came)};
}

std::optional<MadeSegment> reset_toward_receiver(const TcpFacts& came,
                                                 std::uint32_t first) noexcept {
    if (came.has(kTcpRst) || (came.has(kTcpSyn) && !came.has(kTcpAck))) {
        return std::nullopt;
    }
    return MadeSegment{.seq = first,
                       .ack = came.ack,
                       .flags = came.has(kTcpAck) ? std::uint16_t{kTcpRst | kTcpAck} : kTcpRst,
                       .timestamps = came.timestamps};
}

MadeSegment bare_ack(std::uint32_t seq, std::uint32_t ack,
                     const std::optional<TcpTimestamps>& timestamps) noexcept {
    return {.seq = seq, .ack = ack, .flags = kTcpAck, .timestamps = timestamps};
}

}  // namespace sluice
