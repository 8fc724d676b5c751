#pragma once
#include "lib/l7/http1/followed_body.hpp"

#include <algorithm>
#include <cstddef>

namespace sluice::test {

// What following a body came to.
struct BodyEnd {
    std::size_t bytes = 0;  // the body's
    bool is_done = false;
    bool is_broken = false;
    bool can_be = true;  // each state that was kept between two pieces
    HeadShapes shapes;
    [[nodiscard]] bool operator==(const BodyEnd&) const noexcept = default;
};

// Follows a body as a connection does: in pieces of so many bytes, by way of the state that is kept
// between two of them.
inline BodyEnd follow_body(const BodyFraming& framing, BodyWatch watch, ByteView bytes,
                           std::size_t piece) {
    BodyEnd end{.is_done = framing.kind == BodyFraming::Kind::None};
    if (framing.kind == BodyFraming::Kind::UntilClose || end.is_done) {
        return end;
    }
    FollowedBody::State state = FollowedBody{framing, watch}.state();
    bool is_first = true;
    while (is_first || (end.bytes < bytes.size() && !end.is_done && !end.is_broken)) {
        FollowedBody body{state};
        end.can_be = end.can_be && body.can_be();
        ChunkLines lines;
        end.bytes += body.feed(bytes.subspan(end.bytes, std::min(piece, bytes.size() - end.bytes)),
                               end.shapes, lines);
        end.is_done = body.is_done();
        end.is_broken = body.is_broken();
        state = body.state();
        is_first = false;
    }
    return end;
}

}  // namespace sluice::test
