#pragma once
#include "lib/respond/act/answerer.hpp"
#include "lib/respond/answer/tcp_facts.hpp"

#include <algorithm>

namespace sluice {

// One packet, and what an answer to it needs.
struct Answerer::Packet {
    const AnsweredPacket& seen;
    const AnswerContext& context;
    TcpFacts tcp;  // where it is one of TCP
};

[[nodiscard]] inline ByteView payload_of(const AnsweredPacket& packet) noexcept {
    const PacketHeaders& headers = packet.headers;
    const ByteView frame = packet.frame.bytes;
    if (headers.payload_at > frame.size()) {
        return {};
    }
    const ByteView rest = frame.subspan(headers.payload_at);
    return rest.first(std::min<std::size_t>(rest.size(), headers.payload_len));
}

}  // namespace sluice
