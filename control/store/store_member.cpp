#include "control/store/store_member.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace sluice {
namespace {

std::string other_size(std::uint64_t size, std::uint16_t ours) {
    return fmt::format("the cluster has the size {}, and this box says {}", size, ours);
}

}  // namespace

Joining StoreMember::joining() const {
    return {.cluster = hello_.cluster,
            .node = hello_.node,
            .size = hello_.size,
            .life = hello_.life,
            .seen = seen_,
            .secret_digest = hello_.secret_digest};
}

std::string StoreMember::joins(CallBy by) const {
    return join_command(joining(), by);
}

std::string StoreMember::leaves(CallBy by) const {
    return leave_command(joining(), by);
}

void StoreMember::take(const JoinAnswer& answer) {
    joined_ = answer.outcome == JoinOutcome::Joined;
    differs_ =
        answer.outcome == JoinOutcome::OtherSize || answer.outcome == JoinOutcome::OtherSecret;
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
        case JoinOutcome::OtherSecret:
            fault_->why =
                "the cluster's first box has another secret in its `cluster.secret_file`: keys "
                "have other names here, and limits would not be shared; a new secret for all is "
                "`sluicectl store rekey`";
            break;
        case JoinOutcome::NameHeld:
            fault_->why = fmt::format(
                "another box is called {}, and joined first: names are for one; it is this box's "
                "once the other was not heard of for 5 s",
                hello_.node);
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
        differs_ = true;
        joined_ = false;
        return false;
    }
    seen_ = std::max(seen_, answer.held);
    return std::exchange(joined_, false);
}

}  // namespace sluice
