#pragma once
#include <spdlog/formatter.h>

#include <memory>
#include <string>

namespace sluice {

// One message, one line, to standard error. `format`: text, json, or journal: with the priority in
// front as systemd's journal reads it (sd-daemon(3)).
void set_up_log(const std::string& level, const std::string& format);

[[nodiscard]] std::unique_ptr<spdlog::formatter> make_log_formatter(const std::string& format);

}  // namespace sluice
