#include "lib/policy/compile.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>

// Any text: problems lie inside it and can be shown, and what compiles is a sound rule set.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace sluice;
    const std::string_view text{reinterpret_cast<const char*>(data), size};
    const auto lines = static_cast<std::uint32_t>(std::count(text.begin(), text.end(), '\n')) + 1;
    for (const Purpose purpose : {Purpose::Check, Purpose::Enforce}) {
        Problems problems{"rules.yaml"};
        const auto compiled = compile_rules({"rules.yaml", text}, purpose, {}, problems);
        for (const Problem& problem : problems.list()) {
            if (problem.at.line > lines + 1 || render(problem, text).empty()) {
                std::abort();
            }
        }
        if (compiled.has_value() == problems.has_errors()) {
            std::abort();
        }
        if (compiled && purpose == Purpose::Enforce && find_fault(compiled->set)) {
            std::abort();
        }
    }
    return 0;
}
