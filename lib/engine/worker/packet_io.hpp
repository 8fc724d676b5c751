#pragma once
#include "lib/engine/burst/burst.hpp"
#include "lib/engine/burst/counters.hpp"
#include "lib/l7/stream/normalization.hpp"
#include "lib/respond/act/act_burst.hpp"
#include "lib/respond/action.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sluice {

// The part of a frame that rules look at.
enum class Reach : std::uint8_t { Headers, Everything };

template <typename Io>
class HeldFrames;

// The means by which a burst is sent.
template <typename Io>
struct SendContext {
    HeldFrames<Io>* held = nullptr;        // for what departs later; nullptr: it goes at once
    Instant now{};                         // when it was judged
    const Answering* answering = nullptr;  // nullptr: nothing is answered
};

// One lane of a worker: where its frames come from and how they leave. Ports and rings of mbufs
// model it (dataplane/io/dpdk_io.hpp), and frames in memory.
//
//   receive        fills the burst with what has come in, whose rows' buffers are frames. The
//                  number that came; the burst may hold less, where others take some of them.
//   receive_owned  the same of what other workers have handed to this one as the owner of its keys,
//                  with the changes that were noted in each
//   receive_held   the same of frames that came by this lane, and have waited since
//   owners         the rings to owners of keys, by worker; empty: nothing is handed over
//   send           carries out what was decided of a burst, and counts what does not depart later.
//                  A burst that was received is sent before the one after the next is received.
//   depart         sends frames of this lane whose departure has come, and counts them
//   buffers        that its frames come in, of all of them
//
// Frames are the worker's from receive() on, until they are sent, dropped, or put into a ring.
template <typename T>
concept PacketIo =
    requires(T& io, const T& seen, Burst& burst, Reach reach, WorkerCounters& counters,
             std::span<const Action> actions, const SendContext<T>& context,
             std::span<typename T::Frame* const> waited, std::span<typename T::Frame*> due,
             typename T::Frame& frame, typename T::Ring& ring, const Normalization& changes) {
        { io.receive(burst, reach) } noexcept -> std::same_as<std::size_t>;
        { io.receive_owned(burst, reach) } noexcept -> std::same_as<std::size_t>;
        { io.receive_held(burst, waited, reach) } noexcept;
        { seen.owners() } noexcept -> std::same_as<std::span<typename T::Ring* const>>;
        { io.send(burst, actions, counters, context) } noexcept;
        { io.depart(due, counters) } noexcept;
        { seen.buffers() } noexcept -> std::same_as<std::uint32_t>;
        // Frames: the buffers that one takes; the changes that its owner makes when it forwards it;
        // its end, unsent.
        { T::buffers_of(frame) } noexcept -> std::same_as<std::uint32_t>;
        { T::note(frame, changes) } noexcept;
        { T::free(frame) } noexcept;
        { ring.put(due.data(), 1U) } noexcept -> std::same_as<unsigned>;
    };

// The transmit queue of a worker, for those that have none: sends one burst of each of them, and
// says how many frames there were.
template <typename T>
concept PacketProxy = requires(T& proxy) {
    { proxy.send() } noexcept -> std::same_as<std::size_t>;
};

// The ways by which a worker's frames come and go.
template <PacketIo Io>
    requires PacketProxy<typename Io::Proxy>
struct WorkerLanes {
    std::vector<Io> lanes;
    std::vector<typename Io::Proxy> proxies;  // where it sends for others
    // Used only under rules whose packets are handed to the owners of their keys.
    std::vector<Io> owner_lanes;
    std::vector<typename Io::Proxy> owner_proxies;
};

}  // namespace sluice
