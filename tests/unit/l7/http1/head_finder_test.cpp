#include "lib/l7/http1/head_finder.hpp"

#include <gtest/gtest.h>

#include <string>

namespace sluice::head_finder_test {
namespace {

struct Row {
    std::string_view bytes;
    HeadStatus status;
    std::size_t size = 0;
};

TEST(HeadFinder, TellsRequestsFromOtherProtocols) {
    using enum HeadStatus;
    const Row rows[] = {
        {"", NeedMore},
        {"G", NeedMore},
        {"GET / HTTP/1.1\r\n", NeedMore},
        {"GET / HTTP/1.1\r\n\r", NeedMore},
        {"GET / HTTP/1.1\r\n\r\n", Complete, 18},
        {"GET / HTTP/1.1\r\n\r\nGET", Complete, 18},
        {"GET / HTTP/1.1\n\n", Complete, 16},
        {"GET / HTTP/1.1\n\r\n", Complete, 17},
        {"GET / HTTP/1.1\r\r\n\r\n", Complete, 19},
        {"GET / HTTP/1.1\r\n\r\r\n\r\n", Complete, 21},
        {"\r\n\nGET / HTTP/1.0\r\n\r\n", Complete, 21},
        {"\r\n\r", NeedMore},
        {"\rGET / HTTP/1.1\r\n\r\n", NotHttp},
        {" GET / HTTP/1.1\r\n\r\n", NotHttp},
        {"PURGE /x HTTP/1.1\r\n\r\n", Complete, 21},
        {"GET / http/9\r\n\r\n", Complete, 16},  // recognised, and malformed
        {"GET /\r\n", NotHttp},                  // HTTP/0.9
        {"GET HTTP/1.1\r\n", NotHttp},
        {"GET / RTSP/1.0\r\n", NeedMore},
        {"HTTP/1.1 200 OK\r\n", NotHttp},
        {"SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n", NotHttp},
        {"EHLO mail.example\r\n", NotHttp},
        {"\x16\x03\x01", NotHttp},
        {"G\xC9T / HTTP/1.1\r\n", NotHttp},
        {"ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEF", NeedMore},
        {"ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFG", NotHttp},
        {"PRI * HTTP/2.0\r\n\r\n", NeedMore},
        {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", H2Preface, 24},
        {"PRI * HTTP/2.0\r\n\r\nSX", Complete, 18},
        {"PRI * HTTP/1.1\r\n\r\n", Complete, 18},
    };
    for (const Row& row : rows) {
        HeadFinder finder;
        EXPECT_EQ(finder.find(bytes_of(row.bytes)), row.status) << row.bytes;
        EXPECT_TRUE(row.size == 0 || finder.size() == row.size) << row.bytes << finder.size();
    }
}

struct FaultRow {
    std::string bytes;
    LineFault fault;
    std::size_t at;  // bytes after which it is known
};

TEST(HeadFinder, GivesUpOtherProtocolsAsEarlyAsTheyShow) {
    using enum LineFault;
    const FaultRow rows[] = {
        {"RFB 003.008\n", NoTargetForm, 5},
        {"EHLO mail.example\r\n", NoTargetForm, 18},
        {"EHLO [192.0.2.1]\r\n", NoTargetForm, 6},
        {"USER x\r\n", NoTargetForm, 7},
        {"HELP\r\n", NoTarget, 5},
        {"login: jo", NoMethod, 6},
        {"Last login", NoTargetForm, 0},
        {"Welcome to Debian", NoTargetForm, 11},
        {"220 mail.example ESMTP\r\n", NoTargetForm, 17},
        {"a001 LOGIN jo x\r\n", NoTargetForm, 11},
        {"GET /\r\n", NoVersion, 7},
        {"GET * x", None, 0},
        {"GET *x", NoTargetForm, 6},
        {"GET " + std::string(33, 'a'), NoTargetForm, 37},
        {"GET a:b", NoTargetForm, 7},
        {"CONNECT h:1 ", None, 0},
        {"CONNECT \"", NoTargetForm, 9},
        {std::string(33, 'A'), MethodTooLong, 33},
        {"\x16\x03\x01", NoMethod, 1},
        {"\rGET", NoMethod, 2},
    };
    for (const FaultRow& row : rows) {
        if (row.at == 0) {
            EXPECT_TRUE(may_begin_request(bytes_of(row.bytes), ReadingStance::Anywhere))
                << row.bytes;
            continue;
        }
        for (std::size_t size = 0; size <= row.bytes.size(); ++size) {
            HeadFinder finder;
            const HeadStatus status = finder.find(bytes_of(row.bytes).first(size));
            EXPECT_EQ(status == HeadStatus::NotHttp, size >= row.at) << row.bytes << size;
            EXPECT_EQ(finder.fault(), size >= row.at ? row.fault : None) << row.bytes << size;
        }
    }
}

// A row of each kind that some server serves: README.md has which.
TEST(HeadFinder, TakesForAServiceWhateverSomeServerServes) {
    using enum HeadStatus;
    const std::string end = "\r\nHost: h\r\n\r\n";
    const std::string heads[] = {"\rGET /x HTTP/1.1",       "\n\rGET /x HTTP/1.1",
                                 "\r\r\nGET /x HTTP/1.1",   " GET /x HTTP/1.1",
                                 "\t\v\fGET /x HTTP/1.1",   std::string("\0GET /x HTTP/1.1", 16),
                                 "\xFFGET /x HTTP/1.1",     std::string(5000, 'A') + " /x HTTP/1.1",
                                 "G(T /x HTTP/1.1",         "G\xC3\xA9T /x HTTP/1.1",
                                 "GET\v/x\fHTTP/1.1",       "GET\r/x\rHTTP/1.1",
                                 "GET\x85/x\xA0HTTP/1.1",   "GET /x HTTP/1.1\t",
                                 "GET /x HTTP/0.9",         "GET /x HTTP/3.0",
                                 "GET /x HTTP/-1.1",        "GET /x RTSP/1.0",
                                 "SOURCE /x ICE/1.0",       "GET x HTTP/1.1",
                                 "GET /x HTTP/1.1 HTTP/1.1"};
    for (const std::string& head : heads) {
        HeadFinder finder{ReadingStance::Service};
        EXPECT_EQ(finder.find(bytes_of(head + end)), Complete) << head;
        EXPECT_EQ(finder.size(), head.size() + end.size()) << head;
    }
    const std::string lines[] = {
        "GET /x\r\n", "GET /x\n",    "GET  /x \r\n", "\r\nGET /x\n",       "GET\t/x\n",
        "GET x\n",    "POST /x\r\n", "CONNECT \r\n", "GET /xHTTP/1.1\r\n", "GET /x\xA0y\r\n"};
    for (const std::string& line : lines) {
        HeadFinder finder{ReadingStance::Service};
        EXPECT_EQ(finder.find(bytes_of(line + "GET /y HTTP/1.1" + end)), Complete) << line;
        EXPECT_EQ(finder.size(), line.size()) << line;
    }
}

TEST(HeadFinder, SaysWhyNoServerTakesALine) {
    using enum LineFault;
    const std::pair<std::string, LineFault> rows[] = {{"\r\n \r\n", NoMethod},
                                                      {"HELP\r\n", NoTarget},
                                                      {"GET\r\n", NoTarget},
                                                      {"GET \r\n", NoTarget},
                                                      {"EHLO x\r\n", NoVersion},
                                                      {"USER x\r\n", NoVersion},
                                                      {"post /x\r\n", NoVersion},
                                                      {"get /x\r\n", NoVersion},
                                                      {"GET /x y\r\n", NoVersion},
                                                      {"GET /x FOO\r\n", NoVersion},
                                                      {"GET /x SIP/2.0\n", NoVersion},
                                                      {"\x16\x03", NoMethod},
                                                      {"\r\n\x16\x03\x01\x02", NoMethod}};
    for (const auto& [bytes, fault] : rows) {
        HeadFinder finder{ReadingStance::Service};
        EXPECT_EQ(finder.find(bytes_of(bytes)), HeadStatus::NotHttp) << bytes;
        EXPECT_EQ(finder.fault(), fault) << bytes;
    }
}

// A record of TLS shows with its second byte, however it goes on.
TEST(HeadFinder, TakesNoHandshakeOfTlsForAHalfLine) {
    const std::string record = "\x16\x03\x01 /x HTTP/1.1\r\n\r\n";
    for (std::size_t size = 1; size <= record.size(); ++size) {
        HeadFinder finder{ReadingStance::Service};
        EXPECT_EQ(finder.find(bytes_of(record).first(size)),
                  size < 2 ? HeadStatus::NeedMore : HeadStatus::NotHttp)
            << size;
    }
}

std::string head_of(std::size_t size) {
    const std::string begin = "GET / HTTP/1.1\r\nX: ";
    return begin + std::string(size - begin.size() - 4, 'x') + "\r\n\r\n";
}

TEST(HeadFinder, AHeadOfTheLimitIsWholeAndOneByteMoreIsTooLong) {
    for (const std::size_t limit :
         {kMinHeadLimit, std::size_t{100}, kDefaultHeadLimit, kMaxHeadLimit}) {
        HeadFinder at_limit;
        EXPECT_EQ(at_limit.find(bytes_of(head_of(limit)), limit), HeadStatus::Complete);
        EXPECT_EQ(at_limit.size(), limit);
        const std::string longer = head_of(limit + 1);
        for (const std::size_t size : {limit - 1, limit, limit + 1}) {
            HeadFinder finder;
            EXPECT_EQ(finder.find(bytes_of(longer).first(size), limit),
                      size < limit ? HeadStatus::NeedMore : HeadStatus::TooLong);
        }
    }
}

TEST(HeadFinder, OtherProtocolsAreNoneWhateverTheLimit) {
    HeadFinder finder;
    EXPECT_EQ(finder.find(bytes_of("SSH-2.0 x\r\n" + std::string(100, 'x')), 64),
              HeadStatus::NotHttp);
}

}  // namespace
}  // namespace sluice::head_finder_test
