#include "lib/wire/codec.hpp"

#include <cstdint>
#include <cstdlib>
#include <span>

// Any bytes as a request: an error, or a message that its own encoding brings back the same.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto message = sluice::decode_request(std::as_bytes(std::span{data, size}));
    if (!message) {
        return 0;
    }
    const auto bytes = sluice::encode(*message);
    const auto again = sluice::decode_request(bytes);
    if (!again || sluice::encode(*again) != bytes) {
        std::abort();
    }
    return 0;
}
