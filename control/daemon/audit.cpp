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
    const bool is_refused = entry.outcome.starts_with("refused");
    if (!entry.name.empty() && (is_refused || !entry.changes)) {
        const std::optional<std::uint64_t> unwritten = take_unchanged(
            is_refused ? refused_ : looks_, entry.tenant.empty() ? entry.name : entry.tenant + ":");
        if (!unwritten) {
            return;
        }
        if (*unwritten != 0) {
            line.outcome += fmt::format(" ({} more of this name {}, unwritten)", *unwritten,
                                        is_refused ? "were refused before" : "came before");
        }
    }
    make_room();
    if (!append_audit(path_, audit_line(line))) {
        spdlog::error("cannot write {}: {} by uid {} is not recorded there", path_, entry.call,
                      entry.who.uid);
    }
}

std::optional<std::uint64_t> Audit::take_unchanged(Unchangeds& of, const std::string& name) {
    const Pace::Clock::time_point now = Pace::Clock::now();
    std::erase_if(of, [&](const auto& one) {
        return one.second.unwritten == 0 && one.second.pace.is_fresh(now);
    });
    const bool has_room = of.size() < kMostNames || of.contains(name);
    Unchanged& unchanged = of[has_room ? name : ""];
    if (!unchanged.pace.take(now)) {
        ++unchanged.unwritten;
        return std::nullopt;
    }
    return std::exchange(unchanged.unwritten, 0);
}

void Audit::make_room() const {
    struct stat info{};
    if (::stat(path_.c_str(), &info) == 0 && static_cast<std::size_t>(info.st_size) >= full_) {
        (void)::rename(path_.c_str(), (path_ + ".1").c_str());
    }
}

}  // namespace sluice
