#include "control/named_token.hpp"

#include "control/hex_text.hpp"
#include "control/visible_text.hpp"
#include "lib/policy/problems/nearest.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <ctime>
#include <set>

namespace sluice {
namespace {

constexpr std::size_t kLongestTokenName = 64;
constexpr std::size_t kShownProblems = 20;
constexpr std::size_t kTokenParts = 4;
constexpr std::string_view kNever = "never";

bool may_be_named(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.' || c == '@';
}

// The words of a line, one more than there may be at most.
std::vector<std::string_view> words_of_line(std::string_view line) {
    std::vector<std::string_view> words;
    while (words.size() <= kTokenParts) {
        const std::size_t begin = line.find_first_not_of(" \t\r");
        if (begin == std::string_view::npos) {
            break;
        }
        line.remove_prefix(begin);
        words.push_back(line.substr(0, line.find_first_of(" \t\r")));
        line.remove_prefix(words.back().size());
    }
    return words;
}

// nullopt: no instant of that form.
std::optional<std::int64_t> end_in(std::string_view text) {
    if (text == kNever) {
        return 0;
    }
    std::tm time{};
    const std::string whole{text};
    const char* const behind = ::strptime(whole.c_str(), "%Y-%m-%dT%H:%M:%SZ", &time);
    if (behind == nullptr || *behind != '\0' ||
        whole.size() != std::strlen("2027-01-31T00:00:00Z")) {
        return std::nullopt;
    }
    const std::int64_t end = ::timegm(&time);
    // A 31st of a month without one is another day's text.
    return end > 0 && token_end_text(end) == text ? std::optional{end} : std::nullopt;
}

std::optional<Sha256Digest> digest_in(std::string_view text) {
    const std::optional<std::vector<std::byte>> bytes = bytes_of_hex(text);
    Sha256Digest digest{};
    if (!bytes || bytes->size() != digest.size()) {
        return std::nullopt;
    }
    std::copy(bytes->begin(), bytes->end(), digest.begin());
    return digest;
}

Result<NamedToken> read_token_line(std::string_view line) {
    const auto bad = [](const std::string& why) { return Error{Errc::BadSyntax, why}; };
    const std::vector<std::string_view> words = words_of_line(line);
    if (words.size() != kTokenParts) {
        return bad("a line is NAME ROLE END SHA256");
    }
    NamedToken token{.name = std::string{words[0]}};
    if (!is_token_name(words[0])) {
        return bad(
            fmt::format("a name has 1 to {} letters, digits, `-`, `_`, `.` and `@`, found `{}`",
                        kLongestTokenName, visible_line(words[0].substr(0, 80))));
    }
    const std::optional<AssignedRole> assigned = read_assigned_role(words[1]);
    if (!assigned) {
        const auto names = std::to_array<std::string_view>({"view", "operate", "admin"});
        return bad(fmt::format("a role is {}, found `{}`{}", kRolesThereAre,
                               visible_line(words[1].substr(0, 80)),
                               did_you_mean(words[1], names)));
    }
    const std::optional<std::int64_t> end = end_in(words[2]);
    if (!end) {
        return bad(
            fmt::format("an end is `never` or an instant such as 2027-01-31T00:00:00Z, "
                        "found `{}`",
                        visible_line(words[2].substr(0, 80))));
    }
    const std::optional<Sha256Digest> digest = digest_in(words[3]);
    if (!digest) {
        return bad("the last word is the SHA-256 of the token, 64 digits");
    }
    token.role = assigned->role;
    token.tenant = assigned->tenant;
    token.end = *end;
    token.digest = *digest;
    return token;
}

// The name that a line gives to a token; empty: none.
std::string_view name_in_line(std::string_view line) {
    const std::vector<std::string_view> words = words_of_line(line);
    return words.empty() || words[0].starts_with('#') ? std::string_view{} : words[0];
}

}  // namespace

bool is_token_name(std::string_view name) noexcept {
    return !name.empty() && name.size() <= kLongestTokenName &&
           std::ranges::all_of(name, may_be_named);
}

std::string token_end_text(std::int64_t end) {
    return end == 0
               ? std::string{kNever}
               : fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(static_cast<std::time_t>(end)));
}

std::string token_line(const NamedToken& token) {
    return fmt::format("{} {} {} {}\n", token.name, text_of(AssignedRole{token.role, token.tenant}),
                       token_end_text(token.end), hex_text(token.digest));
}

TokenFile read_token_lines(std::string_view text) {
    TokenFile file;
    std::set<std::string, std::less<>> names;
    for (std::size_t number = 1; !text.empty(); ++number) {
        const std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(line.size() + 1, text.size()));
        if (name_in_line(line).empty()) {
            continue;
        }
        Result<NamedToken> token = read_token_line(line);
        if (!token) {
            file.problems.push_back({number, token.error().what});
        } else if (!names.insert(token->name).second) {
            file.problems.push_back({number, "a token called " + token->name + " stands above"});
        } else if (file.tokens.size() == kMostNamedTokens) {
            file.problems.push_back(
                {number, fmt::format("there are more than {} tokens", kMostNamedTokens)});
            break;
        } else {
            file.tokens.push_back(*std::move(token));
        }
    }
    return file;
}

std::string problems_text(const std::string& path, const TokenFile& file) {
    std::string text;
    for (std::size_t i = 0; i < std::min(file.problems.size(), kShownProblems); ++i) {
        text += fmt::format("{}{}:{}: {}", text.empty() ? "" : "; ", path, file.problems[i].line,
                            file.problems[i].what);
    }
    if (file.problems.size() > kShownProblems) {
        text += fmt::format("; and {} more", file.problems.size() - kShownProblems);
    }
    return text;
}

Result<std::string> with_token(std::string text, const NamedToken& token) {
    const TokenFile file = read_token_lines(text);
    const bool is_there = std::ranges::any_of(
        file.tokens, [&](const NamedToken& one) { return one.name == token.name; });
    if (is_there) {
        return Error{Errc::Refused, "there is a token called " + token.name + " already"};
    }
    if (file.tokens.size() == kMostNamedTokens) {
        return Error{Errc::Refused,
                     fmt::format("there are {} tokens, the most there may be", kMostNamedTokens)};
    }
    text += !text.empty() && !text.ends_with('\n') ? "\n" : "";
    return text + token_line(token);
}

Result<std::string> without_token(std::string_view text, std::string_view name) {
    std::string rest;
    bool found = false;
    while (!text.empty()) {
        const std::string_view line =
            text.substr(0, std::min(text.find('\n'), text.size() - 1) + 1);
        text.remove_prefix(line.size());
        const std::string_view bare = line.substr(0, line.find('\n'));
        const bool is_it = !name.empty() && name_in_line(bare) == name;
        found = found || is_it;
        rest += is_it ? std::string_view{} : line;
    }
    if (!found) {
        return Error{Errc::Refused, "there is no token called " + visible_line(name)};
    }
    return rest;
}

}  // namespace sluice
