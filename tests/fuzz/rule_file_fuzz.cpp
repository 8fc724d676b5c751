#include "lib/policy/compile.hpp"
#include "tests/fuzz/position.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

// The texts between zero bytes as the files of one set: each problem lies in one of them.
static void check_several(std::string_view text) {
    using namespace sluice;
    std::vector<RuleFilePart> parts;
    std::vector<std::string> names(16, "a.yaml");
    while (parts.size() < names.size() && !text.empty()) {
        names[parts.size()][0] = static_cast<char>('a' + parts.size());
        const std::string_view file = text.substr(0, text.find('\0'));
        parts.push_back({names[parts.size()], file, parts.size() % 2 == 0 ? "/x" : "/y"});
        text.remove_prefix(std::min(file.size() + 1, text.size()));
    }
    if (parts.size() < 2) {
        return;
    }
    Problems problems{"all"};
    const auto compiled =
        compile_rules({.file = "all", .text = {}, .parts = parts}, Purpose::Enforce, {}, problems);
    if (compiled.has_value() == problems.has_errors()) {
        std::abort();
    }
    for (const Problem& problem : problems.list()) {
        const auto file = std::find_if(parts.begin(), parts.end(), [&](const RuleFilePart& part) {
            return part.file == problem.file;
        });
        const bool whole = problem.at.line == 0;
        if (!whole && file == parts.end()) {
            std::abort();
        }
        const LineIndex lines{file == parts.end() ? std::string_view{} : file->text};
        const Position end = lines.place_at(lines.text().size());
        if (!whole && problem.at.line > end.line) {
            std::abort();
        }
    }
}

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
    check_several(text);
    return 0;
}
