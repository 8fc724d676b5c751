#pragma once
#include "lib/l7/http1/request_head.hpp"
#include "lib/l7/stream/stream_offer.hpp"
#include "lib/l7/stream/unit_source.hpp"
#include "lib/l7/stream/unread_reason.hpp"

#include <cstddef>
#include <cstdint>

namespace sluice {

// Carriers of StickyBytes.
inline constexpr std::uint8_t kStreamCarrier = 0;
inline constexpr std::uint8_t kQuicCarrier = 1;
inline constexpr std::uint8_t kServiceCarrier = 2;
inline constexpr std::uint8_t kDatagramCarrier = 3;

// The meaning of a stream's bytes from some place on to one protocol. The reader of a Unit has
// added it to the packet's.
struct StreamReading {
    // Skip: bytes of the protocol that no unit holds; nothing of them is judged or sticks.
    enum class What : std::uint8_t { NotMine, NeedMore, Unit, Skip };
    What what = What::NotMine;
    std::size_t head = 0;  // of a Unit or Skip: bytes of its head, at least one
    UnitBody body;         // of these: how it goes on
    HeadNeed need;         // NeedMore: when another look is worth it
    // The Unit or Skip is malformed, or servers may disagree where it ends.
    bool is_doubtful = false;
    // No later byte of the Unit's connection is read, whatever its body's kind.
    bool ends_connection = false;
    // The upgrade of the Unit's connection if the server agrees; until then it stays what it is.
    HttpUpgrade upgrade = HttpUpgrade::None;
    UnreadProtocol protocol = UnreadProtocol::None;  // whose they are
};

// The reader's knowledge beside the bytes.
struct StreamContext {
    const UnitSource& packet;
    // State that the reader of an earlier unit left with its UnitBody, on the same connection; else
    // zeroes.
    FramingState before{};
    std::size_t head_bytes = 0;  // the most that a head may have

    [[nodiscard]] ReadingStance stance() const noexcept {
        return packet.service.service != nullptr ? ReadingStance::Service : ReadingStance::Anywhere;
    }
};

}  // namespace sluice
