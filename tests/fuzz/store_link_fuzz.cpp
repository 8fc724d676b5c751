#include "lib/wire/frame_buffer.hpp"
#include "lib/wire/store_codec.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

namespace {

template <typename Message>
void hold(const sluice::Result<Message>& message, sluice::ByteView bytes) {
    if (!message) {
        return;
    }
    const std::vector<std::byte> again = sluice::encode(*message);
    if (!std::equal(again.begin(), again.end(), bytes.begin(), bytes.end())) {
        std::abort();
    }
}

}  // namespace

// Any bytes on store.sock, at either end: refused, or messages that encode to the same bytes again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace sluice;
    const ByteView bytes = std::as_bytes(std::span{data, size});
    FrameBuffer stream{kMostStoreMessage};
    stream.feed(bytes);
    while (const auto payload = stream.next()) {
        hold(decode_store_request(*payload), *payload);
        hold(decode_store_answer(*payload), *payload);
    }
    hold(decode_store_request(bytes), bytes);
    hold(decode_store_answer(bytes), bytes);
    return 0;
}
