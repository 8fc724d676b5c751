#include "lib/bucket/meter/open_connections.hpp"

// Buckets that are gone, whose connections are forgotten bit by bit.
namespace sluice {

void OpenConnections::close(LinePool& pool, PoolLine self) noexcept {
    auto& state = pool.at<OpenConnections>(self);
    if (state.spare_ != kNoLine) {
        pool.give_back(state.spare_);
        state.spare_ = kNoLine;
    }
    if (!state.has_any()) {
        pool.give_back(self);
        return;
    }
    pool.index().leave_group(state.group(), state.open_);
    state.name_.slot_and_tag |= kClosed;
    state.spare_ = pool.index().to_clear;
    pool.index().to_clear = self;
}

void OpenConnections::clear_some(LinePool& pool, unsigned most) noexcept {
    DigestIndex& index = pool.index();
    for (unsigned left = most; left != 0 && index.to_clear != kNoLine; --left) {
        const PoolLine self = index.to_clear;
        auto& state = pool.at<OpenConnections>(self);
        const unsigned chain =
            state.chains_[kHalfOpen].oldest != kNoLine ? kHalfOpen : kEstablished;
        if (state.has_any()) {
            state.leave(pool, state.chains_[chain].oldest, Left::Idle);
        } else {
            index.to_clear = state.spare_;
            pool.give_back(self);
        }
    }
}

}  // namespace sluice
