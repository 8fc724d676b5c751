#include "control/daemon/api/sought.hpp"

#include "lib/policy/keys/key_text.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace sluice::sought_test {
namespace {

using Kind = Sought::Kind;

KeyPart address(Field field, std::uint8_t v4 = 32, std::uint8_t v6 = 128) {
    KeyPart part;
    part.field = field;
    part.v4_length = v4;
    part.v6_length = v6;
    return part;
}
KeyPart text(TextField field, std::uint8_t room = 64) {
    KeyPart part;
    part.text = field;
    part.room = room;
    return part;
}
const GroupingKey kSource{address(Field::IpSrc)};
const GroupingKey kNetwork{address(Field::IpSrc, 24, 64)};
const GroupingKey kHost{text(TextField::HttpHost)};
const GroupingKey kBoth{address(Field::IpSrc), text(TextField::HttpHost)};

Sought sought(std::string_view words) {
    const Result<Sought> read = read_sought(words);
    EXPECT_TRUE(read) << words << (read ? "" : ": " + read.error().what);
    return read ? *read : Sought{};
}
bool concerns(const GroupingKey& key, std::string_view of_key, std::string_view words) {
    const Result<ReadKey> read = read_key_text(key, of_key);
    EXPECT_TRUE(read) << of_key;
    return read && has_part(key, read->bytes.view(), sought(words));
}

TEST(Sought, IsReadInTheSpellingOfPackets) {
    const struct {
        std::string_view words;
        Kind kind;
        std::string_view text;
        std::string_view inside = "";
    } kCases[] = {
        {"10.0.0.7", Kind::Address, "10.0.0.7"},
        {"10.0.0.7/32", Kind::Address, "10.0.0.7"},
        {"10.0.0.0/24", Kind::Network, "10.0.0.0/24"},
        {"2001:DB8:0::1", Kind::Address, "2001:db8::1"},
        {"2001:db8::/64", Kind::Network, "2001:db8::/64"},
        {"::ffff:10.0.0.7", Kind::Address, "::ffff:10.0.0.7", "10.0.0.7"},
        {"64:ff9b::a00:7", Kind::Address, "64:ff9b::a00:7", "10.0.0.7"},
        {"WWW.Example.com.", Kind::Host, "www.example.com"},
        {"_dmarc.example.com", Kind::Host, "_dmarc.example.com"},
        {"10.0.0.7|443", Kind::Key, "10.0.0.7|443"},
        {"10.9.0.0/24|80", Kind::Key, "10.9.0.0/24|80"},
        {"2001:db8::/64|80", Kind::Key, "2001:db8::/64|80"},
        {"/login", Kind::Key, "/login"},
        {"10.0.0.4-10.0.0.7", Kind::Network, "10.0.0.4/30"},
        {"10.0.0.5-10.0.0.9", Kind::Range, "10.0.0.5-10.0.0.9"},
        {"2001:db8::1-2001:db8::3", Kind::Range, "2001:db8::1-2001:db8::3"},
        {"10.0.0.7-10.0.0.7", Kind::Address, "10.0.0.7"},
        {"443", Kind::Key, "443"},
        {"localhost", Kind::Key, "localhost"},
        {"a.", Kind::Key, "a."},
        {"a.b.", Kind::Host, "a.b"},
    };
    for (const auto& one : kCases) {
        const Sought read = sought(one.words);
        EXPECT_EQ(read.kind, one.kind) << one.words;
        EXPECT_EQ(read.text, one.text);
        EXPECT_EQ(read.inside, one.inside);
        const Sought again = sought(read.text);
        EXPECT_EQ(again.kind, read.kind) << "of " << one.words;
        EXPECT_EQ(again.text, read.text);
    }
}

// All short texts of marks that addresses, names and keys are made of.
TEST(Sought, SpellsItself) {
    constexpr std::string_view kMarks = "aZ1.:-|/%";
    constexpr std::size_t kLongest = 5;
    std::vector<std::string> texts{""};
    std::size_t read = 0;
    for (std::size_t at = 0; at < texts.size(); ++at) {
        const std::string words = texts[at];
        if (const Result<Sought> found = read_sought(words)) {
            ++read;
            const Result<Sought> again = read_sought(found->text);
            ASSERT_TRUE(again) << words << ": " << again.error().what;
            ASSERT_EQ(again->kind, found->kind) << words;
            ASSERT_EQ(again->text, found->text) << words;
        }
        for (std::size_t i = 0; words.size() < kLongest && i < kMarks.size(); ++i) {
            texts.push_back(words + kMarks[i]);
        }
    }
    EXPECT_GT(read, texts.size() / 2);
}

TEST(Sought, SaysWhatIsWrong) {
    using namespace std::string_view_literals;
    const struct {
        std::string words;
        std::string_view said;
    } kCases[] = {
        {"", "name an address, a network"},
        {"http://evil.example:8080/a", "its host is to be found: evil.example:8080"},
        {"02:00:00:00:00:01", "a MAC address"},
        {"10.0.0.9-10.0.0.5", "ends before it begins"},
        {"10.0.0.7/24", "the network is 10.0.0.0/24"},
        {"10.0.0.300", "`10.0.0.300`"},
        {"10.0.0", "`10.0.0`"},
        {"10.0.0.0/33", "`10.0.0.0/33`"},
        {"fe80::1%eth0", "`fe80::1%eth0`"},
        {"example.com:443", "without its port it is example.com"},
        {"a..", "empty label"},
        {"a..b", "empty label"},
        {".example.com", "empty label"},
        {"..a", "empty label"},
        {"b\xC3\xBC"
         "cher.example",
         "http.host"},
        {std::string{"10.0.0.7\0"sv}, "control byte"},
        {std::string(kMostSought + 1, 'x'), "at most 2048 bytes; found 2049"},
    };
    for (const auto& one : kCases) {
        const Result<Sought> read = read_sought(one.words);
        ASSERT_FALSE(read) << one.words;
        EXPECT_NE(read.error().what.find(one.said), std::string::npos) << read.error().what;
    }
}

TEST(Sought, IsAPartOfKeysThatConcernIt) {
    EXPECT_TRUE(concerns(kSource, "10.0.0.7", "10.0.0.7"));
    EXPECT_FALSE(concerns(kSource, "10.0.0.8", "10.0.0.7"));
    EXPECT_FALSE(concerns(kSource, "2001:db8::1", "10.0.0.7"));
    EXPECT_TRUE(concerns(kNetwork, "10.0.0.0/24", "10.0.0.7"));
    EXPECT_TRUE(concerns(kNetwork, "10.0.0.0/24", "10.0.0.0/16"));
    EXPECT_FALSE(concerns(kNetwork, "10.0.1.0/24", "10.0.0.0/25"));
    EXPECT_TRUE(concerns(kNetwork, "2001:db8::/64", "2001:db8::9"));
    EXPECT_TRUE(concerns(kBoth, "10.0.0.7|example.com", "10.0.0.7"));
    EXPECT_TRUE(concerns(kBoth, "10.0.0.7|example.com", "Example.com"));
    EXPECT_FALSE(concerns(kBoth, "10.0.0.7|www.example.com", "example.com"));
    EXPECT_FALSE(concerns(kBoth, "10.0.0.8|10.0.0.9", "10.0.0.7"));
}

// A long text stands in a key as its beginning and a digest.
TEST(Sought, IsALongTextOfAKey) {
    const GroupingKey narrow{address(Field::IpSrc), text(TextField::HttpHost, 20)};
    const std::string host = std::string(60, 'a') + ".example";
    EXPECT_TRUE(concerns(narrow, "10.0.0.7|" + host, host));
    EXPECT_FALSE(concerns(narrow, "10.0.0.7|" + host, std::string(60, 'a') + ".exampla"));
}

TEST(Sought, LeavesPartsOfKeysOpen) {
    EXPECT_FALSE(leaves_open(kSource, sought("10.0.0.7")));
    EXPECT_TRUE(leaves_open(kSource, sought("10.0.0.0/24")));
    EXPECT_FALSE(leaves_open(kNetwork, sought("10.0.0.0/24")));
    EXPECT_FALSE(leaves_open(kNetwork, sought("10.0.0.0/28")));
    EXPECT_TRUE(leaves_open(kNetwork, sought("10.0.0.0/16")));
    EXPECT_FALSE(leaves_open(kHost, sought("10.0.0.0/16")));
    EXPECT_FALSE(leaves_open(kHost, sought("example.com")));
    EXPECT_TRUE(leaves_open(kBoth, sought("10.0.0.7")));
    EXPECT_TRUE(leaves_open(kBoth, sought("example.com")));
    EXPECT_FALSE(leaves_open(kBoth, sought("10.0.0.7|example.com")));
    EXPECT_FALSE(leaves_open({}, sought("10.0.0.7")));
}

}  // namespace
}  // namespace sluice::sought_test
