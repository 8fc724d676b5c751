#pragma once
#include "lib/base/bytes.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

namespace sluice::pktgen {

// What a frame carries in its last bytes so that its arrival tells its delay and its place in the
// order: a mark, the number of the frame, the low 48 bits of the counter of ticks when it was sent.
struct Probe {
    std::uint64_t number = 0;
    std::uint64_t sent_at = 0;
};

inline constexpr std::size_t kProbeSize = 18;
inline constexpr std::uint32_t kProbeMark = 0x534C5047;
inline constexpr std::uint64_t kTickMask = (std::uint64_t{1} << 48) - 1;

// Both of the same machine: 48 bits of a 5 GHz counter last 15 hours.
[[nodiscard]] constexpr std::uint64_t ticks_since(std::uint64_t sent_at,
                                                  std::uint64_t now) noexcept {
    return (now - sent_at) & kTickMask;
}

inline void write_probe(const Probe& probe, std::byte* to) noexcept {
    const std::uint32_t mark = __builtin_bswap32(kProbeMark);
    const std::uint64_t number = __builtin_bswap64(probe.number);
    const std::uint64_t ticks = __builtin_bswap64(probe.sent_at << 16);
    std::memcpy(to, &mark, 4);
    std::memcpy(to + 4, &number, 8);
    std::memcpy(to + 12, &ticks, 6);
}

[[nodiscard]] inline std::optional<Probe> read_probe(ByteView frame) noexcept {
    if (frame.size() < kProbeSize) {
        return std::nullopt;
    }
    const std::byte* from = frame.data() + frame.size() - kProbeSize;
    if (load_be<std::uint32_t>(from) != kProbeMark) {
        return std::nullopt;
    }
    const std::uint64_t high = load_be<std::uint32_t>(from + 12);
    return Probe{load_be<std::uint64_t>(from + 4),
                 (high << 16) | load_be<std::uint16_t>(from + 16)};
}

}  // namespace sluice::pktgen
