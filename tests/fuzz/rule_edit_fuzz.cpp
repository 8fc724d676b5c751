#include "lib/policy/files/rule_edit.hpp"
#include "lib/policy/files/rule_lines.hpp"
#include "lib/policy/yaml/place_path.hpp"
#include "tests/fuzz/position.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

// A rule file and a rule, parted by a zero byte. What is added can be found and taken out again,
// and everything else is there as it was.
static void check(std::string_view file, const sluice::LoneRule& rule, sluice::RulePlace place) {
    using namespace sluice;
    const auto edited = add_rule(file, rule, place);
    if (!edited) {
        return;
    }
    if (edited->first == 0 || edited->lines == 0) {
        std::abort();
    }
    const auto known = rule_lines(file);
    const bool is_there = std::any_of(known.begin(), known.end(),
                                      [&](const RuleLines& one) { return one.id == rule.id; });
    if (!is_there && !delete_rule(edited->text, rule.id)) {
        std::abort();
    }
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace sluice;
    const std::string_view text{reinterpret_cast<const char*>(data), size};
    const std::string_view file = text.substr(0, text.find('\0'));
    const std::string_view lone = text.substr(std::min(file.size() + 1, text.size()));
    Problems problems{"one.yaml"};
    const auto rule = read_lone_rule(lone, problems);
    test::expect_inside(problems, lone);
    if (rule.has_value() == problems.has_errors() && !rule) {
        std::abort();
    }
    const LineIndex lines{lone};
    for (const Problem& problem : problems.list()) {
        if (lines.offset_of(problem.at) + word_length(lines, problem.at) > lone.size()) {
            std::abort();
        }
        if (rule) {
            (void)path_to(rule->tree, problem.at);
        }
    }
    for (const RuleLines& one : rule_lines(file)) {
        if (one.first == 0 || one.last < one.first) {
            std::abort();
        }
        (void)delete_rule(file, one.id);
        if (rule) {
            check(file, *rule, {RulePlace::Where::Before, one.id});
            check(file, *rule, {RulePlace::Where::After, one.id});
        }
    }
    if (rule) {
        check(file, *rule, {});
        (void)replace_rule(file, *rule);
    }
    return 0;
}
