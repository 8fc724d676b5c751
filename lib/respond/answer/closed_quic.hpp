#pragma once
#include "lib/l7/quic/initial_opener.hpp"
#include "lib/respond/answer/answer_bounds.hpp"

#include <cstdint>
#include <vector>

namespace sluice {

// Connections of QUIC that one worker has closed in their servers' name, for as long as a client
// may repeat its Initial: a close that is lost is sent again then. A connection has one place, and
// a later one takes it.
class ClosedQuic {
public:
    struct Connection {
        std::uint64_t digest = 0;  // of the client's direction; 0: the place is free
        std::uint32_t second = 0;
        std::uint8_t repeats = 0;  // closes that were sent again
        ConnectionId dcid;         // of its first Initial
    };

    // nullptr: it is not known, or not any more.
    [[nodiscard]] Connection* find(std::uint64_t digest, std::uint32_t second) noexcept {
        Connection& place = places_[digest % kClosedQuic];
        return place.digest == digest && is_kept(place, second) ? &place : nullptr;
    }
    // True if another one had to go before its time.
    [[nodiscard]] bool add(std::uint64_t digest, ByteView dcid, std::uint32_t second) noexcept {
        Connection& place = places_[digest % kClosedQuic];
        const bool displaces =
            place.digest != 0 && place.digest != digest && is_kept(place, second);
        place = {.digest = digest, .second = second, .dcid = ConnectionId{dcid}};
        return displaces;
    }

private:
    [[nodiscard]] static bool is_kept(const Connection& place, std::uint32_t second) noexcept {
        return second - place.second <= kClosedQuicSeconds;
    }

    std::vector<Connection> places_ = std::vector<Connection>(kClosedQuic);
};

}  // namespace sluice
