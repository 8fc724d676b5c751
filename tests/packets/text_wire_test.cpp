#include "lib/policy/texts/pattern_compiler.hpp"
#include "lib/wire/codec.hpp"
#include "tests/packets/box.hpp"
#include "tests/packets/compiled_rules.hpp"
#include "tests/packets/frame.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <string>

// Rules over texts on their way to the dataplane: what arrives decides the same, and a database
// that cannot be used is refused with the reason.
namespace sluice::text_wire_test {
namespace {

CompiledRules compiled(const std::string& text, PatternCache* cache = nullptr) {
    Problems problems{"r"};
    auto rules = compile_rules({"r", text, nullptr, cache}, Purpose::Enforce, {}, problems);
    if (!rules) {
        throw std::runtime_error(render(problems.list().front(), text));
    }
    return *std::move(rules);
}

std::string rules_of(const std::vector<std::string>& conditions) {
    std::string text = "version: 1\nrules:\n";
    for (std::size_t i = 0; i < conditions.size(); ++i) {
        text += "  - {id: r" + std::to_string(i) + ", mode: enforce, on_match: drop, when: '" +
                conditions[i] + "'}\n";
    }
    return text;
}

std::vector<std::string> words(std::size_t first, std::size_t count) {
    std::vector<std::string> conditions;
    for (std::size_t i = first; i < first + count; ++i) {
        conditions.push_back("payload matches \"w" + std::to_string(i) + "[;,]\"");
    }
    return conditions;
}

std::vector<std::uint32_t> rules_for_text(const RuleSet& set, std::string_view payload) {
    const ByteView bytes = bytes_of(payload);
    const test::Octets frame = test::udp().carries({bytes.begin(), bytes.end()}).bytes();
    PacketHeaders headers;
    parse_frame({frame, static_cast<std::uint32_t>(frame.size())}, {}, headers);
    return test::rules_for(set.classifier, headers, frame);
}

Result<Request> sent(const RuleSet& set) {
    return decode_request(encode(Request{ApplyRules{.rules = set, .source = {}, .modes = {}}}));
}

const std::vector<std::string> kConditions = {
    "payload contains \"abc\"", "lower(payload) matches \"x+y\" and not payload eq \"xy\"",
    "payload ne \"abc\"",       "starts_with(payload, \"ab\") or ends_with(payload, \"yx\")",
    "payload in {\"a\" \"b\"}", "l4.dport eq 9"};

TEST(TextsOnTheWire, DecideTheSame) {
    const CompiledRules before = compiled(rules_of(kConditions));
    const Result<Request> request = sent(before.set);
    ASSERT_TRUE(request) << request.error().what;
    const RuleSet& after = std::get<ApplyRules>(*request).rules;
    EXPECT_EQ(encode(after), encode(before.set));
    EXPECT_EQ(generation_of(after), generation_of(before.set));
    std::mt19937 random{1};
    for (int i = 0; i < 500; ++i) {
        std::string text;
        for (std::size_t left = random() % 6; left > 0; --left) {
            text += "abcxyX"[random() % 6];
        }
        EXPECT_EQ(rules_for_text(after, text), rules_for_text(before.set, text)) << text;
    }
}

TEST(TextsOnTheWire, ADatabaseThatCannotBeUsedIsRefused) {
    const CompiledRules good = compiled(rules_of(kConditions));
    struct Row {
        std::string_view name;
        std::function<void(TextDatabaseParts&)> spoil;
        std::string_view says;
    };
    constexpr std::size_t kCpuAt = 12;  // in what Hyperscan writes
    const Row rows[] = {
        {"a byte is another", [](auto& d) { d.bytes[100] ^= std::byte{1}; }, "it is corrupt"},
        {"its last byte, which Hyperscan does not check",
         [](auto& d) { d.bytes.back() ^= std::byte{1}; }, "it is corrupt"},
        {"another CPU's",
         [](auto& d) {
             d.bytes[kCpuAt] ^= std::byte{1};
             d.checksum = checksum_of(d.bytes);
         },
         "another CPU"},
        {"cut short",
         [](auto& d) {
             d.bytes.pop_back();
             d.checksum = checksum_of(d.bytes);
         },
         "it is corrupt"},
        {"empty",
         [](auto& d) {
             d.bytes.clear();
             d.checksum = checksum_of(d.bytes);
         },
         "it is corrupt"},
    };
    for (const Row& row : rows) {
        RuleSet set = good.set;
        ClassifierParts parts = set.classifier.parts();
        row.spoil(parts.texts.databases.at(0));
        set.classifier = Classifier{std::move(parts)};
        const Result<Request> request = sent(set);
        ASSERT_FALSE(request) << row.name;
        EXPECT_NE(request.error().what.find("the patterns of payload cannot be used"),
                  std::string::npos)
            << request.error().what;
        EXPECT_NE(request.error().what.find(row.says), std::string::npos)
            << row.name << ": " << request.error().what;
    }
}

// Rules in which a few patterns have changed: known ones are not compiled again, and what comes of
// it decides, and is called, as if all had been compiled at once.
TEST(PatternCache, CompilesOnlyWhatIsNew) {
    PatternCache cache;
    EXPECT_EQ(
        compiled(rules_of(words(0, 200)), &cache).set.classifier.parts().texts.databases.size(),
        1U);
    EXPECT_EQ(cache.compiled(), 200U);
    (void)compiled(rules_of(words(0, 200)), &cache);
    EXPECT_EQ(cache.compiled(), 200U) << "the same";
    struct Row {
        std::size_t first;
        std::size_t count;
        std::size_t databases;
        std::size_t compiled;
    };
    const Row rows[] = {
        {5, 180, 1, 200},    // fewer
        {1, 200, 2, 201},    // one is new
        {1, 200, 2, 201},    // the same again
        {0, 200, 1, 201},    // and back
        {40, 200, 2, 241},   // forty
        {100, 200, 1, 441},  // a hundred: all of them
        {290, 20, 1, 461},   // hardly any of the old ones
    };
    for (const Row& row : rows) {
        const std::string text = rules_of(words(row.first, row.count));
        const RuleSet cached = compiled(text, &cache).set;
        EXPECT_EQ(cached.classifier.parts().texts.databases.size(), row.databases) << row.first;
        EXPECT_EQ(cache.compiled(), row.compiled) << row.first;
        const RuleSet alone = compiled(text).set;
        EXPECT_EQ(generation_of(cached), generation_of(alone));
        ASSERT_TRUE(sent(cached));
        for (std::size_t word = 0; word < 310; word += 7) {
            const std::string payload = "w" + std::to_string(word) + "," + "w201;";
            EXPECT_EQ(rules_for_text(cached, payload), rules_for_text(alone, payload)) << payload;
        }
    }
}

}  // namespace
}  // namespace sluice::text_wire_test
