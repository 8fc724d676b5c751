#include "control/daemon/log.hpp"

#include <gtest/gtest.h>
#include <spdlog/details/log_msg.h>
#include <spdlog/formatter.h>
#include <nlohmann/json.hpp>

namespace sluice::log_test {
namespace {

std::string line(const std::string& format, spdlog::level::level_enum level,
                 const std::string& text) {
    const spdlog::details::log_msg message{
        spdlog::log_clock::time_point{std::chrono::seconds{1'800'000'000}}, {}, "x", level, text};
    spdlog::memory_buf_t out;
    make_log_formatter(format)->clone()->format(message, out);
    return {out.data(), out.size()};
}

TEST(Log, OneMessageIsOneLine) {
    const std::string two = "one \"thing\"\nand another";
    EXPECT_EQ(line("text", spdlog::level::warn, two),
              "2027-01-15T08:00:00Z warn one \"thing\" and another\n");
    EXPECT_EQ(line("journal", spdlog::level::err, two), "<3>one \"thing\" and another\n");
    EXPECT_EQ(line("journal", spdlog::level::warn, "x"), "<4>x\n");
    EXPECT_EQ(line("journal", spdlog::level::info, "x"), "<6>x\n");
    EXPECT_EQ(line("journal", spdlog::level::debug, "x"), "<7>x\n");
    const std::string json = line("json", spdlog::level::info, two + "\xFF");
    EXPECT_EQ(json.find('\n'), json.size() - 1);
    const auto document = nlohmann::json::parse(json);
    EXPECT_EQ(document["time"], "2027-01-15T08:00:00Z");
    EXPECT_EQ(document["level"], "info");
    EXPECT_EQ(document["message"], two + "\xEF\xBF\xBD");
}

}  // namespace
}  // namespace sluice::log_test
