#pragma once
#include "lib/act/answerer.hpp"
#include "lib/answer/tcp_facts.hpp"

namespace sluice {

// One packet, and what an answer to it needs.
struct Answerer::Packet {
    const AnsweredPacket& seen;
    const AnswerContext& context;
    TcpFacts tcp;  // where it is one of TCP
};

}  // namespace sluice
