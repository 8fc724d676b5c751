#include "lib/policy/expression/expression.hpp"

#include "lib/policy/expression/comparison_parser.hpp"

namespace sluice {
namespace {

// or-expression: and-expression { "or" and-expression }, and so on: not binds closest, then and.
class ExpressionParser {
public:
    ExpressionParser(std::string_view text, const Surroundings& around) : reader_{text, around} {}

    std::variant<ParsedExpression, Remark> run() {
        std::optional<Expression> tree = parse_or(0);
        if (tree && reader_.peek().kind != Token::Kind::End) {
            (void)reader_.fail_here("`and`, `or` or the end");
        }
        if (reader_.error()) {
            return *reader_.error();
        }
        return ParsedExpression{*std::move(tree),
                                reader_.has_unknown_list(),
                                std::move(reader_.from_databases()),
                                std::move(reader_.clients()),
                                std::move(reader_.domains()),
                                std::move(reader_.warnings()),
                                std::move(reader_.fields())};
    }

private:
    std::optional<Expression> parse_or(std::size_t depth) {
        return parse_chain(depth, "or", Expression::Kind::Or, &ExpressionParser::parse_and);
    }
    std::optional<Expression> parse_and(std::size_t depth) {
        return parse_chain(depth, "and", Expression::Kind::And, &ExpressionParser::parse_not);
    }

    using Parse = std::optional<Expression> (ExpressionParser::*)(std::size_t);
    std::optional<Expression> parse_chain(std::size_t depth, std::string_view word,
                                          Expression::Kind kind, Parse part) {
        std::optional<Expression> first = (this->*part)(depth);
        if (!first || !reader_.is(Token::Kind::Word, word)) {
            return first;
        }
        Expression chain{.kind = kind, .leaf = {}, .parts = {}};
        chain.parts.push_back(*std::move(first));
        while (reader_.accept(Token::Kind::Word, word)) {
            std::optional<Expression> next = (this->*part)(depth);
            if (!next) {
                return std::nullopt;
            }
            chain.parts.push_back(*std::move(next));
        }
        return chain;
    }

    std::optional<Expression> parse_not(std::size_t depth) {
        if (depth == kMaxExpressionDepth) {
            (void)reader_.fail(reader_.peek().offset, "nested too deep");
            return std::nullopt;
        }
        if (!reader_.accept(Token::Kind::Word, "not")) {
            return parse_primary(depth);
        }
        std::optional<Expression> inner = parse_not(depth + 1);
        if (!inner) {
            return std::nullopt;
        }
        Expression inverted{.kind = Expression::Kind::Not, .leaf = {}, .parts = {}};
        inverted.parts.push_back(*std::move(inner));
        return inverted;
    }

    std::optional<Expression> parse_primary(std::size_t depth) {
        if (!reader_.accept(Token::Kind::Symbol, "(")) {
            return parse_comparison(reader_);
        }
        std::optional<Expression> inner = parse_or(depth + 1);
        if (!inner || !reader_.expect_symbol(")", "to close the parenthesis")) {
            return std::nullopt;
        }
        return inner;
    }

    TokenReader reader_;
};

}  // namespace

std::variant<ParsedExpression, Remark> parse_expression(std::string_view text,
                                                        const Surroundings& around) {
    return ExpressionParser{text, around}.run();
}

}  // namespace sluice
