#include "lib/l7/quic/datagram.hpp"
#include "lib/l7/quic/initial_reader.hpp"

#include <cstdint>
#include <cstdlib>
#include <vector>

namespace {

using namespace sluice;

void require(bool holds) {
    if (!holds) {
        std::abort();
    }
}

bool lies_in(ByteView part, ByteView whole) {
    return part.empty() || (part.data() >= whole.data() &&
                            part.data() + part.size() <= whole.data() + whole.size());
}

// Packets stand one behind the other, and their parts lie within them.
std::size_t check_packets(ByteView datagram) {
    QuicPackets packets{datagram};
    std::size_t at = 0;
    std::size_t to_open = 0;
    for (QuicPacket packet; packets.next(packet);) {
        require(packet.bytes.data() == datagram.data() + at && !packet.bytes.empty());
        at += packet.bytes.size();
        require(at <= datagram.size());
        for (const ByteView part : {packet.dcid, packet.scid, packet.token}) {
            require(lies_in(part, packet.bytes));
        }
        require(packet.number_at <= packet.bytes.size());
        to_open += packet.can_open() ? 1 : 0;
    }
    return to_open;
}

}  // namespace

// A datagram as it comes.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static InitialReader reader{*InitialOpener::make()};
    const ByteView given = std::as_bytes(std::span{data, size});
    const std::vector<std::byte> datagram{given.begin(), given.end()};
    const std::size_t to_open = check_packets(datagram);
    const QuicDatagram look = look_at_datagram(datagram);
    require(look.can_open == (to_open > 0));
    std::vector<std::byte> room(2048);
    CryptoStream stream{room};
    InitialBudget budget{3};
    ClientHello hello;
    const QuicHelloRead read = reader.read(datagram, stream, budget, hello);
    require((read.outcome == QuicHelloOutcome::NoInitial) == (to_open == 0));
    require(budget.left() + to_open >= 3);
    return 0;
}
