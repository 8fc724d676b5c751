#include "control/daemon/audit.hpp"

#include <spdlog/spdlog.h>

#include <cstdio>

#include <sys/stat.h>

namespace sluice {

void Audit::write(const Entry& entry) {
    const std::lock_guard lock{mutex_};
    make_room();
    if (!append_audit(path_, audit_line(entry))) {
        spdlog::error("cannot write {}: {} by uid {} is not recorded there", path_, entry.call,
                      entry.who.uid);
    }
}

void Audit::make_room() const {
    struct stat info{};
    if (::stat(path_.c_str(), &info) == 0 && static_cast<std::size_t>(info.st_size) >= full_) {
        (void)::rename(path_.c_str(), (path_ + ".1").c_str());
    }
}

}  // namespace sluice
