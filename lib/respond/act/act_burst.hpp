#pragma once
#include "lib/l7/stream/normalization.hpp"
#include "lib/l7/stream/track/segment_bytes.hpp"
#include "lib/packet/packet_headers.hpp"
#include "lib/respond/act/answerer.hpp"
#include "lib/respond/act/sink.hpp"
#include "lib/respond/act/tag.hpp"
#include "lib/respond/action.hpp"
#include "lib/respond/answer/made_datagram.hpp"
#include "lib/respond/decision.hpp"

#include <concepts>
#include <cstddef>
#include <span>

// The one place where a decision becomes bytes and a destination: for the box, for a replayed
// capture and for tests alike.
namespace sluice {

// The reading of a burst, however it lies in memory.
template <typename B>
concept DecidedBurst = requires(B& burst, std::size_t row) {
    // Calls visit(row) for each packet that has been decided, in arrival order.
    burst.for_each_packet([](std::size_t) noexcept {});
    { burst.headers(row) } noexcept -> std::same_as<const PacketHeaders&>;
    { burst.decision(row) } noexcept -> std::same_as<Decision&>;
    { burst.answered(row) } noexcept -> std::same_as<AnsweredPacket>;
    { burst.glance(row) } noexcept -> std::same_as<SegmentGlance>;
    // True if the row holds a header of TCP, and if any row does.
    { burst.has_tcp(row) } noexcept -> std::same_as<bool>;
    { burst.has_tcp() } noexcept -> std::same_as<bool>;
    // Changes that normalising makes to a packet that is forwarded, and true if it makes any.
    { burst.normalization(row) } noexcept -> std::same_as<Normalization>;
    { burst.normalizes() } noexcept -> std::same_as<bool>;
};

// Writes into the frame what the action wants there. False: there was no memory to do it in.
template <DecidedBurst Burst, Sink Out>
[[nodiscard, gnu::noinline]] bool rewrite_frame(Burst& burst, std::size_t row, const Action& action,
                                                Out& sink) noexcept {
    const PacketHeaders& headers = burst.headers(row);
    return sink.rewrite(row, [&](MutableBytes frame) noexcept {
        tag_frame(frame, headers, action.tag.dscp, action.tag.pcp);
    });
}

// Writes into the frame what normalising changes. False: there was no memory to do it in, or a line
// lies behind the bytes that can be written to.
template <DecidedBurst Burst, Sink Out>
[[nodiscard, gnu::noinline]] bool normalize_frame(Burst& burst, std::size_t row,
                                                  Out& sink) noexcept {
    const Normalization change = burst.normalization(row);
    if (!change.any()) {
        return true;
    }
    const PacketHeaders& headers = burst.headers(row);
    bool reaches_all = true;
    const bool is_open = sink.rewrite(row, [&](MutableBytes frame) noexcept {
        if (change.clears_urgent) {
            clear_urgent(headers, frame);
        }
        if (change.clears_options) {
            clear_options(headers, frame);
        }
        if (change.is_probe) {
            make_probe(headers, frame);
        }
        if (change.raises_to != 0) {
            set_ttl(headers, change.raises_to, frame);
        }
        for (const PayloadRange& line : change.voided()) {
            reaches_all &= std::size_t{headers.payload_at} + line.end <= frame.size();
            void_line(headers, line, frame);
        }
    });
    return is_open && reaches_all;
}

// Sends what the box itself has made for a packet.
template <Sink Out>
[[gnu::noinline]] void emit_made(std::size_t row, Answerer& answerer, Out& sink) noexcept {
    const MadeFrames& made = answerer.made();
    for (std::size_t i = 0; i < made.count; ++i) {
        const MadeFrame& frame = made.frames[i];
        const FrameRoute& route = made.route(frame);
        const std::size_t size = frame.is_datagram ? datagram_frame_size(route, frame.payload)
                                                   : segment_frame_size(route, frame.segment);
        const bool sent = sink.emit(row, frame.side, size, [&](MutableBytes bytes) noexcept {
            frame.is_datagram ? write_datagram(route, frame.payload, bytes)
                              : write_segment(route, frame.segment, bytes);
        });
        if (!sent) {
            answerer.note_unsent();
        }
    }
}

// The answerer, and the rules that decided.
struct Answering {
    Answerer& answerer;
    AnswerContext context;
};

// Prefetches the lines of memory that the rows' connections may be in.
template <DecidedBurst Burst>
[[gnu::noinline]] void prefetch_connections(Burst& burst, const Answering& by) noexcept {
    burst.for_each_packet([&](std::size_t row) noexcept {
        if (burst.has_tcp(row)) {
            by.answerer.answered().prefetch(connection_ends(burst.headers(row), by.context.hash));
        }
    });
}

// Rows that only some bursts have: packets of connections that were answered, or to be answered.
template <DecidedBurst Burst, Sink Out>
[[gnu::noinline]] void answer_row(Burst& burst, std::size_t row, const Answering& by,
                                  Out& sink) noexcept {
    Decision& decision = burst.decision(row);
    const AnsweredPacket packet = burst.answered(row);
    if (!by.answerer.follow(packet, by.context, decision)) {
        if (!answers(decision.verdict)) {
            return;
        }
        by.answerer.answer(packet, by.context, decision);
    }
    emit_made(row, by.answerer, sink);
}

// Answers a repeated hello of QUIC that was refused.
template <DecidedBurst Burst, Sink Out>
[[gnu::noinline]] void answer_again(Burst& burst, std::size_t row, const Answering& by,
                                    Out& sink) noexcept {
    if (by.answerer.close_again(burst.answered(row), by.context)) {
        emit_made(row, by.answerer, sink);
    }
}

// Carries out every decision of the burst, in arrival order. `actions` is the table of the rule set
// that decided. A frame that cannot be rewritten is dropped, and its decision then says no_memory;
// one that cannot be answered is dropped too. `answering` nullptr: nothing is answered.
template <DecidedBurst Burst, Sink Out>
void act_burst(Burst& burst, std::span<const Action> actions, Out& sink,
               const Answering* answering = nullptr) noexcept {
    // Answers in this burst concern the rows of TCP behind them.
    const bool tracks = answering != nullptr && answering->context.follows && burst.has_tcp();
    bool follows = answering != nullptr && burst.has_tcp() &&
                   answering->answerer.answered().may_have_any(answering->context.now);
    const bool normalizes = burst.normalizes();
    bool prefetched = false;
    burst.for_each_packet([&](std::size_t row) noexcept {
        Decision& decision = burst.decision(row);
        if (decision.verdict == Verdict::Pass && !follows && !normalizes && !tracks) [[likely]] {
            sink.forward(row);
            return;
        }
        const bool is_answered = answering != nullptr && answers(decision.verdict);
        if (is_answered || (follows && burst.has_tcp(row))) [[unlikely]] {
            if (!prefetched) {
                prefetch_connections(burst, *answering);
                prefetched = true;
            }
            answer_row(burst, row, *answering, sink);
            follows = true;
        }
        if (decision.verdict == Verdict::Tag &&
            !rewrite_frame(burst, row, actions[decision.action], sink)) {
            decision = dropped_for(Reason::NoMemory);
        }
        if (normalizes && forwards(decision.verdict) && !normalize_frame(burst, row, sink)) {
            decision = dropped_for(Reason::NoMemory);
        }
        const bool goes_on = forwards(decision.verdict);
        if (tracks && goes_on && burst.has_tcp(row) &&
            answering->answerer.answered().served().concerns(burst.glance(row))) [[unlikely]] {
            answering->answerer.note_forwarded(burst.answered(row), answering->context);
        }
        if constexpr (HoldingSink<Out>) {
            if (decision.verdict == Verdict::Shape) {
                sink.hold(row, sink.now() + decision.wait);
                return;
            }
        }
        if (goes_on) {
            sink.forward(row);
            return;
        }
        if (decision.reason == Reason::Retransmission && answering != nullptr) [[unlikely]] {
            answer_again(burst, row, *answering, sink);
        }
        sink.drop(row);
    });
}

}  // namespace sluice
