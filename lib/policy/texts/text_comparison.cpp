#include "lib/policy/texts/text_comparison.hpp"

#include "lib/match/number_ranges.hpp"
#include "lib/policy/expression/value_parser.hpp"
#include "lib/policy/problems/nearest.hpp"
#include "lib/policy/texts/pattern.hpp"

#include <algorithm>
#include <utility>

namespace sluice {
namespace {

// Whether the operand's texts are compared without regard to case.
bool ignores_case(const Operand& operand) {
    return operand.lower || (operand.text && row_of(*operand.text).kind == TextKind::Folded);
}

Expression expression_of(const Operand& operand, TextTest test) {
    if (!operand.text) {
        return Expression{};  // a leaf with an empty set
    }
    test.field = *operand.text;
    test.ignore_case = ignores_case(operand);
    return Expression{
        .kind = Expression::Kind::Text, .leaf = {}, .parts = {}, .text = std::move(test)};
}

// In the expression a quote inside a pattern takes two bytes.
std::size_t place_in(const Token& token, std::size_t at) {
    const std::string_view before = std::string_view{token.text}.substr(0, at);
    return token.offset + 1 + at +
           static_cast<std::size_t>(std::count(before.begin(), before.end(), '"'));
}

bool check_regex(TokenReader& reader, const Token& token, bool ignore_case) {
    if (token.text.size() > kMaxPatternSize) {
        return reader.fail(token.offset, "a regular expression has at most " +
                                             std::to_string(kMaxPatternSize) + " bytes");
    }
    const std::optional<PatternFault> fault = find_fault(token.text, ignore_case);
    return !fault ||
           reader.fail(fault->at ? place_in(token, *fault->at) : token.offset, fault->what);
}

// Of a field that takes a few words alone. Others never hold, so that they are slips, and for those
// that nothing recognises yet it is said.
bool check_word(TokenReader& reader, std::size_t offset, const Operand& operand,
                std::string_view word) {
    if (operand.text != TextField::ProtoL7) {
        return true;
    }
    if (std::find(kL7Names.begin(), kL7Names.end(), word) == kL7Names.end()) {
        return reader.fail(offset, operand.name + " is one of " + list_of(kL7Names) + "; found \"" +
                                       std::string{word} + "\"" + did_you_mean(word, kL7Names));
    }
    return true;
}

// A name as packets have it: octets that are not printable as `\DDD`; to its end, no dot there
// unless a label has it, and the root as a dot.
std::string name_spelling(std::string_view text, bool to_end) {
    std::string name;
    for (const char c : text) {
        const auto octet = static_cast<unsigned char>(c);
        if (octet > 0x20 && octet < 0x7F) {
            name += c;
            continue;
        }
        const std::string digits = std::to_string(octet);
        name += '\\' + std::string(3 - digits.size(), '0') + digits;
    }
    while (to_end && name.size() > 1 && name.back() == '.' && name[name.size() - 2] != '\\') {
        name.pop_back();
    }
    return name.empty() ? "." : name;
}

// A name in a spelling that no packet has would never hold: the error says the one that does.
bool check_name(TokenReader& reader, std::size_t offset, const Operand& operand,
                std::string_view text, TextHow how) {
    if (!operand.text || row_of(*operand.text).kind != TextKind::Folded) {
        return true;
    }
    const std::string name =
        name_spelling(text, how == TextHow::Equals || how == TextHow::EndsWith);
    if (name == text) {
        return true;
    }
    std::string written;  // in the expression, where a backslash and a quote stand behind another
    for (const char c : name) {
        written += c == '\\' || c == '"' ? std::string{'\\', c} : std::string{c};
    }
    return reader.fail(offset, operand.name +
                                   " is never so: no dot stands at a name's end, and "
                                   "what is not printable is a backslash and three "
                                   "digits; write \"" +
                                   written + "\"");
}

bool check_text(TokenReader& reader, const Token& token, const Operand& operand, TextHow how) {
    const bool part = how != TextHow::Equals;
    if (!part && !check_word(reader, token.offset, operand, token.text)) {
        return false;
    }
    if (part && token.text.empty()) {
        return reader.fail(token.offset,
                           "the empty text is a part of every text; " + operand.name +
                               " eq \"\" asks whether it is empty, payload.len whether there is "
                               "any");
    }
    if (!check_name(reader, token.offset, operand, token.text, how)) {
        return false;
    }
    const std::size_t most = how == TextHow::Contains ? kMaxPatternSize : kMaxEntrySize;
    return token.text.size() <= most ||
           reader.fail(token.offset, "a text has at most " + std::to_string(most) + " bytes here");
}

}  // namespace

std::optional<Expression> parse_text_comparison(TokenReader& reader, const Operand& operand,
                                                TextHow how, bool negated) {
    if (reader.peek().kind != Token::Kind::Text) {
        (void)reader.fail_here((how == TextHow::Matches ? "a regular expression" : "a text") +
                               std::string{" in double quotes for "} + operand.name);
        return std::nullopt;
    }
    const Token token = reader.next();
    const bool good = how == TextHow::Matches ? check_regex(reader, token, ignores_case(operand))
                                              : check_text(reader, token, operand, how);
    if (!good) {
        return std::nullopt;
    }
    return expression_of(
        operand, {.how = how, .negated = negated, .texts = {token.text}, .offset = token.offset});
}

Expression number_test(const Operand& operand, const std::vector<NumberRange>& ranges) {
    TextTest test{.how = TextHow::Within, .offset = operand.offset};
    for (const auto& [first, last] : ranges) {
        test.texts.push_back(first == last ? std::to_string(first)
                                           : to_text(NumberSpan{first, last}));
    }
    return expression_of(operand, std::move(test));
}

std::optional<Expression> parse_text_set(TokenReader& reader, const Operand& operand) {
    const std::size_t offset = reader.peek().offset;
    std::optional<RangeSet> values = parse_set(reader, operand);
    if (!values) {
        return std::nullopt;
    }
    for (const std::string& text : values->texts) {
        if (!check_word(reader, offset, operand, text) ||
            !check_name(reader, offset, operand, text, TextHow::Equals)) {
            return std::nullopt;
        }
        if (text.size() > kMaxEntrySize) {
            (void)reader.fail(
                offset, "a text has at most " + std::to_string(kMaxEntrySize) + " bytes here");
            return std::nullopt;
        }
    }
    return expression_of(operand, {.texts = std::move(values->texts), .offset = offset});
}

std::optional<Expression> parse_text_function(TokenReader& reader) {
    const Token function = reader.next();
    if (!reader.expect_symbol("(", "after " + function.text)) {
        return std::nullopt;
    }
    const std::optional<Operand> operand = parse_operand(reader);
    if (!operand) {
        return std::nullopt;
    }
    if (operand->kind != OperandKind::Text) {
        (void)reader.fail(operand->offset,
                          function.text + "() takes a text, and " + operand->name + " is none");
        return std::nullopt;
    }
    if (!reader.expect_symbol(",", "before the text")) {
        return std::nullopt;
    }
    const TextHow how = function.text == "starts_with" ? TextHow::StartsWith : TextHow::EndsWith;
    std::optional<Expression> test = parse_text_comparison(reader, *operand, how, false);
    if (!test || !reader.expect_symbol(")", "after the text")) {
        return std::nullopt;
    }
    return test;
}

}  // namespace sluice
