#pragma once
#include "lib/base/bytes.hpp"
#include "lib/l7/tls/client_hello.hpp"

#include <array>
#include <cstddef>

// A ClientHello at the beginning of a TCP stream: records of RFC 8446, section 5.1.
namespace sluice {

inline constexpr std::size_t kRecordHeader = 5;
// The most that a record in clear holds.
inline constexpr std::size_t kMaxRecord = 1 << 14;
// A hello in more records, empty ones included, is not read, so that a look at a stream stays
// cheap. Hellos of common clients are read in records of one byte; servers have no bound.
inline constexpr std::size_t kMaxHelloRecords = 1024;

// The room in which a hello in several records is put together. One per worker.
class HandshakeRoom {
public:
    [[nodiscard]] MutableBytes bytes() noexcept { return bytes_; }

private:
    std::array<std::byte, kMaxHello> bytes_;
};

// `stream` is what came so far, without gaps, from the first byte on. A hello in one record is read
// where it lies; one in several out of `room`, and `hello` is good until the room is used again.
// Every byte more brings NeedMore closer to another outcome or leaves the outcome as it is: who
// waits for `at` bytes misses nothing.
[[nodiscard]] HelloRead read_tls_stream(ByteView stream, HandshakeRoom& room,
                                        ClientHello& hello) noexcept;

}  // namespace sluice
