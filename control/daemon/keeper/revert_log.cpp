#include "control/daemon/keeper/revert_log.hpp"

#include "control/daemon/rule_change.hpp"

#include <utility>

namespace sluice {

void RevertLog::begin(std::uint64_t from, std::string why) {
    revert_ = Revert{from, std::move(why)};
}

void RevertLog::finish(std::uint64_t to) {
    if (!revert_) {
        return;
    }
    audit_.write({.call = "revert",
                  .before = generation_text(revert_->from),
                  .after = generation_text(to),
                  .outcome = "done: it " + revert_->why});
    revert_.reset();
}

}  // namespace sluice
