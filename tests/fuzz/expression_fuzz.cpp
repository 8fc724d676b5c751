#include "lib/packet/parse.hpp"
#include "lib/policy/expression.hpp"
#include "tests/packets/compiled_rules.hpp"
#include "tests/packets/tree_oracle.hpp"

#include <cstdint>
#include <cstdlib>

// Any text: an error lies inside it, and what compiles is sound and says what the tree says.
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
    const auto compiled = test::compile_conditions(std::span{&tree, 1});
    if (!compiled) {
        return 0;
    }
    if (!are_sound(compiled->parts(), 1)) {
        std::abort();
    }
    const ByteView frame = std::as_bytes(std::span{data, size});
    Flow flow;
    parse_frame({frame, static_cast<std::uint32_t>(size)}, {}, flow);
    const bool matched = !test::rules_for(*compiled, flow, frame).empty();
    if (matched != test::tree_says(tree, flow, frame)) {
        std::abort();
    }
    return 0;
}
