#pragma once
#include "lib/base/event_row.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace sluice {

// News of a box's cluster: of its store, of its boxes and of their rules.
enum class ClusterEventKind : std::uint8_t {
    StoreDown,
    StoreUp,
    StoreRefused,
    StoreFenced,
    ClockOff,
    ClockRight,
    WindowSkewed,
    WindowsApart,
    WindowsShared,
    PartitionLost,
    StoreGap,
    BoxJoined,
    BoxLeft,
    EtcdDown,
    EtcdUp,
    MemberJoined,
    MemberLeft,
    RolloutStaged,
    RolloutRefused,
    RolloutTrial,
    RolloutPromoted,
    RolloutEnded,
    ClusterPanic,
    ClusterResumed,
    Drift,
    DriftOver
};
using ClusterEventRow = EventRow<ClusterEventKind>;
inline constexpr auto kClusterEvents = std::to_array<ClusterEventRow>({
    {ClusterEventKind::StoreDown, "store_down", "the store does not answer"},
    {ClusterEventKind::StoreUp, "store_up", "it answers again"},
    {ClusterEventKind::StoreRefused, "store_refused", "it takes nothing from this box"},
    {ClusterEventKind::StoreFenced, "store_fenced", "the store gives this box no slot"},
    {ClusterEventKind::ClockOff, "clock_off", "the store's clock is off by more than 100 ms"},
    {ClusterEventKind::ClockRight, "clock_right", "it is so no more"},
    {ClusterEventKind::WindowSkewed, "window_skewed", "amounts of windows that are yet to come"},
    {ClusterEventKind::WindowsApart, "windows_apart",
     "windows go by local share, since this box's clock is wrong"},
    {ClusterEventKind::WindowsShared, "windows_shared", "they are shared again"},
    {ClusterEventKind::PartitionLost, "partition_lost", "the store has lost levels"},
    {ClusterEventKind::StoreGap, "store_gap", "the store has lost batches"},
    {ClusterEventKind::BoxJoined, "box_joined", "this box has a slot"},
    {ClusterEventKind::BoxLeft, "box_left", "it has none"},
    {ClusterEventKind::EtcdDown, "etcd_down", "etcd does not answer"},
    {ClusterEventKind::EtcdUp, "etcd_up", "it answers again"},
    {ClusterEventKind::MemberJoined, "member_joined", "another box has come"},
    {ClusterEventKind::MemberLeft, "member_left", "another box has gone"},
    {ClusterEventKind::RolloutStaged, "rollout_staged",
     "rules of the cluster may be in force here"},
    {ClusterEventKind::RolloutRefused, "rollout_refused", "they cannot"},
    {ClusterEventKind::RolloutTrial, "rollout_trial", "they are on trial here"},
    {ClusterEventKind::RolloutPromoted, "rollout_promoted", "they are in force for good"},
    {ClusterEventKind::RolloutEnded, "rollout_ended",
     "a trial has ended, the rules before are back"},
    {ClusterEventKind::ClusterPanic, "cluster_panic", "all boxes forward everything"},
    {ClusterEventKind::ClusterResumed, "cluster_resumed", "they judge again"},
    {ClusterEventKind::Drift, "drift", "the box runs rules that the cluster has not"},
    {ClusterEventKind::DriftOver, "drift_over", "it runs the cluster's again"},
});
static_assert(in_enum_order(kClusterEvents, &ClusterEventRow::event));
inline constexpr std::size_t kClusterEventCount = kClusterEvents.size();

struct ClusterEvent {
    ClusterEventKind kind = ClusterEventKind::StoreDown;
    std::uint64_t number = 0;  // one more than that of the event before it
    std::int64_t utc_ns = 0;
    std::string node{};            // of MemberJoined and MemberLeft
    std::string why{};             // in words, where there is something to say
    std::uint64_t count = 0;       // of WindowSkewed, PartitionLost and StoreGap
    std::uint64_t generation = 0;  // of the cluster's rules; 0: of none
    std::int64_t offset_us = 0;    // of ClockOff: the store's clock less the box's

    [[nodiscard]] bool operator==(const ClusterEvent&) const = default;
};

}  // namespace sluice
