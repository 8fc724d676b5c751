#include "lib/rules/text_part.hpp"
#include "tests/packets/verdict_case.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>

// Texts as parts of keys.
namespace sluice::test::text_keys_test {
namespace {

using namespace std::string_literals;

Octets octets(std::string_view text) {
    const ByteView bytes = bytes_of(text);
    return {bytes.begin(), bytes.end()};
}

std::string rules(const std::string& key, const std::string& more = "") {
    return "version: 1\nrules:\n  - id: r\n    mode: enforce\n    key: [" + key +
           "]\n    limits: [{algorithm: token_bucket, rate: 1/h, burst: 1}]\n" + more;
}

bool passes(Box& box, std::string_view text, std::string_view source = "10.0.0.1") {
    return box.judge(udp().src(source).carries(octets(text)).bytes(), kStart).verdict ==
           Verdict::Pass;
}

TEST(TextKeys, EachTextHasABucket) {
    Box box{rules("payload")};
    EXPECT_TRUE(passes(box, "abc"));
    EXPECT_FALSE(passes(box, "abc"));
    EXPECT_FALSE(passes(box, "abc", "10.0.0.2"));
    EXPECT_TRUE(passes(box, "ABC"));
    EXPECT_TRUE(passes(box, "ab"));
    EXPECT_TRUE(passes(box, "abcd"));
    EXPECT_TRUE(passes(box, "abc\0"s));
    EXPECT_TRUE(passes(box, ""));
    EXPECT_FALSE(passes(box, ""));
    // No payload, no key: the rule does not apply.
    EXPECT_EQ(box.judge(arp().bytes(), kStart).verdict, Verdict::Pass);
    EXPECT_EQ(box.judge(arp().bytes(), kStart).verdict, Verdict::Pass);
    EXPECT_EQ(box.counters(0).skipped.read(), 2U);
}

TEST(TextKeys, InSmallLettersIsOne) {
    Box box{rules("lower(payload), ip.src")};
    EXPECT_TRUE(passes(box, "Abc"));
    EXPECT_FALSE(passes(box, "aBC"));
    EXPECT_TRUE(passes(box, "aBC", "10.0.0.2"));
    EXPECT_TRUE(passes(box, "ab["));
    EXPECT_TRUE(passes(box, "ab{"));
    EXPECT_TRUE(passes(box, std::string(700, 'x') + "A"));
    EXPECT_FALSE(passes(box, std::string(700, 'X') + "a"));
}

// Where one ends and the next begins is part of the key.
TEST(TextKeys, DoNotRunIntoEachOther) {
    const Frame both = udp();
    GroupingKey key{{.text = TextField::Payload}, {.text = TextField::Payload}};
    give_room(key);
    const auto key_of_texts = [&](std::string_view a, std::string_view b) {
        KeyBytes bytes;
        bytes.clear();
        bytes.append_text(key[0], text_value(key[0], bytes_of(a)));
        bytes.append_text(key[1], text_value(key[1], bytes_of(b)));
        return std::string{reinterpret_cast<const char*>(bytes.view().data()), bytes.view().size()};
    };
    EXPECT_NE(key_of_texts("a", "bc"), key_of_texts("ab", "c"));
    EXPECT_NE(key_of_texts("", "abc"), key_of_texts("abc", ""));
}

// However long they are, and wherever they differ.
TEST(TextKeys, LongOnesShareNoBucketBecauseTheyBeginAlike) {
    Box box{rules("payload")};
    for (const std::size_t size : {16U, 48U, 64U, 254U, 255U, 256U, 257U, 700U, 1400U}) {
        const std::string text(size, 'x');
        EXPECT_TRUE(passes(box, text)) << size;
        EXPECT_FALSE(passes(box, text)) << size;
        for (const std::size_t at : {std::size_t{0}, size / 2, size - 1}) {
            std::string other = text;
            other[at] = 'y';
            EXPECT_TRUE(passes(box, other)) << size << " " << at;
            EXPECT_FALSE(passes(box, other)) << size << " " << at;
        }
    }
    // What a long one is written as in a key is another text.
    const std::string text(700, 'x');
    KeyPart part{.text = TextField::Payload, .room = 255};
    const TextValue value = text_value(part, bytes_of(text));
    ASSERT_TRUE(value.has_digest);
    EXPECT_EQ(value.size, kMostOfLongText + kTextDigestSize);
    EXPECT_TRUE(passes(box, {reinterpret_cast<const char*>(value.bytes.data()), value.size}));
}

TEST(TextKeys, HaveRoomInAnyKey) {
    std::string parts = "payload";
    for (std::size_t i = 1; i < kMaxKeyParts; ++i) {
        parts += ", payload";
    }
    Box box{rules(parts)};
    for (const KeyPart& part : box.set().rules[0].keys[0]) {
        EXPECT_EQ(part.room, kLeastTextRoom);
    }
    EXPECT_TRUE(passes(box, std::string(900, 'x')));
    EXPECT_FALSE(passes(box, std::string(900, 'x')));
    EXPECT_TRUE(passes(box, std::string(900, 'x') + "y"));
    Box mixed{rules("ip.src, payload, l4.dport")};
    EXPECT_EQ(mixed.set().rules[0].keys[0][1].room, 255);
    Box two{rules("ip.src, payload, lower(payload)")};
    EXPECT_EQ(two.set().rules[0].keys[0][1].room, 146);
}

// The text that is shown names the bucket, also a long one's.
TEST(TextKeys, AreReadAsTheyAreWritten) {
    std::mt19937_64 random{3};
    for (const std::string& key :
         {"payload"s, "ip.src, payload"s, "payload, lower(payload), payload"s}) {
        Box box{rules(key)};
        const GroupingKey& parts = box.set().rules[0].keys[0];
        for (int round = 0; round < 300; ++round) {
            std::string text(random() % (round % 3 == 0 ? 1300 : 40), '\0');
            for (char& c : text) {
                c = static_cast<char>(random() % (round % 2 == 0 ? 256 : 128));
            }
            const Octets frame = udp().src("10.0.0.1").carries(octets(text)).bytes();
            PacketHeaders headers;
            (void)parse_frame({frame, static_cast<std::uint32_t>(frame.size())}, {}, headers);
            KeyBytes bytes;
            ASSERT_EQ(key_of(parts, MissingKey::Skip, headers, frame, bytes), KeyOutcome::Complete);
            ASSERT_LE(bytes.view().size(), kMaxKeySize);
            const std::string shown = key_text(parts, headers, frame, "");
            EXPECT_EQ(text_of_key(bytes.view(), {}), shown);
            const Result<ReadKey> read = box.read_key(shown);
            ASSERT_TRUE(read) << shown << ": " << read.error().what;
            EXPECT_TRUE(std::ranges::equal(read->bytes.view(), bytes.view())) << shown;
            EXPECT_EQ(read->text, shown);
        }
    }
}

TEST(TextKeys, CanBeOverriddenAndAsked) {
    const std::string token(900, 'T');
    Box box{
        rules("lower(payload)", "    overrides: {inline: [{key: [Gold], exempt: true}, {key: [" +
                                    token + "], exempt: true}]}\n")};
    for (int i = 0; i < 3; ++i) {
        EXPECT_TRUE(passes(box, "gOLD"));
        EXPECT_TRUE(passes(box, token));
    }
    EXPECT_TRUE(passes(box, token + "x"));
    EXPECT_FALSE(passes(box, token + "x"));
    const Result<ReadKey> key = box.read_key(token + "X");
    ASSERT_TRUE(key);
    const KeyAnswer answer =
        box.ask({.action = KeyAction::Show, .load = box.set().load, .rule = 0, .bytes = key->bytes},
                kStart);
    EXPECT_TRUE(answer.buckets[0].own);
    EXPECT_EQ(answer.buckets[0].remaining, Units{0});
}

TEST(TextKeys, OfPacketsWithoutOneCanBeShared) {
    Box box{rules("payload", "    missing_key: share\n")};
    EXPECT_TRUE(passes(box, ""));
    EXPECT_EQ(box.judge(arp().bytes(), kStart).verdict, Verdict::Pass);
    EXPECT_EQ(box.judge(arp().bytes(), kStart).verdict, Verdict::Drop);
    const Result<ReadKey> shared = box.read_key("");
    ASSERT_TRUE(shared);
    EXPECT_EQ(shared->bytes.view().size(), 1U);
}

}  // namespace
}  // namespace sluice::test::text_keys_test
