#pragma once
#include "lib/base/bytes.hpp"
#include "lib/base/lazy_array.hpp"
#include "lib/match/padded_text.hpp"
#include "lib/packet/row_mask.hpp"

#include <algorithm>
#include <cstddef>
#include <span>

namespace sluice {

// Texts of units that no frame holds: decoded, normalised, put together from several segments. One
// for each burst in flight, emptied with the burst. Every packet has a share of its own, so that
// none takes another one's room; its texts lie in it one behind the other.
class TextArena {
public:
    static constexpr std::size_t kPerPacket = std::size_t{16} << 10;

    // Begins the share of a packet; there are at most kMaxBurst after clear().
    void begin_packet() noexcept {
        next_ = begun_ * kPerPacket;
        end_ = ++begun_ * kPerPacket;
    }
    // The same for the only packet after clear(), whose share is all there is.
    void begin_only_packet() noexcept {
        next_ = 0;
        end_ = kMaxBurst * kPerPacket;
    }
    // The room that the packet has left, to be written to.
    [[nodiscard]] std::span<std::byte> room() noexcept {
        return {bytes_.get() + next_, end_ - next_};
    }
    // Makes the first bytes of room(), at most all of them, a text. It is good until clear(), and
    // kTextPadding bytes behind it can be read.
    [[nodiscard]] ByteView keep(std::size_t size) noexcept {
        const ByteView text{bytes_.get() + next_, std::min(size, end_ - next_)};
        next_ += text.size();
        return text;
    }
    void clear() noexcept { begun_ = next_ = end_ = 0; }

private:
    LazyArray<std::byte> bytes_ = zeroed_array<std::byte>(kMaxBurst * kPerPacket + kTextPadding);
    std::size_t begun_ = 0;  // packets
    std::size_t next_ = 0;
    std::size_t end_ = 0;  // of the packet's share
};

}  // namespace sluice
