#include "lib/wire/codec.hpp"
#include "lib/wire/frame_buffer.hpp"

#include <cstdint>
#include <cstdlib>

// Any bytes from a client: refused, or a message that encodes to the same bytes again and whose
// rule set is sound.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace sluice;
    const ByteView bytes = std::as_bytes(std::span{data, size});
    FrameBuffer stream;
    stream.feed(bytes);
    while (const auto payload = stream.next()) {
        (void)decode_request(*payload);
    }
    FrameBuffer skipping;
    skipping.feed(bytes.first(size / 2));
    skipping.skip();
    skipping.feed(bytes.subspan(size / 2));
    // Where there is little room it is refused, or decoded to the same.
    (void)decode_request(bytes, {4096 * size, 2});
    const Result<Request> request = decode_request(bytes);
    if (!request) {
        return 0;
    }
    const std::vector<std::byte> again = encode(*request);
    if (!std::equal(again.begin(), again.end(), bytes.begin(), bytes.end())) {
        std::abort();
    }
    if (const auto* apply = std::get_if<ApplyRules>(&*request)) {
        if (find_fault(apply->rules)) {
            std::abort();
        }
    }
    if (const auto* trial = std::get_if<TryRules>(&*request)) {
        if (find_fault(trial->rules.rules)) {
            std::abort();
        }
    }
    return 0;
}
