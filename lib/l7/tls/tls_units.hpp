#pragma once
#include "lib/l7/stream/stream_reading.hpp"
#include "lib/l7/stream/unit_kind.hpp"
#include "lib/l7/stream/unit_sink.hpp"
#include "lib/l7/tls/tls_stream.hpp"

#include <cstdint>
#include <memory>

namespace sluice {

// ClientHellos of TLS over TCP. The first of a connection is a handshake. A second one, which
// follows a HelloRetryRequest, has its texts and is none, unless it asks for another name or
// protocol: its server goes by the second. It is found where it may stand: as the next handshake
// record, behind records of change_cipher_spec, alerts in clear, empty handshake records and, if
// the first hello announced any, 64 KiB of early data. Nothing else of a connection is read.
//
// Of a service a hello that cannot be read is refused with a reason, one in the framing of
// SSL 2.0 too. Anywhere it passes, and its connection goes unread. An encrypted record that begins
// as a second hello does is held until the next one says that it is none. One per worker.
class TlsUnits {
public:
    TlsUnits() : room_{std::make_unique<HandshakeRoom>()} {}

    // True if a connection may begin so; there is a byte.
    [[nodiscard]] static bool may_begin(ByteView bytes) noexcept;
    // Bytes of one connection, which is TLS if it has begun with a hello.
    [[nodiscard]] static bool is_mine(const FramingState& before) noexcept;
    [[nodiscard]] StreamReading read(ByteView bytes, const StreamContext& context,
                                     UnitSink& units) noexcept;

private:
    [[nodiscard]] StreamReading read_second(ByteView bytes, const StreamContext& context,
                                            UnitSink& units) noexcept;
    [[nodiscard]] StreamReading conclude(const HelloRead& read, ByteView bytes,
                                         const StreamContext& context, UnitSink& units) noexcept;
    [[nodiscard]] StreamReading read_hello(ByteView bytes, const StreamContext& context,
                                           UnitSink& units) noexcept;
    void add(const StreamContext& context, Per kind, UnitSink& units) noexcept;
    static void add_malformed(HelloFault fault, const StreamContext& context,
                              UnitSink& units) noexcept;

    std::unique_ptr<HandshakeRoom> room_;
    ClientHello hello_;
};

}  // namespace sluice
