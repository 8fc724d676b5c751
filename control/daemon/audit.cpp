#include "control/daemon/audit.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <cstdio>
#include <utility>

#include <sys/stat.h>

namespace sluice {

void Audit::write(const Entry& entry) {
    const std::lock_guard lock{mutex_};
    Entry line = entry;
    if (!entry.name.empty() && entry.outcome.starts_with("refused")) {
        const std::optional<std::uint64_t> unwritten = take_refusal(entry.name);
        if (!unwritten) {
            return;
        }
        if (*unwritten != 0) {
            line.outcome +=
                fmt::format(" ({} more of this name were refused before, unwritten)", *unwritten);
        }
    }
    make_room();
    if (!append_audit(path_, audit_line(line))) {
        spdlog::error("cannot write {}: {} by uid {} is not recorded there", path_, entry.call,
                      entry.who.uid);
    }
}

std::optional<std::uint64_t> Audit::take_refusal(const std::string& name) {
    const Pace::Clock::time_point now = Pace::Clock::now();
    std::erase_if(refused_, [&](const auto& one) {
        return one.second.unwritten == 0 && one.second.pace.is_fresh(now);
    });
    const bool has_room = refused_.size() < kMostNames || refused_.contains(name);
    Refused& refused = refused_[has_room ? name : ""];
    if (!refused.pace.take(now)) {
        ++refused.unwritten;
        return std::nullopt;
    }
    return std::exchange(refused.unwritten, 0);
}

void Audit::make_room() const {
    struct stat info{};
    if (::stat(path_.c_str(), &info) == 0 && static_cast<std::size_t>(info.st_size) >= full_) {
        (void)::rename(path_.c_str(), (path_ + ".1").c_str());
    }
}

}  // namespace sluice
