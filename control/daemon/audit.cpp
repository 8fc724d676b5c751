#include "control/daemon/audit.hpp"

#include <fmt/chrono.h>
#include <spdlog/spdlog.h>
#include <nlohmann/json.hpp>

#include <ctime>
#include <filesystem>
#include <fstream>

namespace sluice {

void Audit::write(const Entry& entry) {
    const std::lock_guard lock{mutex_};
    std::error_code error;
    std::filesystem::create_directories(std::filesystem::path{path_}.parent_path(), error);
    const nlohmann::ordered_json line{
        {"time", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(::time(nullptr)))},
        {"uid", entry.who.uid},
        {"pid", entry.who.pid},
        {"call", entry.call},
        {"before", entry.before},
        {"after", entry.after},
        {"outcome", entry.outcome}};
    std::ofstream file{path_, std::ios::app};
    file << line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << '\n';
    if (!file.flush()) {
        spdlog::error("cannot write {}: {} by uid {} is not recorded there", path_, entry.call,
                      entry.who.uid);
    }
}

}  // namespace sluice
