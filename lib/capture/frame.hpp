#pragma once
#include "lib/base/bytes.hpp"
#include "lib/base/units.hpp"

#include <cstdint>

namespace sluice {

// One record of a capture file.
struct CapturedFrame {
    std::uint64_t number = 0;     // counts from 1, as capture tools do
    Instant timestamp{};          // ns since 1970 UTC, within [0, kLastInstant]
    ByteView bytes;               // what was captured; good until the next record is read
    std::uint32_t wire_size = 0;  // how long the frame was; never below bytes.size()
};

// The outcome of reading a record.
enum class CaptureNext : std::uint8_t {
    Frame,
    End,
    NotEthernet,  // the end, and all there was came on other link types
    Cut,          // the file ends inside a record: what came before is good
    Broken,       // a record contradicts itself; fault() says how
};

}  // namespace sluice
