#include "control/named_token.hpp"

#include "control/random_secret.hpp"

#include <gtest/gtest.h>

#include <string>

namespace sluice::named_token_test {
namespace {

const std::string kDigest(64, 'a');

TEST(NamedToken, AFileOfThem) {
    const TokenFile file = read_token_lines("# who\n\nalice operate 2027-01-31T00:00:00Z " +
                                            kDigest + "\r\n  bob\tview never " + kDigest + "\n");
    EXPECT_TRUE(file.problems.empty());
    ASSERT_EQ(file.tokens.size(), 2U);
    EXPECT_EQ(file.tokens[0].name, "alice");
    EXPECT_EQ(file.tokens[0].role, Role::Operate);
    EXPECT_EQ(file.tokens[0].end, 1'801'353'600);
    EXPECT_EQ(file.tokens[1].end, 0);
    EXPECT_EQ(token_line(file.tokens[1]), "bob view never " + kDigest + "\n");
}

TEST(NamedToken, MayBeOfATenant) {
    const std::string line = "eve tenant:acme-1 never " + kDigest + "\n";
    const TokenFile file = read_token_lines(line);
    ASSERT_EQ(file.tokens.size(), 1U);
    EXPECT_EQ(file.tokens[0].role, Role::Tenant);
    EXPECT_EQ(file.tokens[0].tenant, "acme-1");
    EXPECT_EQ(token_line(file.tokens[0]), line);
}

struct BadLine {
    const char* line;
    const char* why;
};
constexpr BadLine kBadLines[] = {
    {"alice", "NAME ROLE END SHA256"},
    {"alice view never DIGEST more", "NAME ROLE END SHA256"},
    {"al/ice view never DIGEST", "a name has 1 to 64"},
    {"alice viewer never DIGEST", "did you mean `view`?"},
    {"alice none never DIGEST", "a role is view, operate, admin or tenant:NAME"},
    {"alice Admin never DIGEST", "a role is view, operate, admin"},
    {"alice tenant never DIGEST", "or tenant:NAME"},
    {"alice tenant: never DIGEST", "or tenant:NAME"},
    {"alice tenant:Acme never DIGEST", "or tenant:NAME"},
    {"alice tenant:a:b never DIGEST", "or tenant:NAME"},
    {"alice view 2027-02-31T00:00:00Z DIGEST", "an end is"},
    {"alice view 2027-01-31 DIGEST", "an end is"},
    {"alice view 1970-01-01T00:00:00Z DIGEST", "an end is"},
    {"alice view never abc", "64 digits"},
    {"alice view never DIGESTaa", "64 digits"},
    {"alice\x1b view never DIGEST", "\\u001b"},
};

TEST(NamedToken, BadLinesHoldNothingAndSayWhy) {
    for (const BadLine& bad : kBadLines) {
        std::string line = bad.line;
        if (const std::size_t at = line.find("DIGEST"); at != std::string::npos) {
            line.replace(at, 6, kDigest);
        }
        const TokenFile file = read_token_lines("bob view never " + kDigest + "\n" + line + "\n");
        EXPECT_EQ(file.tokens.size(), 1U) << line;
        ASSERT_EQ(file.problems.size(), 1U) << line;
        EXPECT_EQ(file.problems[0].line, 2U);
        EXPECT_NE(file.problems[0].what.find(bad.why), std::string::npos)
            << line << ": " << file.problems[0].what;
        EXPECT_EQ(problems_text("f", file).rfind("f:2: ", 0), 0U);
    }
}

TEST(NamedToken, ANameStandsOnce) {
    const std::string line = "bob view never " + kDigest + "\n";
    const TokenFile file = read_token_lines(line + line);
    EXPECT_EQ(file.tokens.size(), 1U);
    ASSERT_EQ(file.problems.size(), 1U);
    EXPECT_EQ(file.problems[0].what, "a token called bob stands above");
}

TEST(NamedToken, TheirNumberIsBounded) {
    std::string text;
    for (std::size_t i = 0; i <= kMostNamedTokens; ++i) {
        text += "n" + std::to_string(i) + " view never " + kDigest + "\n";
    }
    const TokenFile file = read_token_lines(text);
    EXPECT_EQ(file.tokens.size(), kMostNamedTokens);
    EXPECT_EQ(file.problems.size(), 1U);
    EXPECT_FALSE(with_token(text, {.name = "more"}));
}

TEST(NamedToken, OneIsAddedBehindTheOthersAndTakenOutAlone) {
    const NamedToken bob{.name = "bob", .role = Role::View, .digest = digest_of("secret")};
    const Result<std::string> text = with_token("# mine", bob);
    ASSERT_TRUE(text);
    EXPECT_EQ(*text, "# mine\n" + token_line(bob));
    EXPECT_FALSE(with_token(*text, bob));
    const Result<std::string> two = with_token(*text, {.name = "bobby"});
    ASSERT_TRUE(two);
    const Result<std::string> rest = without_token(*two, "bob");
    ASSERT_TRUE(rest);
    EXPECT_EQ(*rest, "# mine\n" + token_line({.name = "bobby"}));
    EXPECT_FALSE(without_token(*rest, "bob"));
    EXPECT_FALSE(without_token(*rest, "#"));
    EXPECT_FALSE(without_token(*rest, ""));
    EXPECT_TRUE(without_token("broken line", "broken")) << "a bad line can be taken out too";
}

TEST(RandomSecret, NoTwoAreAlike) {
    const Result<std::string> one = random_secret();
    const Result<std::string> other = random_secret();
    ASSERT_TRUE(one && other);
    EXPECT_EQ(one->size(), 64U);
    EXPECT_NE(*one, *other);
    EXPECT_NE(digest_of(*one), digest_of(*other));
    EXPECT_EQ(digest_of(*one), digest_of(*one));
}

}  // namespace
}  // namespace sluice::named_token_test
