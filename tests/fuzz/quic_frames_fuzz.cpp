#include "lib/l7/quic/initial_reader.hpp"
#include "tests/unit/l7/quic/initial_maker.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <vector>

namespace {

using namespace sluice;
using test::InitialMaker;
using test::Octets;

constexpr std::size_t kRoom = 1500;

void require(bool holds) {
    if (!holds) {
        std::abort();
    }
}

// An Initial of its own connection id, number and token, as `seed` says.
Octets sealed(ByteView frames, unsigned seed) {
    return InitialMaker{}
        .version(seed % 2 == 0 ? kQuicV1 : kQuicV2)
        .number(seed, 1 + seed / 2 % 4)
        .token(Octets(seed / 8 % 4))
        .dcid(Octets(seed / 32 + 1U, static_cast<std::byte>(seed / 2)))
        .carries({frames.begin(), frames.end()})
        .packet();
}

// The hello that was read is the one in the stream, and in the stream's room.
void check_whole(const CryptoStream& stream, const ClientHello& hello) {
    ClientHello again;
    const HelloRead read = read_client_hello(stream.contiguous(), again);
    require(read.outcome == HelloOutcome::Whole && read.at <= kRoom);
    require(again.server_name.text() == hello.server_name.text());
    require(again.alpn.data() == hello.alpn.data() && again.version == hello.version);
}

}  // namespace

// What the fuzzer writes are the frames behind the encryption. The first byte says how they are
// sealed, the second where they are cut into two packets of two datagrams; a third datagram sends
// the first one's frames again, which changes nothing that has come.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 2) {
        return 0;
    }
    static InitialReader reader{*InitialOpener::make()};
    const ByteView frames =
        std::as_bytes(std::span{data + 2, size - 2}).first(std::min<std::size_t>(size - 2, 4000));
    const std::size_t cut = frames.size() * data[1] / 256;
    Octets room(kRoom);
    CryptoStream stream{room};
    InitialBudget budget{8};
    ClientHello hello;
    Octets kept;
    for (const ByteView part : {frames.first(cut), frames.subspan(cut), frames.first(cut)}) {
        const QuicHelloRead read = reader.read(sealed(part, data[0]), stream, budget, hello);
        require(read.outcome != QuicHelloOutcome::NotAuthentic);
        require(read.outcome != QuicHelloOutcome::NoInitial || part.size() < 4);
        const ByteView now = stream.contiguous();
        require(now.size() >= kept.size() && std::equal(kept.begin(), kept.end(), now.begin()));
        kept = {now.begin(), now.end()};
        if (read.outcome == QuicHelloOutcome::Whole) {
            check_whole(stream, hello);
        }
    }
    return 0;
}
