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
        {"GET / RTSP/1.0\r\n", NotHttp},
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
