#include "control/daemon/request_class.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sluice::request_class_test {
namespace {

constexpr RequestClass kOrdinary = RequestClass::Ordinary;
constexpr RequestClass kWatching = RequestClass::Watching;
constexpr RequestClass kPanic = RequestClass::Panic;

struct Case {
    std::string bytes;
    std::optional<RequestClass> expected;
};

TEST(RequestClass, AHeaderOfWhatHasCome) {
    const auto said = [](std::string_view bytes) {
        return std::string{header_in(bytes, "authorization:")};
    };
    EXPECT_EQ(said("GET / HTTP/1.1\r\nAUTHORIZATION: \t Bearer x \r\n\r\n"), "Bearer x");
    EXPECT_EQ(said("GET / HTTP/1.1\nauthorization:y\n\n"), "y");
    EXPECT_EQ(said("GET / HTTP/1.1\r\nAuthorization: 1\r\nAuthorization: 2\r\n\r\n"), "1");
    EXPECT_EQ(said("GET / HTTP/1.1\r\nAuthorization:\r\n\r\n"), "");
    EXPECT_EQ(said("GET / HTTP/1.1\r\nAuthorization"), "");
    EXPECT_EQ(said("GET / HTTP/1.1\r\n\r\nAuthorization: of the body\r\n\r\n"), "");
    EXPECT_EQ(said(""), "");
}

TEST(RequestClass, OfWhatHasCome) {
    const std::string panic = "POST /v1/panic HTTP/1.1\r\nContent-length:  4\r\n\r\n";
    const std::vector<Case> cases{
        {"", std::nullopt},
        {"GET /v1/health HTTP/1.1\r\nHost: x\r\n", std::nullopt},
        {"GET /v1/health HTTP/1.1\r\nHost: x\r\n\r\n", kWatching},
        {"GET /v1/health HTTP/1.1\n\n", kWatching},
        {"HEAD /v1/metrics?a=b HTTP/1.1\r\n\r\n", kWatching},
        {"GET /v1/live?after=7&wait=3 HTTP/1.1\r\n\r\n", RequestClass::Live},
        {"GET /v1/lives HTTP/1.1\r\n\r\n", kOrdinary},
        {"GET /v1/healthy HTTP/1.1\r\n\r\n", kOrdinary},
        {"GET /v1/rules HTTP/1.1\r\n\r\n", kOrdinary},
        {"PUT /v1/rules HTTP/1.1\r\nContent-Length: 9\r\n\r\n", kOrdinary},
        {"POST /v1/panic HTTP/1.1\r\n\r\n", kPanic},
        {panic, std::nullopt},
        {panic + "{}x", std::nullopt},
        {panic + "{}xx", kPanic},
        {panic + "{}xxGET /v1/rules", kPanic},
        {"POST /v1/panic HTTP/1.1\r\nContent-Length: 99999\r\n\r\n", kOrdinary},
        {"POST /v1/panic HTTP/1.1\r\nContent-Length: no\r\n\r\n", kOrdinary},
        {"POST /v1/panic HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n", kOrdinary},
        {"POST /v1/panic HTTP/1.1\r\nContent-Length:\r\n\r\n", kOrdinary},
        {"POST /v1/panic HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", kOrdinary},
        {"\r\n\r\n", kOrdinary},
        {std::string(kMostPeeked - 1, 'a'), std::nullopt},
        {std::string(kMostPeeked, 'a'), kOrdinary},
    };
    for (const Case& one : cases) {
        EXPECT_EQ(class_of(one.bytes), one.expected) << one.bytes.substr(0, 80);
    }
}

TEST(RequestClasses, ARequestIsAnswerableOnceNothingMoreIsWaitedFor) {
    const auto post = [](const std::string& length) {
        return "POST /v1/session HTTP/1.1\r\nContent-Length:" + length + "\r\n\r\n";
    };
    const std::string padding = "X: " + std::string(5000, 'a') + "\r\n";
    const std::pair<std::string, bool> cases[] = {
        {"", false},
        {"POST /v1/session HTTP/1.1\r\nContent-Length: 4\r\n", false},
        {post(" 4"), false},
        {post(" 4") + "{}x", false},
        {post(" 4") + "{}xx", true},
        {post("\t4") + "{}x", false},
        {post("\t4") + "{}xx", true},
        {post("\r\n 4") + "{}xx", false},  // goes on in another line
        {post(" no"), false},
        {post(" 4097"), true},
        {post(" 4096"), false},
        {"POST / HTTP/1.1\r\n" + padding + "Content-Length: 4096\r\n\r\n", false},
        {"GET / HTTP/1.1\r\n\r\n", true},
        {"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", true},
        {std::string(kMostPeeked, 'a'), false},
    };
    for (const auto& [bytes, answerable] : cases) {
        EXPECT_EQ(is_answerable(bytes, 4096), answerable) << bytes.substr(0, 80);
    }
}

}  // namespace
}  // namespace sluice::request_class_test
