#include "lib/wire/codec.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>

// Any bytes from a dataplane: refused, or a message that encodes to the same bytes again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace sluice;
    const ByteView bytes = std::as_bytes(std::span{data, size});
    const Result<Reply> reply = decode_reply(bytes);
    if (reply) {
        const std::vector<std::byte> again = encode(*reply);
        if (!std::equal(again.begin(), again.end(), bytes.begin(), bytes.end())) {
            std::abort();
        }
    }
    return 0;
}
