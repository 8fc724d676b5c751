#include "lib/policy/expression/comparison_parser.hpp"

#include "lib/policy/expression/field_values.hpp"
#include "lib/policy/expression/value_parser.hpp"
#include "lib/policy/problems/nearest.hpp"
#include "lib/policy/texts/text_comparison.hpp"
#include "lib/policy/values/range_set.hpp"

#include <algorithm>
#include <array>

namespace sluice {
namespace {

enum class Op : std::uint8_t { Eq, Ne, Lt, Le, Gt, Ge, In, Contains, Matches };

struct OpRow {
    std::string_view word;
    std::string_view symbol;
    Op op;
};
constexpr auto kOps = std::to_array<OpRow>({
    {"eq", "==", Op::Eq},
    {"ne", "!=", Op::Ne},
    {"lt", "<", Op::Lt},
    {"le", "<=", Op::Le},
    {"gt", ">", Op::Gt},
    {"ge", ">=", Op::Ge},
    {"in", "", Op::In},
    {"contains", "", Op::Contains},
    {"matches", "", Op::Matches},
});

std::optional<Op> find_op(const Token& token) noexcept {
    for (const OpRow& row : kOps) {
        if ((token.kind == Token::Kind::Word && token.text == row.word) ||
            (token.kind == Token::Kind::Symbol && token.text == row.symbol)) {
            return row.op;
        }
    }
    return std::nullopt;
}

bool is_ordering(Op op) noexcept {
    return op == Op::Lt || op == Op::Le || op == Op::Gt || op == Op::Ge;
}

bool is_for_text(Op op) noexcept {
    return op == Op::Contains || op == Op::Matches;
}

Expression never() {
    return Expression{};  // a leaf with an empty set
}

// A field of numbers, compared with one number.
std::vector<NumberRange> ordered(Op op, std::uint64_t value, std::uint64_t max) {
    switch (op) {
        case Op::Lt:
            return value == 0 ? std::vector<NumberRange>{}
                              : std::vector<NumberRange>{{0, value - 1}};
        case Op::Le:
            return {{0, value}};
        case Op::Gt:
            return value >= max ? std::vector<NumberRange>{}
                                : std::vector<NumberRange>{{value + 1, max}};
        default:
            return {{value, max}};
    }
}

// The numbers that a comparison with the values that were named holds of.
std::vector<NumberRange> numbers_of(const Operand& operand, Op op, RangeSet values) {
    if (is_ordering(op)) {
        return ordered(op, values.numbers.front().first, most_of(operand));
    }
    normalise(values.numbers);
    return op == Op::Ne ? complement(values.numbers, most_of(operand)) : std::move(values.numbers);
}

// The set of a leaf from the values that were named.
Leaf leaf_of(const Operand& operand, Op op, RangeSet values) {
    Leaf leaf{.field = *operand.field, .from_list = values.list != nullptr};
    if (operand.kind == OperandKind::Address) {
        leaf.negated = op == Op::Ne;
        leaf.v4 = std::move(values.v4);
        leaf.v6 = std::move(values.v6);
        normalise(leaf.v4);
        normalise(leaf.v6);
        if (operand.is_client()) {
            leaf.client = {operand.v4_length, operand.v6_length, operand.unwrapping};
        }
        return leaf;
    }
    if (op == Op::Ne && operand.kind == OperandKind::Country) {
        values.numbers.push_back({0, 0});  // that is none
    }
    leaf.numbers = numbers_of(operand, op, std::move(values));
    return leaf;
}

// Numbers alone have an order.
bool has_order(const Operand& operand) noexcept {
    return operand.kind == OperandKind::Number || operand.kind == OperandKind::Flag;
}

bool check_operator(TokenReader& reader, const Operand& operand, Op op, const Token& token) {
    const bool text = operand.kind == OperandKind::Text;
    if (is_for_text(op) && !text) {
        return reader.fail(token.offset, "`" + token.text + "` compares text, and " + operand.name +
                                             " is none; use eq, ne or in");
    }
    if (is_ordering(op) && !has_order(operand)) {
        return reader.fail(token.offset, "`" + token.text + "` orders numbers, and " +
                                             operand.name + " is none; use eq, ne or in");
    }
    return true;
}

// Warns of lists alone: a finer network in { } is an error.
void warn_of_finer(TokenReader& reader, const Operand& operand, const Leaf& leaf) {
    const auto warn = [&](IpVersion version, const std::vector<AddressRange>& ranges) {
        const std::uint8_t length = leaf.client.length(version);
        const AddressRange* finer = first_finer(version, ranges, length);
        if (finer != nullptr) {
            reader.warn(operand.offset,
                        "client.ip is a network of /" + std::to_string(length) +
                            " here, and is in a list only as a whole: the list holds " +
                            to_text(version, finer->first) + " to " +
                            to_text(version, finer->last));
        }
    };
    warn(IpVersion::V4, leaf.v4);
    warn(IpVersion::V6, leaf.v6);
}

// Rules see a client's first handshake message, and no other.
bool has_handshake(TokenReader& reader, const Operand& operand, std::size_t offset,
                   const std::vector<NumberRange>& ranges) {
    const bool holds = operand.text != TextField::TlsHandshakeType ||
                       std::any_of(ranges.begin(), ranges.end(), [](const NumberRange& range) {
                           return range.first <= kClientHello && kClientHello <= range.last;
                       });
    return holds || reader.fail(offset, operand.name +
                                            " is always 1, \"client_hello\": no other handshake "
                                            "is read, and this is never so");
}

// True if a packet can have one of the numbers that are left of a comparison. What a list holds
// has been checked by itself.
bool has_values(TokenReader& reader, const Operand& operand, std::size_t offset,
                const std::vector<NumberRange>& ranges) {
    if (ranges.empty()) {
        return reader.fail(offset, operand.name + " is from 0 to " +
                                       std::to_string(most_of(operand)) + ", and this is never so");
    }
    const FieldValues* const values = operand.field ? find_field_values(*operand.field) : nullptr;
    return values == nullptr || holds_any(*values, ranges) ||
           reader.fail(offset, operand.name + " is " + std::string{values->text});
}

bool is_counted(const Operand& operand) noexcept {
    return operand.kind == OperandKind::Number || operand.kind == OperandKind::Flag;
}

// `offset` is that of the values.
std::optional<Expression> finish(TokenReader& reader, const Operand& operand, Op op,
                                 std::size_t offset, std::optional<RangeSet> values) {
    if (!values) {
        return std::nullopt;
    }
    if (operand.single_length && !values->v4.empty() && !values->v6.empty()) {
        (void)reader.fail(operand.length_offset,
                          "prefix() needs a length for IPv4 and one for IPv6, such as 24|64, to be "
                          "compared with addresses of both");
        return std::nullopt;
    }
    if (values->not_built) {
        return never();
    }
    const bool from_list = values->list != nullptr;
    if (operand.text) {
        const std::vector<NumberRange> ranges = numbers_of(operand, op, *std::move(values));
        if (!has_handshake(reader, operand, offset, ranges) ||
            (!from_list && !has_values(reader, operand, offset, ranges))) {
            return std::nullopt;
        }
        Expression test = number_test(operand, ranges);
        test.text.from_list = from_list;
        return test;
    }
    Expression comparison{.kind = Expression::Kind::Leaf,
                          .leaf = leaf_of(operand, op, *std::move(values)),
                          .parts = {}};
    if (!from_list && is_counted(operand) &&
        !has_values(reader, operand, offset, comparison.leaf.numbers)) {
        return std::nullopt;
    }
    if (operand.is_client()) {
        warn_of_finer(reader, operand, comparison.leaf);
    }
    return comparison;
}

// The operators that compare such a field.
std::string operators_of(const Operand& operand) {
    const bool text = operand.kind == OperandKind::Text;
    return list_of(comparison_words(text, has_order(operand))) +
           (text ? "; ne \"\": it is there and not empty" : "");
}

std::optional<Expression> flag_alone(TokenReader& reader, const Operand& operand) {
    const bool counts = operand.kind == OperandKind::Number || operand.kind == OperandKind::Flag;
    if (!counts || operand.prefix) {
        (void)reader.fail_here("an operator after " + operand.name + " (" + operators_of(operand) +
                               ")");
        return std::nullopt;
    }
    if (operand.text) {
        return number_test(operand, {{1, most_of(operand)}});
    }
    Leaf leaf{.field = *operand.field};
    leaf.numbers = {{1, row_of(*operand.field).max}};
    return Expression{.kind = Expression::Kind::Leaf, .leaf = std::move(leaf), .parts = {}};
}

// True if a condition may end before this token, so that what stood before it stands alone.
bool ends_condition(const Token& token) noexcept {
    return token.kind == Token::Kind::End ||
           (token.kind == Token::Kind::Word && (token.text == "and" || token.text == "or")) ||
           (token.kind == Token::Kind::Symbol && token.text == ")");
}

std::optional<Expression> text_test(TokenReader& reader, const Operand& operand, Op op) {
    switch (op) {
        case Op::In:
            return parse_text_set(reader, operand);
        case Op::Contains:
            return parse_text_comparison(reader, operand, TextHow::Contains, false);
        case Op::Matches:
            return parse_text_comparison(reader, operand, TextHow::Matches, false);
        default:
            return parse_text_comparison(reader, operand, TextHow::Equals, op == Op::Ne);
    }
}

}  // namespace

std::vector<std::string_view> comparison_words(bool is_text, bool is_ordered) {
    std::vector<std::string_view> words;
    for (const OpRow& row : kOps) {
        if (is_ordering(row.op) ? is_ordered && !is_text : is_text || !is_for_text(row.op)) {
            words.push_back(row.word);
        }
    }
    return words;
}

std::optional<Expression> parse_comparison(TokenReader& reader) {
    if (reader.is(Token::Kind::Word, "starts_with") || reader.is(Token::Kind::Word, "ends_with")) {
        return parse_text_function(reader);
    }
    const std::optional<Operand> operand = parse_operand(reader);
    if (!operand) {
        return std::nullopt;
    }
    const Token token = reader.peek();
    const std::optional<Op> op = find_op(token);
    if (!op) {
        if (ends_condition(token)) {
            return flag_alone(reader, *operand);
        }
        (void)reader.fail_here("an operator after " + operand->name + " (" +
                               operators_of(*operand) + ")");
        return std::nullopt;
    }
    (void)reader.next();
    if (!check_operator(reader, *operand, *op, token)) {
        return std::nullopt;
    }
    if (operand->kind == OperandKind::Text) {
        return text_test(reader, *operand, *op);
    }
    const std::size_t offset = reader.peek().offset;
    return finish(reader, *operand, *op, offset,
                  *op == Op::In ? parse_set(reader, *operand) : parse_value(reader, *operand));
}

}  // namespace sluice
