#pragma once
#include "lib/engine/burst/burst.hpp"
#include "lib/engine/burst/counters.hpp"
#include "lib/engine/worker/held_frames.hpp"
#include "lib/engine/worker/packet_io.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace sluice {

// Sends frames that were held, each by the lane that it came by: lane by lane, in order within
// each.
template <PacketIo Io>
void depart(std::span<const HeldFrame<Io>> frames, WorkerCounters& counters) noexcept {
    std::uint64_t left = frames.empty() ? 0 : ~std::uint64_t{0} >> (64 - frames.size());
    std::array<typename Io::Frame*, kMaxBurst> out;
    while (left != 0) {
        Io* const lane = frames[static_cast<std::size_t>(std::countr_zero(left))].lane;
        std::size_t count = 0;
        for (std::size_t i = 0; i < frames.size(); ++i) {
            if (frames[i].lane == lane) {
                out[count++] = frames[i].frame;
                left &= ~(std::uint64_t{1} << i);
            }
        }
        lane->depart(std::span{out}.first(count), counters);
    }
}

// Sends what `take` gives of the frames that are held, so many bursts at most.
template <PacketIo Io, typename Take>
void send_held(std::size_t bursts, WorkerCounters& counters, Take&& take) noexcept {
    std::array<HeldFrame<Io>, kMaxBurst> frames;
    for (std::size_t count = kMaxBurst; bursts != 0 && count == kMaxBurst; --bursts) {
        count = take(std::span{frames});
        depart<Io>(std::span{frames}.first(count), counters);
    }
}

}  // namespace sluice
