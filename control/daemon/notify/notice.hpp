#pragma once
#include "control/daemon/cluster/cluster_event.hpp"
#include "lib/base/mode.hpp"
#include "lib/watch/events/key_event.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

// In the order of NotifyEvent; a test is asked for by an operator, and those who are told of the
// box's state are told what becomes of its cluster.
enum class NoticeKind : std::uint8_t { Ban, Limit, Over, State, Test, Cluster };
inline constexpr auto kNoticeKindNames =
    std::to_array<std::string_view>({"ban", "limit", "over", "state", "test", "cluster"});

// One notice to a webhook.
struct Notice {
    NoticeKind kind = NoticeKind::Test;
    std::string to{};                  // the webhook
    std::string rule{};                // of Ban, Limit and Over
    Mode mode = Mode::Monitor;         // the rule's
    std::int64_t first = 0;            // UTC, nanoseconds: of the first event that it is of
    std::int64_t last = 0;             // of the last; of Over: when something was refused last
    std::uint64_t count = 0;           // of events; of Over: that there were since `first`
    std::uint64_t missed = 0;          // events of any rules that nobody could be told meanwhile
    std::vector<KeyEvent> examples{};  // of Ban and Limit: the first of them
    bool survives = true;              // of State: whether buckets outlive the dataplane
    std::uint64_t not_kept = 0;        // of State: times that the state directory took nothing
    std::vector<ClusterEvent> news{};  // of Cluster: the first of its events
};

// The body of a notice: one JSON document, as control/schema/notice.schema.json has it.
[[nodiscard]] std::string body_of(const Notice& notice, const std::string& id,
                                  const std::string& host);

}  // namespace sluice
