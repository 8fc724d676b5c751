#pragma once
#include <cstdint>
#include <string_view>

namespace sluice {

// One line to standard error for each message. For control paths only.
enum class LogLevel : std::uint8_t { Debug, Info, Warn, Error };

void set_log_level(LogLevel level) noexcept;

void log_line(LogLevel level, std::string_view text) noexcept;

inline void log_info(std::string_view text) noexcept {
    log_line(LogLevel::Info, text);
}
inline void log_warn(std::string_view text) noexcept {
    log_line(LogLevel::Warn, text);
}
inline void log_error(std::string_view text) noexcept {
    log_line(LogLevel::Error, text);
}

}  // namespace sluice
