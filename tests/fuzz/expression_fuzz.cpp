#include "lib/match/program.hpp"
#include "lib/packet/parse.hpp"
#include "lib/policy/condition.hpp"
#include "lib/policy/expression.hpp"

#include <cstdint>
#include <cstdlib>

// Any text: an error lies inside it, and what compiles is sound and can be evaluated.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace sluice;
    const std::string_view text{reinterpret_cast<const char*>(data), size};
    const auto parsed = parse_expression(text);
    if (const auto* error = std::get_if<Remark>(&parsed)) {
        if (error->offset > size || error->text.empty()) {
            std::abort();
        }
        return 0;
    }
    const Expression& tree = std::get<ParsedExpression>(parsed).tree;
    Program program;
    const std::optional<Condition> condition = append_condition(tree, program);
    if (!condition) {
        return 0;
    }
    if (!check_program(program, *condition)) {
        std::abort();
    }
    Flow flow;
    parse_frame({std::as_bytes(std::span{data, size}), static_cast<std::uint32_t>(size)}, {}, flow);
    const bool matched = matches(program, *condition, flow, std::as_bytes(std::span{data, size}));
    if (matched && std::get<ParsedExpression>(parsed).not_built.empty() && can_never_match(tree)) {
        std::abort();
    }
    return 0;
}
