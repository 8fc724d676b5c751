#pragma once
#include "lib/policy/compile.hpp"

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace sluice::bench {

// The rules of a benchmark. Ends the program if they are wrong.
inline RuleSet compiled_set(std::string_view text, const ListReader* files = nullptr) {
    Problems problems{"bench"};
    std::optional<CompiledRules> compiled =
        compile_rules({"bench", text, files}, Purpose::Enforce, {}, problems);
    if (!compiled) {
        std::fprintf(stderr, "%s\n", render(problems.list().front(), text).c_str());
        std::exit(1);
    }
    return std::move(compiled->set);
}

}  // namespace sluice::bench
