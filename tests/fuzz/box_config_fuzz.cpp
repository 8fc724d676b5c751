#include "lib/wire/box_config_codec.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>

// Any bytes as a compiled sluice.yaml: refused, or a sound box that encodes to the same bytes
// again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace sluice;
    const ByteView bytes = std::as_bytes(std::span{data, size});
    const Result<BoxConfig> box = decode_box_config(bytes);
    if (!box) {
        return 0;
    }
    const std::vector<std::byte> again = encode(*box);
    if (find_fault(*box) || !std::equal(again.begin(), again.end(), bytes.begin(), bytes.end())) {
        std::abort();
    }
    return 0;
}
