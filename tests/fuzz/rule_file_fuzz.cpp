#include "lib/policy/compile.hpp"
#include "tests/fuzz/position.hpp"

#include <cstdint>
#include <cstdlib>

// Any text: problems lie inside it and can be shown, and what compiles is a sound rule set.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace sluice;
    const std::string_view text{reinterpret_cast<const char*>(data), size};
    for (const Purpose purpose : {Purpose::Check, Purpose::Enforce}) {
        Problems problems{"rules.yaml"};
        const auto compiled = compile_rules({"rules.yaml", text}, purpose, {}, problems);
        test::expect_inside(problems, text);
        if (compiled.has_value() == problems.has_errors()) {
            std::abort();
        }
        if (compiled && purpose == Purpose::Enforce && find_fault(compiled->set)) {
            std::abort();
        }
    }
    return 0;
}
