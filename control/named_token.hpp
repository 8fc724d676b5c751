#pragma once
#include "control/daemon/web/role.hpp"
#include "lib/base/result.hpp"
#include "lib/l7/crypto/sha256.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

// A token of the dashboard, as its file has it: nobody can read the token itself out of it.
struct NamedToken {
    std::string name;
    Role role = Role::View;
    std::int64_t end = 0;  // seconds in UTC; 0: none
    Sha256Digest digest{};
    std::string tenant{};  // of whoever has the token; empty: an operator

    bool operator==(const NamedToken&) const = default;
};

inline constexpr std::size_t kMostNamedTokens = 256;
inline constexpr std::size_t kLargestTokenFile = 256U << 10;  // bytes

// A line of the file that holds no token, and why.
struct TokenProblem {
    std::size_t line = 0;
    std::string what;
};
struct TokenFile {
    std::vector<NamedToken> tokens;
    std::vector<TokenProblem> problems;
};
// `NAME ROLE END SHA256`, a line each; ROLE is `view`, `operate`, `admin` or `tenant:NAME`, END
// `2027-01-31T00:00:00Z` or `never`. Empty lines and those that begin with # say nothing. A bad
// line holds no token, and takes none from the others.
[[nodiscard]] TokenFile read_token_lines(std::string_view text);
// The first 20 of them, with the path and their lines.
[[nodiscard]] std::string problems_text(const std::string& path, const TokenFile& file);

[[nodiscard]] std::string token_line(const NamedToken& token);
[[nodiscard]] bool is_token_name(std::string_view name) noexcept;
// `2027-01-31T00:00:00Z`, or `never` of 0.
[[nodiscard]] std::string token_end_text(std::int64_t end);

// The text with a line for the token behind all others; an Error: there is one of that name.
[[nodiscard]] Result<std::string> with_token(std::string text, const NamedToken& token);
// The text without the line of that token; an Error: there is none.
[[nodiscard]] Result<std::string> without_token(std::string_view text, std::string_view name);

}  // namespace sluice
