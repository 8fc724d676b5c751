#include "lib/engine/stage/answered_rows.hpp"

#include "lib/packet/transport.hpp"
#include "lib/respond/answer/frame_route.hpp"
#include "lib/respond/answer/server_direction.hpp"

namespace sluice {
namespace {

// Only of a row whose header is all there.
[[nodiscard]] bool has_numbers(const Burst& burst, std::size_t row) noexcept {
    const PacketHeaders& headers = burst.headers_of(row);
    return headers.proto == kProtoTcp && headers.payload_at <= burst.frame(row).bytes.size();
}
[[nodiscard]] SegmentNumbers numbers_of(const Burst& burst, std::size_t row) noexcept {
    const PacketHeaders& headers = burst.headers_of(row);
    const ByteView frame = burst.frame(row).bytes;
    return {.seq = load_be32(frame, headers.l4_at + 4U),
            .ack = load_be32(frame, headers.l4_at + 8U),
            .flags = headers.tcp_flags,
            .payload = headers.payload_len};
}

[[nodiscard]] bool will_be_answered(const Burst& burst, std::size_t row,
                                    const LoadedSet& set) noexcept {
    const AnsweredPacket packet = burst.answered(row);
    const Decision& decision = burst.packets()[row].decision;
    FrameRoute route;
    return ends_connection(packet, set.actions[decision.action], set.actions) &&
           has_numbers(burst, row) &&
           FrameRoute::find(packet.headers, packet.frame.bytes, Toward::Destination, route) ==
               RouteFault::None;
}

// Rows of TCP whose ports are those of `row`, in either order.
[[nodiscard]] RowMask rows_with_ports(const Burst& burst, std::size_t row) noexcept {
    const HeaderColumns& headers = burst.headers();
    const std::uint16_t sport = headers.sport[row];
    const std::uint16_t dport = headers.dport[row];
    RowMask rows = 0;
    for (std::size_t other = row + 1; other < burst.size(); ++other) {
        const bool along = headers.sport[other] == sport && headers.dport[other] == dport;
        const bool against = headers.sport[other] == dport && headers.dport[other] == sport;
        rows |= along || against ? row_bit(other) : 0;
    }
    return rows & burst.live() & headers.present_rows(HeaderPart::Tcp);
}

// The connection that an answer ends, as the worker will know it.
class EndedConnection {
public:
    EndedConnection(const Burst& burst, std::size_t row, const KeyHasher& hash,
                    AnswerStanding standing) noexcept
        : hash_{hash},
          ends_{burst.ends_of(row, hash)},
          waits_{standing == AnswerStanding::UnderWay},
          knows_server_{standing == AnswerStanding::Next || !burst.answered(row).may_wait} {
        connection_.request = numbers_of(burst, row).seq;
        const bool has_fin = numbers_of(burst, row).has(kTcpFin);
        connection_.received =
            connection_.request + burst.headers_of(row).payload_len + (has_fin ? 1U : 0U);
    }
    [[nodiscard]] bool begins_anew(const Burst& burst, std::size_t row) const noexcept {
        return numbers_of(burst, row).begins() && burst.ends_of(row, hash_) == ends_;
    }
    [[nodiscard]] bool has(const Burst& burst, std::size_t row) const noexcept {
        const SegmentNumbers came = numbers_of(burst, row);
        const ConnectionEnds of = burst.ends_of(row, hash_);
        if (of == ends_) {
            return goes_on(connection_, came.seq) && (!waits_ || came.reaches(connection_.request));
        }
        return of.digest == ends_.digest && knows_server_ && !waits_ && came.has(kTcpAck) &&
               is_near(connection_.request, came.ack);
    }

private:
    const KeyHasher& hash_;
    AnsweredConnection connection_;
    ConnectionEnds ends_;  // of the client's packet
    bool waits_;           // for the answer before it: what was sent before the request goes on
    bool knows_server_;
};

}  // namespace

RowMask decide_answered(Burst& burst, RowMask rows, const CoreState& core, Instant now) noexcept {
    rows &= burst.headers().present_rows(HeaderPart::Tcp);
    const RowEnds& ends = burst.connection_ends(rows, core.hash);
    for_each_row(rows, [&](std::size_t row) { core.answered->prefetch(ends[row]); });
    RowMask answered = 0;
    for_each_row(rows, [&](std::size_t row) {
        if (has_numbers(burst, row) &&
            core.answered->meet(ends[row], numbers_of(burst, row), now)) {
            burst.decision(row) = dropped_for(Reason::Answered);
            answered |= row_bit(row);
        }
    });
    return answered;
}

RowMask rows_answered_on_sight(const Burst& burst, const LoadedSet& set) noexcept {
    RowMask rows = 0;
    if (set.meter_plan.answers_on_sight) [[unlikely]] {
        for_each_row(burst.live() & burst.scratch().decided, [&](std::size_t row) {
            rows |= answers(burst.packets()[row].decision.verdict) ? row_bit(row) : 0;
        });
    }
    return rows;
}

void RowsBehindAnswers::take(RowMask rows, FastPath& fast) noexcept {
    rows_ |= rows;
    fast.withdraw(rows);
    for_each_row(rows,
                 [&](std::size_t row) { burst_.decision(row) = dropped_for(Reason::Answered); });
}

RowMask RowsBehindAnswers::find(std::size_t row) const noexcept {
    const RowMask near = rows_with_ports(burst_, row);
    if (near == 0 || !will_be_answered(burst_, row, set_)) {
        return 0;
    }
    // The answerer will find the same, unless a row ahead of this one in the burst changes it.
    const AnswerStanding standing = core_.answered->served().standing_of(
        burst_.answered(row), BothWays{burst_.ends_of(row, core_.hash)}, numbers_of(burst_, row),
        now_);
    if (standing == AnswerStanding::Unproven) {
        return 0;
    }
    const EndedConnection ended{burst_, row, core_.hash, standing};
    RowMask found = 0;
    bool begins_anew = false;
    for_each_row(near, [&](std::size_t other) {
        if (has_numbers(burst_, other)) {
            begins_anew |= ended.begins_anew(burst_, other);
            found |= !begins_anew && ended.has(burst_, other) ? row_bit(other) : 0;
        }
    });
    return found;
}

}  // namespace sluice
