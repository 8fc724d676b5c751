#include "lib/capture/pcapng_interface.hpp"

#include "lib/base/wide.hpp"
#include "lib/capture/pcapng_format.hpp"
#include "lib/capture/timestamp.hpp"

#include <algorithm>
#include <limits>

namespace sluice {
namespace {

constexpr std::size_t kFixedSize = 8;  // link type, reserved, snap length
constexpr std::size_t kOptionHead = 4;
constexpr std::uint16_t kTimeOffset = 14;

// if_tsresol: a power of ten, or with the upper bit set of two.
std::optional<std::uint64_t> ticks_of(std::uint8_t resolution) {
    const unsigned exponent = resolution & 0x7F;
    if ((resolution & 0x80) != 0) {
        return exponent < 64 ? std::optional{std::uint64_t{1} << exponent} : std::nullopt;
    }
    constexpr unsigned kMostDigits = std::numeric_limits<std::uint64_t>::digits10;
    if (exponent > kMostDigits) {
        return std::nullopt;
    }
    std::uint64_t ticks = 1;
    for (unsigned i = 0; i < exponent; ++i) {
        ticks *= 10;
    }
    return ticks;
}

}  // namespace

std::optional<CaptureInterface> CaptureInterface::read(ByteView body, FileOrder order) {
    if (body.size() < kFixedSize) {
        return std::nullopt;
    }
    CaptureInterface read{.link_type = order.u16(body, 0), .snap_length = order.u32(body, 4)};
    for (std::size_t at = kFixedSize; body.size() - at >= kOptionHead;) {
        const std::uint16_t code = order.u16(body, at);
        const std::size_t size = order.u16(body, at + 2);
        at += kOptionHead;
        if (code == pcapng::kEndOfOptions || size > body.size() - at) {
            break;
        }
        if (code == pcapng::kTimeResolution && size == 1) {
            const auto ticks = ticks_of(load_u8(body, at));
            if (!ticks) {
                return std::nullopt;
            }
            read.ticks_per_second = *ticks;
        } else if (code == kTimeOffset && size == 8) {
            read.offset = static_cast<std::int64_t>(order.u64(body, at));
        }
        at = std::min(body.size(), at + (size + 3) / 4 * 4);
    }
    return read;
}

Instant CaptureInterface::instant(std::uint64_t ticks) const noexcept {
    constexpr std::uint64_t kPerSecond = 1'000'000'000;
    constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    std::int64_t seconds = static_cast<std::int64_t>(std::min(ticks / ticks_per_second, kMost));
    if (__builtin_add_overflow(seconds, offset, &seconds)) {
        seconds = offset < 0 ? std::numeric_limits<std::int64_t>::min()
                             : std::numeric_limits<std::int64_t>::max();
    }
    const auto fraction = static_cast<std::int64_t>(static_cast<Wide>(ticks % ticks_per_second) *
                                                    kPerSecond / ticks_per_second);
    return clamped_instant(seconds, fraction);
}

}  // namespace sluice
