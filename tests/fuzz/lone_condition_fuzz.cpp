#include "lib/policy/rules/lone_condition.hpp"

#include <cstdint>
#include <cstdlib>
#include <string>

// Any text as a condition of its own: it is refused, or one rule that decides nothing, and what is
// wrong lies in it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace sluice;
    constexpr std::size_t kMost = 4096;
    if (size > kMost) {
        return 0;
    }
    const std::string when{reinterpret_cast<const char*>(data), size};
    const LoneCondition made = compile_lone_condition(when, usual_rss_mapping(), nullptr, {});
    if (!made.rules && made.problems.empty()) {
        std::abort();
    }
    for (const Problem& problem : made.problems) {
        if (problem.at.line != 1 || problem.at.column == 0 || problem.at.column > size + 1) {
            std::abort();
        }
    }
    if (made.rules &&
        (made.rules->rules.size() != 1 || made.rules->rules[0].mode != Mode::Monitor ||
         made.rules->rules[0].has_limits() || !made.rules->named_texts.empty())) {
        std::abort();
    }
    return 0;
}
