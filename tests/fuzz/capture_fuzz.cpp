#include "lib/capture/reader.hpp"

#include <cstdint>
#include <cstdlib>

// Any bytes as a capture file: every frame handed out lies within bounds and can be read.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) {
        return 0;
    }
    std::FILE* stream = fmemopen(const_cast<std::uint8_t*>(data), size, "rb");
    if (stream == nullptr) {
        return 0;
    }
    auto reader = sluice::CaptureReader::from_stream(stream, "fuzz");
    if (!reader) {
        return 0;
    }
    sluice::CapturedFrame frame;
    volatile unsigned sum = 0;  // so that the reads are made
    while (reader->next(frame) == sluice::CaptureReader::Next::Frame) {
        if (frame.wire_size < frame.bytes.size() || frame.timestamp > sluice::kLastInstant ||
            frame.timestamp < sluice::Instant{}) {
            std::abort();
        }
        for (const std::byte byte : frame.bytes) {
            sum = sum + std::to_integer<unsigned>(byte);
        }
    }
    return 0;
}
