#include "control/daemon/audit.hpp"

#include "lib/wire/fd.hpp"

#include <fmt/chrono.h>
#include <spdlog/spdlog.h>
#include <nlohmann/json.hpp>

#include <ctime>
#include <filesystem>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sluice {

Peer this_process() {
    return {.uid = ::getuid(), .gid = ::getgid(), .pid = ::getpid()};
}

void Audit::write(const Entry& entry) {
    const std::lock_guard lock{mutex_};
    const nlohmann::ordered_json line{
        {"time", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(::time(nullptr)))},
        {"uid", entry.who.uid},
        {"pid", entry.who.pid},
        {"call", entry.call},
        {"before", entry.before},
        {"after", entry.after},
        {"outcome", entry.outcome}};
    std::error_code error;
    std::filesystem::create_directories(std::filesystem::path{path_}.parent_path(), error);
    if (!append(line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) +
                "\n")) {
        spdlog::error("cannot write {}: {} by uid {} is not recorded there", path_, entry.call,
                      entry.who.uid);
    }
}

bool Audit::append(const std::string& line) const {
    struct stat info{};
    if (::stat(path_.c_str(), &info) == 0 && static_cast<std::size_t>(info.st_size) >= full_) {
        (void)::rename(path_.c_str(), (path_ + ".1").c_str());
    }
    const Fd file{::open(path_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600)};
    return file.is_open() &&
           ::write(file.get(), line.data(), line.size()) == static_cast<ssize_t>(line.size());
}

}  // namespace sluice
