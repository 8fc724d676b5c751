#include "lib/l7/http1/request_texts.hpp"
#include "lib/l7/http1/request_head.hpp"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <string>

namespace sluice::request_texts_test {
namespace {

const TextNames kNames{{TextName::Kind::Header, "X-Api-Key"},
                       {TextName::Kind::Cookie, "id"},
                       {TextName::Kind::Header, "User-Agent"},
                       {TextName::Kind::Header, "Host"},
                       {TextName::Kind::Cookie, "ID"}};

std::string text_of(ByteView bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// The texts that a request has, as a parser sets them.
std::map<TextField, std::string> texts_of(const RequestTexts& texts, std::string_view request) {
    RequestHead head;
    std::array<std::byte, 1024> room;
    EXPECT_EQ(parse_request_head(bytes_of(request), {texts.wanted()}, room, head),
              HeadStatus::Complete);
    std::map<TextField, std::string> found;
    for (const auto& [place, field] : texts.headers()) {
        if (head.header(place).first.data() != nullptr) {
            found[field] = text_of(head.header(place).first);
        }
    }
    for (const auto& [place, field] : texts.cookies()) {
        if (head.cookie(place).first.data() != nullptr) {
            found[field] = text_of(head.cookie(place).first);
        }
    }
    return found;
}

constexpr std::string_view kRequest =
    "GET / HTTP/1.1\r\nHost: A.example:80\r\nx-api-key: k\r\nuser-agent: curl/8\r\n"
    "Referer: r\r\nCookie: id=1; ID=2\r\n\r\n";

TEST(RequestTexts, SayWhichTextsAHeaderIs) {
    TextFieldSet all;
    for (const TextField field : kAllTextFields) {
        all.add(field);
    }
    const Result<RequestTexts> texts = RequestTexts::make(kNames, all, "x-forwarded-for");
    ASSERT_TRUE(texts);
    EXPECT_EQ(texts_of(*texts, kRequest),
              (std::map<TextField, std::string>{{TextField::HttpUserAgent, "curl/8"},
                                                {TextField::HttpReferer, "r"},
                                                {named_text(0), "k"},
                                                {named_text(1), "1"},
                                                {named_text(2), "curl/8"},
                                                {named_text(3), "A.example:80"},
                                                {named_text(4), "2"}}));
    EXPECT_EQ(texts_of(*texts, "GET / HTTP/1.1\r\nHost: a\r\nX-API-KEY:\r\n\r\n"),
              (std::map<TextField, std::string>{{named_text(0), ""}, {named_text(3), "a"}}));
}

TEST(RequestTexts, KeepOnlyWhatRulesRead) {
    const Result<RequestTexts> texts =
        RequestTexts::make(kNames, {TextField::HttpHost, named_text(0), named_text(4)});
    ASSERT_TRUE(texts);
    EXPECT_EQ(texts->wanted().headers().size(), kFramingHeaderCount + 1);
    EXPECT_EQ(texts->wanted().cookies().size(), 1U);
    EXPECT_EQ(texts_of(*texts, kRequest),
              (std::map<TextField, std::string>{{named_text(0), "k"}, {named_text(4), "2"}}));
    EXPECT_TRUE(RequestTexts{}.headers().empty());
    EXPECT_EQ(RequestTexts{}.wanted().headers().size(), kFramingHeaderCount);
}

// As many as a set can name, with the fields of the table that are headers too.
TEST(RequestTexts, HaveRoomForAllNames) {
    TextNames names;
    TextFieldSet all{TextField::HttpUserAgent, TextField::HttpReferer};
    for (std::size_t i = 0; i < kMaxNamedTexts; ++i) {
        names.push_back({TextName::Kind::Header, "h" + std::to_string(i)});
        all.add(named_text(i));
    }
    const Result<RequestTexts> texts = RequestTexts::make(names, all);
    ASSERT_TRUE(texts) << texts.error().what;
    EXPECT_EQ(texts->headers().size(), kMaxNamedTexts + 2);
    EXPECT_FALSE(RequestTexts::make({{TextName::Kind::Header, "a b"}}, {named_text(0)}));
}

}  // namespace
}  // namespace sluice::request_texts_test
