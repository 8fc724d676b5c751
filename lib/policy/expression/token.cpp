#include "lib/policy/expression/token.hpp"

#include "lib/base/ascii.hpp"

#include <array>
#include <charconv>
#include <optional>

namespace sluice {
namespace {

constexpr std::string_view kSpaces = " \t\r\n";

bool is_word_byte(char c) noexcept {
    return is_ascii_alphanumeric(c) || c == '_' || c == '.' || c == ':' || c == '/' || c == '-';
}

std::string_view word_at(std::string_view text) noexcept {
    std::size_t size = 0;
    while (size < text.size() && is_word_byte(text[size])) {
        ++size;
    }
    return text.substr(0, size);
}

// The byte that \" or \\ or \xNN stands for, and how many characters that is; nullopt: it is none.
std::optional<unsigned char> escape_at(std::string_view rest, std::size_t& size) {
    unsigned byte = 0;
    if (rest.starts_with("\\x") && rest.size() >= 4) {
        const auto [end, error] = std::from_chars(rest.data() + 2, rest.data() + 4, byte, 16);
        size = 4;
        return error == std::errc{} && end == rest.data() + 4
                   ? std::optional{static_cast<unsigned char>(byte)}
                   : std::nullopt;
    }
    size = 2;
    return rest.size() > 1 && (rest[1] == '"' || rest[1] == '\\')
               ? std::optional{static_cast<unsigned char>(rest[1])}
               : std::nullopt;
}

Token text_token(std::string_view rest, std::size_t offset, std::size_t& size) {
    std::string value;
    for (std::size_t i = 1; i < rest.size();) {
        if (rest[i] == '"') {
            size = i + 1;
            return {Token::Kind::Text, std::move(value), offset};
        }
        if (rest[i] != '\\') {
            value += rest[i++];
            continue;
        }
        std::size_t taken = 0;
        const std::optional<unsigned char> byte = escape_at(rest.substr(i), taken);
        if (!byte) {
            return {Token::Kind::Bad,
                    R"(only \", \\ and \xNN, a byte as two hexadecimal digits, may follow a )"
                    "backslash",
                    offset + i};
        }
        value += static_cast<char>(*byte);
        i += taken;
    }
    return {Token::Kind::Bad, "this text has no closing quote", offset};
}

// A regular expression has a meaning for backslashes of its own: only \" is taken here.
Token regex_token(std::string_view rest, std::size_t offset, std::size_t& size) {
    std::string value;
    for (std::size_t i = 1; i < rest.size(); ++i) {
        if (rest[i] == '"') {
            size = i + 1;
            return {Token::Kind::Text, std::move(value), offset};
        }
        if (rest[i] == '\\' && i + 1 < rest.size()) {
            ++i;
            value += rest[i] == '"' ? "" : "\\";
        }
        value += rest[i];
    }
    return {Token::Kind::Bad, "this regular expression has no closing quote", offset};
}

bool is_matches(const std::vector<Token>& tokens) noexcept {
    return !tokens.empty() && tokens.back().kind == Token::Kind::Word &&
           tokens.back().text == "matches";
}

// Operators of other languages, and what is written here.
struct Foreign {
    std::string_view symbol;
    std::string_view advice;
};
constexpr auto kForeign = std::to_array<Foreign>({
    {"&&", "write `and` for &&"},
    {"||", "write `or` for ||"},
    {"!", "write `not` for !"},
    {"=~", "write `matches` for =~"},
    {"~", "write `matches` for ~"},
    {"=", "write `eq` or == for ="},
    {"&", "there is no bitwise and; use the single flags, such as tcp.flags.syn"},
    {"'", "text stands in double quotes"},
});
constexpr auto kSymbols = std::to_array<std::string_view>(
    {"==", "!=", "<=", ">=", "<", ">", "(", ")", "{", "}", "[", "]", ",", "|"});

Token symbol_token(std::string_view rest, std::size_t offset, std::size_t& size) {
    if (!rest.starts_with("||") && !rest.starts_with("=~")) {
        for (const std::string_view symbol : kSymbols) {
            if (rest.starts_with(symbol)) {
                size = symbol.size();
                return {Token::Kind::Symbol, std::string{symbol}, offset};
            }
        }
    }
    for (const Foreign& row : kForeign) {
        if (rest.starts_with(row.symbol)) {
            return {Token::Kind::Bad, std::string{row.advice}, offset};
        }
    }
    return {Token::Kind::Bad, "this character has no meaning here", offset};
}

Token token_at(std::string_view rest, std::size_t offset, std::size_t& size) {
    if (rest.front() == '"') {
        return text_token(rest, offset, size);
    }
    if (rest.front() == '$') {
        const std::string_view name = word_at(rest.substr(1));
        size = name.size() + 1;
        if (name.empty()) {
            return {Token::Kind::Bad, "a list's name is missing after $", offset};
        }
        return {Token::Kind::List, std::string{name}, offset};
    }
    const std::string_view word = word_at(rest);
    if (!word.empty()) {
        size = word.size();
        return {Token::Kind::Word, std::string{word}, offset};
    }
    return symbol_token(rest, offset, size);
}

}  // namespace

std::vector<Token> split_into_tokens(std::string_view expression) {
    std::vector<Token> tokens;
    std::size_t at = 0;
    for (;;) {
        at = expression.find_first_not_of(kSpaces, at);
        if (at == std::string_view::npos) {
            tokens.push_back({Token::Kind::End, {}, expression.find_last_not_of(kSpaces) + 1});
            return tokens;
        }
        if (tokens.size() == kMaxTokens) {
            tokens.push_back({Token::Kind::Bad, "the expression is too long", at});
            return tokens;
        }
        std::size_t size = 0;
        const std::string_view rest = expression.substr(at);
        tokens.push_back(rest.front() == '"' && is_matches(tokens) ? regex_token(rest, at, size)
                                                                   : token_at(rest, at, size));
        if (tokens.back().kind == Token::Kind::Bad) {
            return tokens;
        }
        at += size;
    }
}

}  // namespace sluice
