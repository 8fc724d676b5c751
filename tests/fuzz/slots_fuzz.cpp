#include "lib/wire/slots_codec.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <utility>

// Any bytes as slots.bin: refused, or slots that are sound, can be gone on with and are written as
// the same bytes again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace sluice;
    const ByteView bytes = std::as_bytes(std::span{data, size});
    const Result<KeptSlots> kept = decode_slots(bytes);
    if (!kept) {
        return 0;
    }
    const std::vector<std::byte> again = encode(*kept);
    if (!std::equal(again.begin(), again.end(), bytes.begin(), bytes.end())) {
        std::abort();
    }
    const LimitSlots slots{kept->slots};
    if (!slots.image().is_sound()) {
        std::abort();
    }
    return 0;
}
