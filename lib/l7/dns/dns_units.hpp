#pragma once
#include "lib/l7/stream/stream_reading.hpp"
#include "lib/l7/stream/unit_sink.hpp"
#include "lib/l7/stream/unit_source.hpp"

namespace sluice {

// The questions of a datagram, if it is DNS: each of a query is a unit, as far as they are sound;
// a response has its first question's texts, and is none. False: it holds no sound question, so
// that it may be of another protocol, whatever its ports.
// `maybe_dns` says less, for less: where it is false, find_dns() is.
[[nodiscard]] bool maybe_dns(ByteView datagram, std::uint16_t sport, std::uint16_t dport) noexcept;
bool find_dns(ByteView datagram, const UnitSource& packet, UnitSink& units) noexcept;

// The same over TCP, message by message: port 53, or what begins with a whole message. Of
// a message longer than what is held of a head the questions are read in its beginning.
[[nodiscard]] bool maybe_dns_stream(ByteView bytes, std::uint16_t sport, std::uint16_t dport,
                                    std::size_t head_bytes) noexcept;
[[nodiscard]] bool is_dns_stream(const FramingState& before) noexcept;
[[nodiscard]] StreamReading read_dns(ByteView bytes, const StreamContext& context,
                                     UnitSink& units) noexcept;

}  // namespace sluice
