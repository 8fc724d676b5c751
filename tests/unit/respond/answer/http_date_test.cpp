#include "lib/respond/answer/http_date.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string_view>

namespace sluice::http_date_test {
namespace {

struct Row {
    std::uint32_t second;
    std::string_view text;
};

TEST(HttpDate, IsAnImfFixdate) {
    constexpr Row kRows[] = {
        {0, "Thu, 01 Jan 1970 00:00:00 GMT"},
        {784'111'777, "Sun, 06 Nov 1994 08:49:37 GMT"},  // RFC 9110, 5.6.7
        {951'827'696, "Tue, 29 Feb 2000 12:34:56 GMT"},
        {951'827'697, "Tue, 29 Feb 2000 12:34:57 GMT"},
        {1'798'761'599, "Thu, 31 Dec 2026 23:59:59 GMT"},
        {1'798'761'600, "Fri, 01 Jan 2027 00:00:00 GMT"},
        {4'294'967'295, "Sun, 07 Feb 2106 06:28:15 GMT"},
    };
    HttpDate date;
    for (const Row& row : kRows) {
        EXPECT_EQ(date.at(row.second), row.text);
        EXPECT_EQ(date.at(row.second), row.text);
    }
    EXPECT_EQ(date.at(0), "Thu, 01 Jan 1970 00:00:00 GMT");
}

}  // namespace
}  // namespace sluice::http_date_test
