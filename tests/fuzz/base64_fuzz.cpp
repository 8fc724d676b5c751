#include "control/base64_text.hpp"
#include "tests/fuzz/input.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

// Any text as base64: what is read has three bytes for four letters, but for the padding.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text{reinterpret_cast<const char*>(data), size};
    if (const auto bytes = sluice::bytes_of_base64(text)) {
        const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
        sluice::test::require(bytes->size() == size / 4 * 3 - padding);
    }
    return 0;
}
