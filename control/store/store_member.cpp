#include "control/store/store_member.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace sluice {
namespace {

std::string other_size(std::uint64_t size, std::uint16_t ours) {
    return fmt::format("the cluster has the size {}, and this box says {}", size, ours);
}

}  // namespace

std::string StoreMember::joins(CallBy by) const {
    return join_command({.cluster = hello_.cluster,
                         .node = hello_.node,
                         .size = hello_.size,
                         .life = hello_.life,
                         .seen = seen_},
                        by);
}

void StoreMember::take(const JoinAnswer& answer) {
    joined_ = answer.outcome == JoinOutcome::Joined;
    if (joined_) {
        slot_ = answer.slot;
        incarnation_ = answer.incarnation;
        fault_.reset();
        return;
    }
    fault_ = StoreFault{StoreLinkState::Fenced, ""};
    switch (answer.outcome) {
        case JoinOutcome::OtherSize:
            fault_->why = other_size(answer.size, hello_.size);
            break;
        case JoinOutcome::Full:
            fault_->why = fmt::format(
                "all {} slots of the cluster are held: `sluicectl store "
                "status` names the holders",
                answer.size);
            break;
        default:
            fault_->why =
                fmt::format("another box has joined as {} since: names are for one", hello_.node);
    }
}

// The slot's holder is asked for first: after a roster was lost, this box may take a later
// incarnation and go on.
bool StoreMember::fenced(const StoreAnswerTo& answer) {
    if (answer.last != hello_.size) {
        fault_ = StoreFault{StoreLinkState::Fenced, other_size(answer.last, hello_.size)};
        joined_ = false;
        return false;
    }
    seen_ = std::max(seen_, answer.held);
    return std::exchange(joined_, false);
}

}  // namespace sluice
