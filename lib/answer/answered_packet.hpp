#pragma once
#include "lib/packet/packet_headers.hpp"

#include <cstdint>

namespace sluice {

// What of a packet an answer goes by, beside its headers: the first unit that it completes.
enum class AnsweredUnit : std::uint8_t {
    None,
    HttpRequest,  // of HTTP/1
    HttpHead,     // one whose method is HEAD, so that its answer has no body
    HttpConnect,  // one whose method is CONNECT, which a success would make a tunnel
    ClientHello,  // of TLS, or of QUIC in an Initial that authenticates
};

struct AnsweredPacket {
    const PacketHeaders& headers;
    FrameView frame;
    AnsweredUnit unit = AnsweredUnit::None;
    // A request of a connection on which the answer to the one before may still be on its way.
    bool may_wait = false;
};

}  // namespace sluice
