#include "lib/respond/answer/dns_answer.hpp"

#include "tests/packets/dns_bytes.hpp"

#include <gtest/gtest.h>

namespace sluice::dns_answer_test {
namespace {

using test::be16_text;
using test::dns_question;
using test::DnsText;

// "": there is none. What is behind the query is not read, nor written.
std::string answer_to(const std::string& query, DnsAnswer kind) {
    std::string room(query.size(), '?');
    const std::size_t size =
        write_dns_answer(bytes_of(query), kind, std::as_writable_bytes(std::span{room}));
    EXPECT_LE(size, query.size());
    return room.substr(0, size);
}

// Type, class, TTL, data.
std::string opt_record(std::uint32_t flags, const std::string& data = "") {
    return std::string(1, '\0') + be16_text(41) + be16_text(4096) +
           be16_text(static_cast<std::uint16_t>(flags >> 16)) +
           be16_text(static_cast<std::uint16_t>(flags)) +
           be16_text(static_cast<std::uint16_t>(data.size())) + data;
}
std::string opt_answer(std::uint32_t flags) {
    std::string record = opt_record(flags);
    record.replace(3, 2, be16_text(1232));
    return record;
}

const std::string kQuestion = dns_question("Www.Example.COM", 28);

TEST(DnsAnswer, RepeatsTheQuestion) {
    const std::string query = DnsText{.id = 0xBEEF, .flags = 0x0100, .body = kQuestion}.wire();
    const auto wanted = [](std::uint16_t flags) {
        return DnsText{.id = 0xBEEF, .flags = flags, .body = kQuestion}.wire();
    };
    EXPECT_EQ(answer_to(query, DnsAnswer::Truncated), wanted(0x8300));
    EXPECT_EQ(answer_to(query, DnsAnswer::Refused), wanted(0x8105));
    EXPECT_EQ(answer_to(query, DnsAnswer::Empty), wanted(0x8100));
}

// RD and CD stay; AA, TC, RA, Z, AD and the RCODE are the answer's own.
TEST(DnsAnswer, KeepsTheFlagsThatAQueryGives) {
    const std::string query = DnsText{.flags = 0x07FF, .body = kQuestion}.wire();
    const std::string answer = answer_to(query, DnsAnswer::Empty);
    EXPECT_EQ(answer.substr(2, 2), be16_text(0x8110));
    const std::string bare = DnsText{.flags = 0, .body = kQuestion}.wire();
    EXPECT_EQ(answer_to(bare, DnsAnswer::Truncated).substr(2, 2), be16_text(0x8200));
}

TEST(DnsAnswer, AnOptRecordGetsOne) {
    const auto query = [](const std::string& records, std::uint16_t count = 1) {
        return DnsText{.additionals = count, .body = kQuestion + records}.wire();
    };
    const auto wanted = [](std::uint16_t flags, std::uint32_t opt) {
        return DnsText{.flags = flags, .additionals = 1, .body = kQuestion + opt_answer(opt)}
            .wire();
    };
    EXPECT_EQ(answer_to(query(opt_record(0)), DnsAnswer::Truncated), wanted(0x8300, 0));
    EXPECT_EQ(answer_to(query(opt_record(0x8000)), DnsAnswer::Refused), wanted(0x8105, 0x8000));
    // Version 1 (RFC 6891, 6.1.3): BADVERS is 16, the upper bits of which are in the record.
    EXPECT_EQ(answer_to(query(opt_record(0x0001'0000)), DnsAnswer::Truncated),
              wanted(0x8100, 0x0100'0000));
    const std::string other = test::dns_labels("x") + be16_text(1) + be16_text(1) +
                              std::string(4, '\0') + be16_text(4) + "abcd";
    EXPECT_EQ(answer_to(query(other + opt_record(0), 2), DnsAnswer::Empty), wanted(0x8100, 0));
}

TEST(DnsAnswer, WithoutASoundOptRecordThereIsNone) {
    const auto plain = DnsText{.flags = 0x8100, .body = kQuestion}.wire();
    const auto answer = [](const std::string& records) {
        return answer_to(DnsText{.additionals = 1, .body = kQuestion + records}.wire(),
                         DnsAnswer::Empty);
    };
    EXPECT_EQ(answer(""), plain);
    EXPECT_EQ(answer(opt_record(0).substr(0, 10)), plain);
    EXPECT_EQ(answer(opt_record(0, "abcd").substr(0, 14)), plain);
    const std::string named = test::dns_labels("x") + opt_record(0).substr(1);
    EXPECT_EQ(answer(named), plain);
    const std::string pointer = "\xC0\x0C" + opt_record(0).substr(1);
    EXPECT_EQ(answer(pointer), plain);
    const std::string wide = "\x40" + opt_record(0).substr(1);
    EXPECT_EQ(answer(wide), plain);
}

const std::string kOther = test::dns_labels("x") + be16_text(1) + std::string(8, '\0');
// Its name is a pointer, which ends it.
const std::string kPointed = "\xC0\x0C" + be16_text(1) + std::string(8, '\0');

std::string edns_query(const std::string& records, std::uint16_t additionals,
                       std::uint16_t answers = 0) {
    return DnsText{.answers = answers, .additionals = additionals, .body = kQuestion + records}
        .wire();
}
std::string edns_answer(std::uint16_t flags, const std::string& options = "") {
    std::string record = opt_record(0, options);
    record.replace(3, 2, be16_text(1232));
    return DnsText{.flags = flags, .additionals = 1, .body = kQuestion + record}.wire();
}

TEST(DnsAnswer, AnOptRecordIsFoundWhereverItStands) {
    const std::string plain = DnsText{.flags = 0x8100, .body = kQuestion}.wire();
    for (const int before : {1, 8, 10, 300}) {
        std::string many;
        for (int i = 0; i < before; ++i) {
            many += i % 2 == 0 ? kOther : kPointed;
        }
        const auto count = static_cast<std::uint16_t>(before + 1);
        EXPECT_EQ(answer_to(edns_query(many + opt_record(0), count), DnsAnswer::Empty),
                  edns_answer(0x8100));
        EXPECT_EQ(answer_to(edns_query(opt_record(0) + many, count), DnsAnswer::Empty),
                  edns_answer(0x8100));
        // One among the answers is none.
        EXPECT_EQ(answer_to(edns_query(many + opt_record(0), 0, count), DnsAnswer::Empty), plain);
    }
}

std::string option(std::uint16_t code, const std::string& value) {
    return be16_text(code) + be16_text(static_cast<std::uint16_t>(value.size())) + value;
}

TEST(DnsAnswer, ACookieComesBackAsItWent) {
    for (const std::size_t size : {8, 16, 24, 40}) {
        const std::string cookie = option(10, std::string(size, 'c'));
        for (const std::string& options :
             {cookie, option(3, "") + cookie, cookie + option(12, "padding"),
              cookie + option(10, "")}) {
            const std::string query = edns_query(opt_record(0, options), 1);
            EXPECT_EQ(answer_to(query, DnsAnswer::Truncated), edns_answer(0x8300, cookie)) << size;
            EXPECT_EQ(answer_to(query, DnsAnswer::Refused), edns_answer(0x8105, cookie)) << size;
        }
    }
}

TEST(DnsAnswer, WhatIsMalformedIsSaidToBe) {
    for (const std::size_t size : {0, 7, 9, 15, 41}) {
        EXPECT_EQ(answer_to(edns_query(opt_record(0, option(10, std::string(size, 'c'))), 1),
                            DnsAnswer::Truncated),
                  edns_answer(0x8101))
            << size;
    }
    for (const std::string& cut : {option(10, "12345678").substr(0, 11), std::string(3, '\0')}) {
        EXPECT_EQ(answer_to(edns_query(opt_record(0, cut), 1), DnsAnswer::Empty),
                  edns_answer(0x8101));
    }
    EXPECT_EQ(answer_to(edns_query(opt_record(0) + kOther + opt_record(0), 3), DnsAnswer::Empty),
              edns_answer(0x8101));
}

// Options of another version may have another form.
TEST(DnsAnswer, AnotherVersionIsToldSoWhateverItsOptions) {
    const std::string wanted =
        DnsText{.flags = 0x8100, .additionals = 1, .body = kQuestion + opt_answer(0x0100'0000)}
            .wire();
    EXPECT_EQ(answer_to(edns_query(opt_record(0x0001'0000, "abc"), 1), DnsAnswer::Truncated),
              wanted);
}

TEST(DnsAnswer, OthersGetNone) {
    for (const DnsAnswer kind : {DnsAnswer::Truncated, DnsAnswer::Refused, DnsAnswer::Empty}) {
        EXPECT_EQ(answer_to("", kind), "");
        EXPECT_EQ(answer_to(DnsText{.body = kQuestion}.wire().substr(0, 30), kind), "");
        EXPECT_EQ(answer_to(DnsText{.flags = 0x8000, .body = kQuestion}.wire(), kind), "");
        EXPECT_EQ(answer_to(DnsText{.flags = 0x2800, .body = kQuestion}.wire(), kind), "");
        EXPECT_EQ(answer_to(DnsText{.questions = 0, .body = kQuestion}.wire(), kind), "");
        EXPECT_EQ(answer_to(DnsText{.questions = 2, .body = kQuestion + kQuestion}.wire(), kind),
                  "");
    }
}

// A pointer into the header means another name where the header is another one.
TEST(DnsAnswer, ACompressedNameGetsNone) {
    const std::string into_header = "\xC0\x02" + be16_text(1) + be16_text(1);
    EXPECT_EQ(answer_to(DnsText{.flags = 0, .body = into_header}.wire(), DnsAnswer::Empty), "");
    const std::string behind_label = "\x01x\xC0\x02" + be16_text(1) + be16_text(1);
    EXPECT_EQ(answer_to(DnsText{.flags = 0, .body = behind_label}.wire(), DnsAnswer::Empty), "");
}

TEST(DnsAnswer, TheRootIsAQuestion) {
    const std::string query = DnsText{.body = dns_question("", 2)}.wire();
    EXPECT_EQ(answer_to(query, DnsAnswer::Truncated).size(), query.size());
}

}  // namespace
}  // namespace sluice::dns_answer_test
