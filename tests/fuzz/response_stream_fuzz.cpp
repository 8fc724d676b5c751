#include "lib/l7/http1/response_stream.hpp"
#include "tests/fuzz/input.hpp"

#include <algorithm>
#include <cstdint>

// Answers of any bytes: whole, in pieces, and in pieces that come again and out of order, they end
// at the same place.
namespace {

using namespace sluice;
using test::FuzzInput;
using test::require;

ResponseStream awaiting(std::uint8_t how, std::uint32_t first) {
    ResponseStream stream;
    stream.begin(first);
    for (unsigned i = 0; i < how % 18U * (1U + (how >> 3U) % 2U); ++i) {
        stream.expect(
            {.method = AskedMethod{static_cast<std::uint8_t>((how >> 4U) * (i + 1U) / 2U % 3U)},
             .passes_upgrade = (how >> 6U) == 3U});
    }
    return stream;
}

void require_same(const ResponseStream& one, const ResponseStream& other) {
    require(one.state() == other.state() && one.next() == other.next());
    require(one.lasts_until_close() == other.lasts_until_close());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    FuzzInput input{data, data + std::min<std::size_t>(size, 4096)};
    const std::uint8_t how = input.byte();
    const std::uint8_t step = input.byte();
    const std::uint32_t first = 0U - input.byte();
    const ByteView bytes = input.bytes(4096);
    const auto count = static_cast<std::uint32_t>(bytes.size());
    ResponseStream whole = awaiting(how, first);
    whole.feed(first, bytes, false);
    require(whole.next() == first + count && whole.sent() == whole.next());

    const std::uint32_t piece = 1U + step % 16U;
    ResponseStream pieces = awaiting(how, first);
    ResponseStream mixed = awaiting(how, first);
    for (std::uint32_t at = 0; at < count; at += piece) {
        const ByteView rest = bytes.subspan(at);
        const ByteView part = rest.first(std::min<std::size_t>(rest.size(), piece));
        pieces.feed(first + at, part, false);
        mixed.feed(
            first + at + piece,
            rest.subspan(part.size()).first(std::min<std::size_t>(rest.size() - part.size(), 3)),
            false);
        mixed.feed(
            first + at / 2,
            bytes.subspan(at / 2).first(std::min<std::size_t>(count - at / 2, at - at / 2 + piece)),
            false);
        mixed.acknowledge(mixed.next());
    }
    require_same(whole, pieces);
    if (mixed.next() == whole.next()) {
        require_same(whole, mixed);
    }
    ResponseStream closed = whole;
    closed.feed(first + count, {}, true);
    require(closed.state() == ResponseStream::State::Closed && closed.next() == first + count + 1);
    return 0;
}
