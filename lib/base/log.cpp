#include "lib/base/log.hpp"

#include <array>
#include <cstdio>
#include <ctime>
#include <string>

namespace sluice {
namespace {

LogLevel least = LogLevel::Info;  // set once, before threads start

constexpr std::array<std::string_view, 4> kNames{"debug", "info", "warn", "error"};

}  // namespace

void set_log_level(LogLevel level) noexcept {
    least = level;
}

void log_line(LogLevel level, std::string_view text) noexcept {
    if (level < least) {
        return;
    }
    timespec now{};
    (void)::clock_gettime(CLOCK_REALTIME, &now);
    tm parts{};
    (void)::gmtime_r(&now.tv_sec, &parts);
    std::array<char, 32> stamp{};
    (void)std::strftime(stamp.data(), stamp.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
    std::string line = std::string{stamp.data()} + " " +
                       std::string{kNames[static_cast<std::size_t>(level)]} + " ";
    for (const char c : text) {
        line += c == '\n' || c == '\r' ? ' ' : c;  // one message, one line
    }
    line += '\n';
    (void)std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace sluice
