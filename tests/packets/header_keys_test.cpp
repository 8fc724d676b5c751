#include "lib/l7/http1/request_head.hpp"
#include "tests/packets/box.hpp"
#include "tests/packets/frame.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>

// Headers and cookies that rules name, in conditions and keys. Here a whole head lies in a
// datagram.
namespace sluice::test::header_keys_test {
namespace {

constexpr Instant kStart{std::chrono::hours{1}};

// Sets the texts that the set in force reads of a request's headers and cookies.
class HeadBox : public Box {
public:
    explicit HeadBox(std::string_view rules) : Box{rules} {
        TextFieldSet texts;
        for (const TextField field : kAllTextFields) {
            if (is_of_unit(field)) {
                texts.add(field);
            }
        }
        find_units_by({.find = &find, .parser = this, .texts = texts});
    }
    // `lines` are those of the head, behind the first.
    bool passes(std::string_view lines, std::string_view source = "10.0.0.1") {
        const std::string head = "GET / HTTP/1.1\r\nHost: a\r\n" + std::string{lines} + "\r\n";
        const ByteView bytes = bytes_of(head);
        return judge(udp().src(source).carries({bytes.begin(), bytes.end()}).bytes(), kStart)
                   .verdict == Verdict::Pass;
    }

private:
    static void find(void* parser, const UnitSource& packet, UnitSink& units) noexcept {
        const RequestTexts& texts = static_cast<HeadBox*>(parser)->set().request_texts;
        RequestHead head;
        std::array<std::byte, 256> room;
        const ByteView payload = *read_payload(packet.headers, packet.frame.bytes);
        if (parse_request_head(payload, {texts.wanted()}, room, head) != HeadStatus::Complete) {
            return;
        }
        UnitTexts* const unit = units.add(Per::Request);
        for (const auto& [place, field] : texts.headers()) {
            give(*unit, field, head.header(place).first);
        }
        for (const auto& [place, field] : texts.cookies()) {
            give(*unit, field, head.cookie(place).first);
        }
    }
    static void give(UnitTexts& unit, TextField field, ByteView text) noexcept {
        if (text.data() != nullptr) {
            unit.set(field, text);
        }
    }
};

std::string by_key(std::string_view key, std::string_view before = "") {
    return "version: 1\nrules:\n" + std::string{before} +
           "  - id: each\n    mode: enforce\n    per: request\n    key:\n      - " +
           std::string{key} + "\n    limits: [{algorithm: token_bucket, rate: 1/h, burst: 1}]\n";
}
std::string by_condition(std::string_view when) {
    return "version: 1\nrules:\n  - id: deny\n    mode: enforce\n    on_match: drop\n    when: '" +
           std::string{when} + "'\n";
}

TEST(HeaderKeys, EachValueHasABucket) {
    HeadBox box{by_key("http.request.headers[\"X-Api-Key\"]")};
    EXPECT_TRUE(box.passes("x-api-key: a\r\n"));
    EXPECT_FALSE(box.passes("X-API-KEY: a\r\n"));
    EXPECT_FALSE(box.passes("X-API-KEY: a\r\n", "10.0.0.2"));
    EXPECT_TRUE(box.passes("x-api-key: A\r\n"));
    EXPECT_TRUE(box.passes("x-api-key:\r\n"));
    EXPECT_FALSE(box.passes("x-api-key:\r\n"));
    // Without it the rule does not apply.
    EXPECT_TRUE(box.passes(""));
    EXPECT_TRUE(box.passes("Cookie: x-api-key=a\r\n"));
    EXPECT_EQ(box.counters(0).skipped.read(), 2U);
}

TEST(HeaderKeys, PartsOfOneKeyAreToldApart) {
    HeadBox box{by_key("http.cookies[\"a\"]\n      - http.cookies[\"A\"]")};
    EXPECT_TRUE(box.passes("Cookie: a=1; A=2\r\n"));
    EXPECT_TRUE(box.passes("Cookie: a=2; A=1\r\n"));
    EXPECT_FALSE(box.passes("Cookie: A=2; a=1\r\n"));
}

TEST(HeaderKeys, AConditionTestsWhatItNames) {
    struct Row {
        std::string when;
        std::string lines;
        bool matches;
    };
    const Row rows[] = {
        {"http.request.headers[\"x-a\"] eq \"1\"", "X-A: 1\r\n", true},
        {"http.request.headers[\"X-A\"] eq \"1\"", "x-a: 2\r\n", false},
        {"http.request.headers[\"x-a\"] ne \"1\"", "", false},
        {"not http.request.headers[\"x-a\"] eq \"1\"", "", true},
        {"http.cookies[\"sid\"] in {\"a\" \"b\"}", "Cookie: sid=b\r\n", true},
        {"http.cookies[\"sid\"] in {\"a\" \"b\"}", "Cookie: SID=b\r\n", false},
        {"http.request.headers[\"a\"] eq \"1\" and http.request.headers[\"b\"] eq \"2\"",
         "a: 1\r\nb: 2\r\n", true},
        {"http.request.headers[\"a\"] eq \"1\" and http.request.headers[\"b\"] eq \"2\"",
         "a: 2\r\nb: 1\r\n", false},
        {"http.user_agent contains \"curl\"", "User-Agent: curl/8\r\n", true},
        {"http.request.headers[\"user-agent\"] contains \"curl\" and http.user_agent ne \"x\"",
         "User-Agent: curl/8\r\n", true},
        {"lower(http.request.headers[\"x-a\"]) matches \"^b+$\"", "X-A: bBB\r\n", true},
        {"starts_with(http.referer, \"http:\")", "Referer: http://a/\r\n", true},
    };
    for (const Row& row : rows) {
        HeadBox box{by_condition(row.when)};
        EXPECT_NE(box.passes(row.lines), row.matches) << row.when << " of " << row.lines;
    }
}

// State hangs on the name of a header, not on its number in the file.
TEST(HeaderKeys, AnotherHeaderInTheFileResetsNobody) {
    const std::string key = "http.request.headers[\"x-api-key\"]";
    const std::string other =
        "  - {id: other, on_match: drop, when: 'http.request.headers[\"aaa\"] eq \"1\" or "
        "http.cookies[\"b\"] eq \"2\"'}\n";
    HeadBox box{by_key(key)};
    EXPECT_TRUE(box.passes("x-api-key: a\r\n"));
    ASSERT_TRUE(box.reload(by_key(key, other)));
    EXPECT_EQ(box.set().rules[1].keys[0][0].text, named_text(2));
    EXPECT_FALSE(box.passes("x-api-key: a\r\n"));
    EXPECT_TRUE(box.passes("x-api-key: b\r\n"));
    ASSERT_TRUE(box.reload(by_key("http.request.headers[\"X-API-Key\"]")));
    EXPECT_EQ(box.set().rules[0].keys[0][0].text, named_text(0));
    EXPECT_FALSE(box.passes("x-api-key: a\r\n"));
    EXPECT_FALSE(box.passes("x-api-key: b\r\n"));
    // Another header is another key.
    ASSERT_TRUE(box.reload(by_key("http.request.headers[\"x-other\"]")));
    EXPECT_TRUE(box.passes("x-other: a\r\n"));
}

TEST(HeaderKeys, AreReadAsTheyAreWritten) {
    HeadBox box{by_key("http.request.headers[\"X-Api-Key\"]", "") +
                "    overrides: {inline: [{key: [gold], exempt: true}]}\n"};
    EXPECT_TRUE(box.passes("x-api-key: gold\r\n"));
    EXPECT_TRUE(box.passes("x-api-key: gold\r\n"));
    const Result<ReadKey> key = box.read_key("a\\x7cb");
    ASSERT_TRUE(key);
    EXPECT_EQ(text_of_key(key->bytes.view(), {}), "a\\x7cb");
    const LoadedRule& rule = box.set().rules[0];
    const Result<ReadKey> bad =
        read_key_of_rule(rule.keys, rule.missing_key, "\\z", {}, box.set().named_texts);
    ASSERT_FALSE(bad);
    EXPECT_TRUE(bad.error().what.starts_with("http.request.headers[\"X-Api-Key\"]: "))
        << bad.error().what;
    EXPECT_EQ(shape_of(rule.keys[0], box.set().named_texts), "http.request.headers[\"X-Api-Key\"]");
}

// What is not read is not looked for.
TEST(HeaderKeys, OnlyRulesThatAreOnWantHeaders) {
    HeadBox box{by_key("http.request.headers[\"a\"]",
                       "  - {id: off, mode: \"off\", on_match: drop, when: "
                       "'http.request.headers[\"b\"] eq \"1\"'}\n")};
    EXPECT_EQ(box.set().named_texts.size(), 2U);
    EXPECT_EQ(box.set().request_texts.headers().size(), 1U);
}

TEST(HeaderKeys, AFileNamesSoManyAtMost) {
    const auto errors = [](std::size_t names) {
        std::string text = "version: 1\nrules:\n";
        for (std::size_t i = 0; i < names; ++i) {
            text += "  - {id: r" + std::to_string(i) +
                    ", on_match: drop, when: 'http.request.headers[\"h" + std::to_string(i) +
                    "\"] eq \"1\"'}\n";
        }
        Problems problems{"r"};
        (void)compile_rules({"r", text}, Purpose::Check, {}, problems);
        return problems.list();
    };
    EXPECT_TRUE(errors(kMaxNamedTexts).empty());
    const auto one = errors(kMaxNamedTexts + 1);
    ASSERT_EQ(one.size(), 1U);
    EXPECT_EQ(one[0].at.line, 3 + kMaxNamedTexts);
    EXPECT_NE(one[0].message.find("names at most " + std::to_string(kMaxNamedTexts)),
              std::string::npos);
}

}  // namespace
}  // namespace sluice::test::header_keys_test
