#include "lib/l7/stream/track/tcp_options.hpp"

#include "lib/l7/stream/track/tcp_window.hpp"

namespace sluice {
namespace {

constexpr std::uint8_t kEndOfOptions = 0;
constexpr std::uint8_t kNoOperation = 1;
constexpr std::uint8_t kMaximumSegmentSize = 2;
constexpr std::uint8_t kWindowScale = 3;
constexpr std::uint8_t kSackPermitted = 4;  // RFC 2018
constexpr std::uint8_t kSack = 5;
constexpr std::uint8_t kTimestamps = 8;    // RFC 7323, 3.2
constexpr std::uint8_t kSignedByMd5 = 19;  // RFC 2385
constexpr std::uint8_t kUserTimeout = 28;  // RFC 5482
constexpr std::uint8_t kSignedByAo = 29;   // RFC 5925
constexpr std::uint8_t kFastOpen = 34;     // RFC 7413: SYNs with data are dropped

// The octets that are one layout of many: two of padding, then the timestamps.
constexpr std::uint32_t kPaddedTimestamps = 0x0101'080A;
constexpr std::size_t kPaddedTimestampsSize = 12;

bool are_timestamps_alone(ByteView options) noexcept {
    return options.size() == kPaddedTimestampsSize && load_be32(options, 0) == kPaddedTimestamps;
}

// 0: it is not sound.
std::size_t size_of_first(ByteView options) noexcept {
    const std::size_t size = load_u8(options, 0) == kNoOperation ? 1
                             : options.size() < 2                ? 0
                                                                 : load_u8(options, 1);
    const bool is_sound = size == 1 ? load_u8(options, 0) == kNoOperation : size >= 2;
    return is_sound && size <= options.size() ? size : 0;
}

// Hands each option to `visit`, with its place, until it returns false. False: one is not sound, or
// `visit` has stopped.
template <typename Visit>
bool for_each_option(ByteView options, std::size_t from, Visit visit) noexcept {
    for (std::size_t at = from; at < options.size();) {
        const ByteView rest = options.subspan(at);
        if (load_u8(rest, 0) == kEndOfOptions) {
            return true;
        }
        const std::size_t size = size_of_first(rest);
        if (size == 0 || !visit(rest.first(size), at)) {
            return false;
        }
        at += size;
    }
    return true;
}

constexpr bool is_known(std::uint8_t kind) noexcept {
    switch (kind) {
        case kNoOperation:
        case kMaximumSegmentSize:
        case kWindowScale:
        case kSackPermitted:
        case kSack:
        case kTimestamps:
        case kSignedByMd5:
        case kUserTimeout:
        case kSignedByAo:
        case kFastOpen:
            return true;
        default:
            return false;
    }
}

// True if all options are sound, and each of a kind that `takes` says a receiver takes.
template <typename Takes>
bool are_sound(ByteView options, Takes takes) noexcept {
    return for_each_option(options, 0,
                           [&](ByteView option, std::size_t) { return takes(load_u8(option, 0)); });
}

}  // namespace

std::optional<std::uint8_t> window_scale_in(ByteView options) noexcept {
    constexpr std::size_t kSize = 3;
    std::optional<std::uint8_t> scale;
    (void)for_each_option(options, 0, [&](ByteView option, std::size_t) {
        if (load_u8(option, 0) == kWindowScale && option.size() == kSize) {
            scale = load_u8(option, 2);
        }
        return !scale;
    });
    return scale;
}

std::optional<TrackedTimestamps> timestamps_in(ByteView options) noexcept {
    constexpr std::size_t kSize = 10;
    if (are_timestamps_alone(options)) {
        return TrackedTimestamps{load_be32(options, 4), load_be32(options, 8)};
    }
    std::optional<TrackedTimestamps> found;
    (void)for_each_option(options, 0, [&](ByteView option, std::size_t) {
        if (load_u8(option, 0) == kTimestamps && option.size() == kSize) {
            const TrackedTimestamps read{load_be32(option, 2), load_be32(option, 6)};
            found = found && !is_behind(found->value, read.value) ? found : read;
        }
        return true;
    });
    return found;
}

bool are_harmless_with_reset(ByteView options) noexcept {
    return are_sound(options,
                     [](std::uint8_t kind) { return kind == kNoOperation || kind == kTimestamps; });
}

bool are_taken_with_bytes(ByteView options) noexcept {
    return options.empty() || are_timestamps_alone(options) ||
           are_sound(options,
                     [](std::uint8_t kind) { return kind != kSignedByMd5 && kind != kSignedByAo; });
}

bool have_unknown_kind(ByteView options) noexcept {
    return !are_timestamps_alone(options) && next_of_unknown_kind(options, 0).has_value();
}

std::optional<OptionPlace> next_of_unknown_kind(ByteView options, std::size_t from) noexcept {
    std::optional<OptionPlace> found;
    (void)for_each_option(options, from, [&](ByteView option, std::size_t at) {
        if (!is_known(load_u8(option, 0))) {
            found = OptionPlace{at, option.size()};
        }
        return !found;
    });
    return found;
}

}  // namespace sluice
