#include "control/daemon/log.hpp"

#include <fmt/chrono.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <nlohmann/json.hpp>

#include <chrono>

namespace sluice {
namespace {

using Line = spdlog::details::log_msg;

std::string time_of(const Line& message) {
    const auto time = std::chrono::time_point_cast<std::chrono::seconds>(message.time);
    return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                       fmt::gmtime(std::chrono::system_clock::to_time_t(time)));
}

std::string_view level_of(const Line& message) {
    switch (message.level) {
        case spdlog::level::err:
        case spdlog::level::critical:
            return "error";
        case spdlog::level::warn:
            return "warn";
        case spdlog::level::info:
            return "info";
        default:
            return "debug";
    }
}

std::string payload_of(const Line& message) {
    return {message.payload.data(), message.payload.size()};
}

std::string on_one_line(std::string text) {
    for (char& c : text) {
        c = c == '\n' || c == '\r' ? ' ' : c;
    }
    return text;
}

std::string text_line(const Line& message) {
    return fmt::format("{} {} {}", time_of(message), level_of(message),
                       on_one_line(payload_of(message)));
}

std::string json_line(const Line& message) {
    const nlohmann::ordered_json line{
        {"time", time_of(message)}, {"level", level_of(message)}, {"message", payload_of(message)}};
    return line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::string journal_line(const Line& message) {
    const std::string_view level = level_of(message);
    const char priority = level == "error"  ? '3'
                          : level == "warn" ? '4'
                          : level == "info" ? '6'
                                            : '7';
    return fmt::format("<{}>{}", priority, on_one_line(payload_of(message)));
}

class LineFormatter final : public spdlog::formatter {
public:
    using Write = std::string (*)(const Line&);
    explicit LineFormatter(Write write) : write_{write} {}

    void format(const Line& message, spdlog::memory_buf_t& out) override {
        const std::string line = write_(message) + "\n";
        out.append(line.data(), line.data() + line.size());
    }
    [[nodiscard]] std::unique_ptr<spdlog::formatter> clone() const override {
        return std::make_unique<LineFormatter>(write_);
    }

private:
    Write write_;
};

}  // namespace

std::unique_ptr<spdlog::formatter> make_log_formatter(const std::string& format) {
    return std::make_unique<LineFormatter>(format == "json"      ? json_line
                                           : format == "journal" ? journal_line
                                                                 : text_line);
}

void set_up_log(const std::string& level, const std::string& format) {
    auto logger = spdlog::stderr_logger_mt("sluiced");
    logger->set_formatter(make_log_formatter(format));
    spdlog::set_default_logger(std::move(logger));
    spdlog::set_level(spdlog::level::from_str(level));
}

}  // namespace sluice
