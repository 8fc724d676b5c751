#include "control/daemon/keeper/revert_log.hpp"

#include <fmt/format.h>

#include <utility>

#include <unistd.h>

namespace sluice {

void RevertLog::begin(std::uint64_t from, std::string why) {
    revert_ = Revert{from, std::move(why)};
}

void RevertLog::finish(std::uint64_t to) {
    if (!revert_) {
        return;
    }
    audit_.write({.who = {.uid = ::getuid(), .gid = ::getgid(), .pid = ::getpid()},
                  .call = "revert",
                  .before = fmt::format("{:016x}", revert_->from),
                  .after = fmt::format("{:016x}", to),
                  .outcome = "done: it " + revert_->why});
    revert_.reset();
}

}  // namespace sluice
