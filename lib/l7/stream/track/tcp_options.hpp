#pragma once
#include "lib/base/bytes.hpp"
#include "lib/l7/stream/track/tracked_segment.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>

// The options of a TCP header, or of IPv4's, which are laid out alike: up to the end of the list or
// the first one that is not sound.
namespace sluice {

// The window scale option (RFC 7323, 2.2).
[[nodiscard]] std::optional<std::uint8_t> window_scale_in(ByteView options) noexcept;
// The timestamps among the options, which most senders lay out alike (RFC 7323, A); of several, the
// oldest.
[[nodiscard]] std::optional<TrackedTimestamps> timestamps_in(ByteView options) noexcept;

// True if a receiver takes a RST with these, whatever it makes of them.
[[nodiscard]] bool are_harmless_with_reset(ByteView options) noexcept;
// True if all are sound, and none is a signature: signed segments are dropped by receivers that
// share no key with the sender.
[[nodiscard]] bool are_taken_with_bytes(ByteView options) noexcept;

// True if there is an option by which both ends may agree that the bytes of a segment have another
// place or meaning than TCP's own header gives them, as Multipath TCP (RFC 8684) and TCP-ENO (RFC
// 8547) do: any kind that is not known to do without.
[[nodiscard]] bool have_unknown_kind(ByteView options) noexcept;

// The place of the next option of such a kind from `from` on; nullopt: none.
struct OptionPlace {
    std::size_t at = 0;
    std::size_t size = 0;
};
[[nodiscard]] std::optional<OptionPlace> next_of_unknown_kind(ByteView options,
                                                              std::size_t from) noexcept;

}  // namespace sluice
