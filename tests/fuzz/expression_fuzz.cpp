#include "lib/match/padded_text.hpp"
#include "lib/packet/parse.hpp"
#include "lib/policy/expression/expression.hpp"
#include "tests/packets/compiled_rules.hpp"
#include "tests/packets/frame.hpp"
#include "tests/packets/tree_oracle.hpp"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <string>

// Regular expressions of any kind are compiled and scanned for, but what they say is not compared:
// libraries differ in the far corners of the syntax, and a slow one may give up.
static bool has_regex(const sluice::Expression& tree) {
    return (tree.kind == sluice::Expression::Kind::Text &&
            tree.text.how == sluice::TextHow::Matches) ||
           std::any_of(tree.parts.begin(), tree.parts.end(), has_regex);
}

// The frame is judged as the tree judges it.
static void check(const sluice::Expression& tree, const sluice::Classifier& classifier,
                  sluice::ByteView frame, const sluice::UnitTexts* unit = nullptr) {
    using namespace sluice;
    PacketHeaders headers;
    parse_frame({frame, static_cast<std::uint32_t>(frame.size())}, {}, headers);
    headers.unit = unit;
    const bool matched = !test::rules_for(classifier, headers, frame).empty();
    if (!has_regex(tree) && !is_malformed(headers.parsed) &&
        matched != test::tree_says(tree, headers, frame)) {
        std::abort();
    }
}

// Any text: an error lies inside it, and what compiles is sound and says what the tree says.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace sluice;
    const std::string_view text{reinterpret_cast<const char*>(data), size};
    // client.ip in some of its settings.
    const ClientView client{static_cast<std::uint8_t>(32 - size % 9),
                            static_cast<std::uint8_t>(128 - 8 * (size % 11)),
                            Unwrapping{static_cast<std::uint8_t>(size % 4)}};
    TextNames names;
    const auto parsed = parse_expression(text, {.client = client, .text_names = &names});
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
    const ByteView bytes = std::as_bytes(std::span{data, size});
    check(tree, *compiled, bytes);
    const auto carried = test::udp().carries({bytes.begin(), bytes.end()}).bytes();
    check(tree, *compiled, carried);
    // And as what a later layer found: texts with readable bytes behind them.
    const std::string padding(kTextPadding, '\0');
    std::string name = std::string{text.substr(0, 200)} + padding;
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    const std::string digits = std::to_string(size * 31 % 65'536);
    const std::string number = digits + padding;
    UnitTexts unit;
    unit.set(TextField::DnsQname, bytes_of(name).first(name.size() - kTextPadding));
    unit.set(TextField::DnsQtype, bytes_of(number).first(digits.size()));
    check(tree, *compiled, carried, &unit);
    return 0;
}
