#include "lib/policy/box.hpp"

#include <cstdint>
#include <cstdlib>

// Any text is either a configuration or refused with at least one problem.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace sluice;
    const std::string_view text{reinterpret_cast<const char*>(data), size};
    Problems problems{"sluice.yaml"};
    if (read_box({"sluice.yaml", text}, Purpose::Enforce, problems).has_value() ==
        problems.has_errors()) {
        std::abort();
    }
    return 0;
}
