#include "control/daemon/cluster/cluster_log.hpp"

#include <algorithm>
#include <utility>

namespace sluice {
namespace {

constexpr std::int64_t kNsPerUs = 1000;

}  // namespace

ClusterLog::ClusterLog(std::int64_t utc_ns)
    : first_{static_cast<std::uint64_t>(std::max<std::int64_t>(utc_ns / kNsPerUs, 1))} {}

void ClusterLog::add(ClusterEvent event) {
    event.why.resize(std::min(event.why.size(), kMostWhy));
    const std::lock_guard lock{mutex_};
    event.number = next_++;
    ++counts_[static_cast<std::size_t>(event.kind)];
    if (events_.size() == kMostEvents) {
        events_.pop_front();
    }
    events_.push_back(std::move(event));
}

ClusterLog::Slice ClusterLog::read(std::uint64_t from) const {
    const std::lock_guard lock{mutex_};
    Slice slice{.next = next_, .events = {}};
    const std::uint64_t oldest = next_ - events_.size();
    slice.missed = from >= first_ && from < oldest ? oldest - from : 0;
    const std::size_t skipped = from > oldest && from <= next_ ? from - oldest : 0;
    slice.events.assign(events_.begin() + static_cast<std::ptrdiff_t>(skipped), events_.end());
    return slice;
}

ClusterLog::Counts ClusterLog::counts() const {
    const std::lock_guard lock{mutex_};
    return counts_;
}

}  // namespace sluice
