#pragma once
#include "lib/act/sink.hpp"
#include "lib/act/tag.hpp"
#include "lib/packet/packet_headers.hpp"
#include "lib/rules/action.hpp"
#include "lib/rules/decision.hpp"

#include <concepts>
#include <cstddef>
#include <span>

// The one place where a decision becomes bytes and a destination: for the box, for a replayed
// capture and for tests alike.
namespace sluice {

// What is read of a burst, however it lies in memory.
template <typename B>
concept DecidedBurst = requires(B& burst, std::size_t row) {
    // Calls visit(row) for each packet that has been decided, in arrival order.
    burst.for_each_packet([](std::size_t) noexcept {});
    { burst.headers(row) } noexcept -> std::same_as<const PacketHeaders&>;
    { burst.decision(row) } noexcept -> std::same_as<Decision&>;
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

// Carries out every decision of the burst, in arrival order. `actions` is the table of the rule set
// that decided. A frame that cannot be rewritten is dropped, and its decision then says no_memory.
template <DecidedBurst Burst, Sink Out>
void act_burst(Burst& burst, std::span<const Action> actions, Out& sink) noexcept {
    burst.for_each_packet([&](std::size_t row) noexcept {
        Decision& decision = burst.decision(row);
        if (decision.verdict == Verdict::Tag &&
            !rewrite_frame(burst, row, actions[decision.action], sink)) {
            decision = dropped_for(Reason::NoMemory);
        }
        if constexpr (HoldingSink<Out>) {
            if (decision.verdict == Verdict::Shape) {
                sink.hold(row, sink.now() + decision.wait);
                return;
            }
        }
        if (forwards(decision.verdict)) {
            sink.forward(row);
        } else {
            sink.drop(row);
        }
    });
}

}  // namespace sluice
