#pragma once
#include "lib/base/bytes.hpp"
#include "lib/base/units.hpp"
#include "lib/packet/toward.hpp"

#include <concepts>
#include <cstddef>

namespace sluice {

// The outlet of act_burst(): the ports of a lane, a capture, a test's record. A sink knows the
// burst's frames by row. Each row is forwarded, dropped or held exactly once, in order; before that
// it may be rewritten.
//
//   rewrite  gives `write` the frame's bytes, contiguous from the first one to the end of the
//   headers
//            at least, and keeps what it writes. False: there is no memory for that; the frame is
//            as it was.
//   emit     sends a frame of `size` bytes that the box itself makes: `write` fills it in. False:
//   there
//            is no memory for it.
template <typename S>
concept Sink =
    requires(S& sink, std::size_t row, Toward side, void (&write)(MutableBytes) noexcept) {
        { sink.forward(row) } noexcept;
        { sink.drop(row) } noexcept;
        { sink.rewrite(row, write) } noexcept -> std::same_as<bool>;
        { sink.emit(row, side, std::size_t{}, write) } noexcept -> std::same_as<bool>;
    };

// A sink that can also keep a packet and forward it at a later instant (the action `shape`). One
// that cannot forwards it at once.
template <typename S>
concept HoldingSink = Sink<S> && requires(S& sink, std::size_t row, Instant until) {
    { sink.now() } noexcept -> std::same_as<Instant>;
    { sink.hold(row, until) } noexcept;
};

}  // namespace sluice
