#include "lib/policy/box/box.hpp"
#include "lib/wire/box_config_codec.hpp"
#include "tests/fuzz/position.hpp"

#include <cstdint>
#include <cstdlib>

// Any text is either a configuration, which the dataplane can start by, or refused, with problems
// that lie inside it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace sluice;
    const std::string_view text{reinterpret_cast<const char*>(data), size};
    for (const Purpose purpose : {Purpose::Check, Purpose::Enforce}) {
        Problems problems{"sluice.yaml"};
        const std::optional<BoxConfig> box = read_box({"sluice.yaml", text}, purpose, problems);
        test::expect_inside(problems, text);
        if (box.has_value() == problems.has_errors() || (box && !decode_box_config(encode(*box)))) {
            std::abort();
        }
    }
    return 0;
}
