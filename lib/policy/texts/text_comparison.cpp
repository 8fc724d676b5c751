#include "lib/policy/texts/text_comparison.hpp"

#include "lib/l7/http1/path.hpp"
#include "lib/l7/http1/texts.hpp"
#include "lib/match/number_ranges.hpp"
#include "lib/policy/domains/suffix_file.hpp"
#include "lib/policy/expression/value_parser.hpp"
#include "lib/policy/lists/list_set.hpp"
#include "lib/policy/lists/list_text.hpp"
#include "lib/policy/texts/letter_case.hpp"
#include "lib/policy/texts/pattern.hpp"
#include "lib/policy/texts/text_form.hpp"

#include <algorithm>
#include <utility>

namespace sluice {
namespace {

using Fault = std::optional<std::string>;

// A path in its normal form has a slash before each segment and nowhere else.
Fault fault_of_prefix(const ComparedText& compared, std::uint8_t segments) {
    const auto slashes = std::count(compared.text.begin(), compared.text.end(), '/');
    if (slashes <= segments) {
        return std::nullopt;
    }
    const bool is_begin = compared.how == TextHow::Equals || compared.how == TextHow::StartsWith;
    const ByteView meant = is_begin ? path_prefix(bytes_of(compared.text), segments) : ByteView{};
    return never_so("it has at most " + std::to_string(unsigned{segments}) +
                        (segments == 1 ? " segment" : " segments"),
                    http1::as_text(meant));
}

Fault fault_of_domain(const ComparedText& compared, const PublicSuffixes& suffixes) {
    const std::string name = lowered(compared.text);
    const std::string_view registered = suffixes.registrable_domain(name);
    if (compared.how != TextHow::Equals || registered == name) {
        return std::nullopt;
    }
    return never_so("it has one label more than a public suffix", registered);
}

// Finds the fault, like find_form_fault(), of a text that a function makes of `compared.field`,
// whose own form the literal has. Without suffixes, what a registrable domain is stays open.
std::optional<std::string> find_derived_fault(const ComparedText& compared, const TextName& derived,
                                              const PublicSuffixes* suffixes) {
    if (derived.kind == TextName::Kind::PathPrefix) {
        return fault_of_prefix(compared, derived.segments);
    }
    return suffixes == nullptr ? std::nullopt : fault_of_domain(compared, *suffixes);
}

// True if the operand's texts are compared without regard to case.
bool ignores_case(const Operand& operand) {
    return operand.lower || operand.folded;
}

Expression expression_of(const Operand& operand, TextTest test) {
    test.field = *operand.text;
    test.name = operand.name;
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

const TextName* derived_of(TokenReader& reader, const Operand& operand) {
    const TextNames* names = reader.text_names();
    return names == nullptr ? nullptr : find_derived(*operand.text, *names);
}

ComparedText compared_with(TokenReader& reader, const Operand& operand, std::string_view text,
                           TextHow how) {
    const TextName* derived = derived_of(reader, operand);
    return {derived == nullptr ? *operand.text : derived->source, how, ignores_case(operand), text};
}

// A text in a form that no packet has would never hold.
Fault fault_of_text(TokenReader& reader, const Operand& operand, std::string_view text,
                    TextHow how) {
    const TextName* derived = derived_of(reader, operand);
    const ComparedText compared = compared_with(reader, operand, text, how);
    Fault fault = find_form_fault(compared);
    if (!fault && derived != nullptr) {
        fault = find_derived_fault(
            compared, *derived,
            reader.suffixes() == nullptr ? nullptr : reader.suffixes()->suffixes());
    }
    return fault ? Fault{operand.name + *fault} : std::nullopt;
}

bool check_form(TokenReader& reader, std::size_t offset, const Operand& operand,
                std::string_view text, TextHow how) {
    if (const Fault fault = fault_of_text(reader, operand, text, how)) {
        return reader.fail(offset, *fault);
    }
    if (const Fault doubt = find_form_doubt(compared_with(reader, operand, text, how))) {
        reader.warn(offset, operand.name + *doubt);
    }
    return true;
}

// The most bytes that a text has in such a comparison.
std::size_t most_bytes(TextHow how) noexcept {
    return is_scanned(how) ? kMaxPatternSize : kMaxEntrySize;
}

bool check_size(TokenReader& reader, std::size_t offset, std::string_view text, TextHow how) {
    return text.size() <= most_bytes(how) ||
           reader.fail(offset,
                       "a text has at most " + std::to_string(most_bytes(how)) + " bytes here");
}

// Texts that are scanned for have a bound of their own, which one list may exceed alone.
bool check_count(TokenReader& reader, const Token& name, const RangeSet& values, TextHow how) {
    return !is_scanned(how) || values.texts.size() <= kMaxPatterns ||
           reader.fail(name.offset, "$" + name.text + " holds " +
                                        std::to_string(values.texts.size()) +
                                        " texts, and all conditions together scan for at most " +
                                        std::to_string(kMaxPatterns) +
                                        "; `in`, starts_with() and ends_with() take longer lists");
}

// The first text of a list that is at fault is named by its line.
bool fail_listed(TokenReader& reader, const Token& name, const Operand& operand,
                 const RangeSet& values, TextHow how) {
    Fault shown;
    const auto is_bad = [&](const ListValues& one) {
        Fault fault = fault_of_text(reader, operand, one.texts.front(), how);
        shown = shown ? shown : fault;
        return fault.has_value();
    };
    const auto entry = holds_entry(name.text, *values.list, is_bad);
    return reader.fail(name.offset, entry.value_or("$" + name.text) + ": " +
                                        shown.value_or(operand.name + " has no such text"));
}

// Likewise of those that are in doubt, with a warning.
void warn_of_listed(TokenReader& reader, const Token& name, const Operand& operand,
                    const RangeSet& values, TextHow how) {
    Fault shown;
    const auto is_doubted = [&](const ListValues& one) {
        Fault doubt = find_form_doubt(compared_with(reader, operand, one.texts.front(), how));
        shown = shown ? shown : doubt;
        return doubt.has_value();
    };
    if (const auto entry = holds_entry(name.text, *values.list, is_doubted)) {
        reader.warn(name.offset, *entry + ": " + operand.name + *shown);
    }
}

bool check_listed(TokenReader& reader, const Token& name, const Operand& operand,
                  const RangeSet& values, TextHow how) {
    if (!check_count(reader, name, values, how)) {
        return false;
    }
    bool is_doubted = false;
    for (const std::string& text : values.texts) {
        if (fault_of_text(reader, operand, text, how)) {
            return fail_listed(reader, name, operand, values, how);
        }
        if (!check_size(reader, name.offset, text, how)) {
            return false;
        }
        is_doubted =
            is_doubted || find_form_doubt(compared_with(reader, operand, text, how)).has_value();
    }
    if (is_doubted) {
        warn_of_listed(reader, name, operand, values, how);
    }
    return true;
}

bool check_text(TokenReader& reader, const Token& token, const Operand& operand, TextHow how) {
    if (how != TextHow::Equals && token.text.empty()) {
        return reader.fail(token.offset,
                           "the empty text is a part of every text; " + operand.name +
                               " eq \"\" asks whether it is empty, payload.len whether there is "
                               "any");
    }
    if (!check_form(reader, token.offset, operand, token.text, how)) {
        return false;
    }
    return check_size(reader, token.offset, token.text, how);
}

// `$list` behind an operator or in a function, or, of one text, behind `in`.
std::optional<Expression> parse_text_list(TokenReader& reader, const Operand& operand,
                                          TextHow how) {
    const Token name = reader.peek();
    std::optional<RangeSet> values = list_set(reader, operand);
    if (!values || !check_listed(reader, name, operand, *values, how)) {
        return std::nullopt;
    }
    return expression_of(
        operand,
        {.how = how, .texts = std::move(values->texts), .from_list = true, .offset = name.offset});
}

// The way to say what `eq $list` and `matches $list` are meant for.
std::string no_list_text(const Operand& operand, TextHow how, bool negated,
                         const std::string& list) {
    if (how == TextHow::Matches) {
        return "`matches` takes one regular expression, and a list holds texts; write `" +
               operand.name + " contains $" + list + "`";
    }
    const std::string in = operand.name + " in $" + list;
    return "a list stands behind `in`: write `" + (negated ? "not " + in : in) + "`";
}

}  // namespace

std::optional<Expression> parse_text_comparison(TokenReader& reader, const Operand& operand,
                                                TextHow how, bool negated) {
    if (reader.peek().kind == Token::Kind::List) {
        if (how != TextHow::Equals && how != TextHow::Matches) {
            return parse_text_list(reader, operand, how);
        }
        (void)reader.fail(reader.peek().offset,
                          no_list_text(operand, how, negated, reader.peek().text));
        return std::nullopt;
    }
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
    const Token first = reader.peek();
    if (first.kind == Token::Kind::List) {
        return parse_text_list(reader, operand, TextHow::Equals);
    }
    std::optional<RangeSet> values = parse_set(reader, operand);
    if (!values) {
        return std::nullopt;
    }
    for (const std::string& text : values->texts) {
        if (!check_form(reader, first.offset, operand, text, TextHow::Equals) ||
            !check_size(reader, first.offset, text, TextHow::Equals)) {
            return std::nullopt;
        }
    }
    return expression_of(operand, {.texts = std::move(values->texts), .offset = first.offset});
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
