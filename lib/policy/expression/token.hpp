#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

// The pieces of a `when`.
struct Token {
    enum class Kind : std::uint8_t {
        Word,    // and, ip.src, 443, 10.0.0.0/8, 02:00:00:00:00:01
        Text,    // "…", unescaped; after `matches` only \"
        Symbol,  // ( ) { } [ ] , | == != < <= > >=
        List,    // $name
        End,
        Bad,  // text is the error
    };
    Kind kind = Kind::End;
    std::string text;
    std::size_t offset = 0;  // of its first byte in the expression
};

inline constexpr std::size_t kMaxTokens = 65'536;

// Always ends with End or Bad.
[[nodiscard]] std::vector<Token> split_into_tokens(std::string_view expression);

}  // namespace sluice
