#pragma once
#include "lib/base/stat_row.hpp"
#include "lib/wire/store_messages.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace sluice {

inline constexpr auto kStoreLinkStateNames =
    std::to_array<std::string_view>({"away", "refused", "fenced", "ready"});
[[nodiscard]] constexpr std::string_view name_of(StoreLinkState state) noexcept {
    return kStoreLinkStateNames[static_cast<std::size_t>(state)];
}

// The link of a box to the store of its cluster.
struct StoreLinkStats {
    bool in_cluster = false;     // else nothing here means anything
    std::uint8_t state = 0;      // StoreLinkState
    std::string why;             // of what is not ready
    std::uint16_t slot = 0;      // of the cluster's
    bool down = false;           // limits of the cluster go by `owner_down`
    bool over_budget = false;    // keys beyond the budget go by their local share
    bool windows_apart = false;  // windows go by their local share, for the box's clock is wrong
    std::uint64_t down_ns = 0;
    std::uint64_t rtt_us = 0;
    std::int64_t clock_off_us = 0;
    std::uint64_t amounts = 0;
    std::uint64_t answered = 0;
    std::uint64_t put_off = 0;
    std::uint64_t batches = 0;
    std::uint64_t said_again = 0;
    std::uint64_t gaps = 0;
    std::uint64_t lost = 0;
    std::uint64_t expired = 0;
    std::uint64_t skewed = 0;
    std::uint64_t other_clock = 0;
    std::uint64_t strange = 0;
    std::uint64_t unsynced = 0;
    std::uint64_t asked = 0;  // requests that waited for the store
    std::uint64_t asked_admitted = 0;
    std::uint64_t asked_refused = 0;
    std::uint64_t asked_still_refused = 0;
    std::uint64_t asked_late = 0;  // these and the next two went by `owner_down`
    std::uint64_t asked_down = 0;
    std::uint64_t asked_no_room = 0;
    std::uint64_t asked_waiting = 0;

    static void fields(auto& archive, auto& m) {
        archive(m.in_cluster, m.state, m.why);
        serialize_rows(archive, m);
        archive.check(m.state < kStoreLinkStateNames.size());
    }
};

template <>
inline constexpr auto kStatRows<StoreLinkStats> = std::tuple{
    StatRow{&StoreLinkStats::slot, {"slot"}},
    StatRow{&StoreLinkStats::down,
            {"down"},
            {"sluice_store_down",
             "Whether the cluster's store does not answer, and its limits go by owner_down."}},
    StatRow{&StoreLinkStats::over_budget,
            {"over_budget"},
            {"sluice_store_over_budget",
             "Whether keys beyond the budget of the cluster's store go by their local share."}},
    StatRow{&StoreLinkStats::windows_apart,
            {"windows_apart"},
            {"sluice_store_windows_apart",
             "Whether this box's clock is not the store's, and windows go by their local share."}},
    StatRow{&StoreLinkStats::down_ns,
            {"down_s", 1'000'000'000},
            {.family = "sluice_store_down_seconds_total",
             .help = "For how long the cluster's store has not answered, in all.",
             .divisor = 1'000'000'000}},
    StatRow{&StoreLinkStats::rtt_us,
            {"rtt_us"},
            {.family = "sluice_store_rtt_seconds",
             .help = "What the latest answer of the cluster's store took.",
             .divisor = 1'000'000}},
    StatRow{&StoreLinkStats::clock_off_us,
            {"clock_off_us"},
            {.family = "sluice_store_clock_offset_seconds",
             .help = "The store's wall clock less this machine's.",
             .divisor = 1'000'000}},
    StatRow{&StoreLinkStats::amounts,
            {"amounts"},
            {"sluice_store_amounts_total", "Amounts that workers had for the cluster's store."}},
    StatRow{&StoreLinkStats::answered,
            {"answered"},
            {"sluice_store_answered_total", "Amounts that the cluster's store has counted."}},
    StatRow{&StoreLinkStats::put_off,
            {"put_off"},
            {"sluice_store_put_off_total",
             "Amounts given back for want of budget, or of room in a partition."}},
    StatRow{&StoreLinkStats::batches,
            {"batches"},
            {"sluice_store_batches_total", "Batches of amounts made for the cluster's store."}},
    StatRow{&StoreLinkStats::said_again,
            {"said_again"},
            {"sluice_store_said_again_total", "Sayings of a batch beyond its first."}},
    StatRow{&StoreLinkStats::gaps,
            {"gaps"},
            {"sluice_store_gaps_total", "Times that the store had lost batches it had counted."}},
    StatRow{&StoreLinkStats::lost,
            {"lost"},
            {"sluice_store_lost_total", "Partitions of the store that began anew."}},
    StatRow{&StoreLinkStats::expired,
            {"expired"},
            {"sluice_store_expired_total", "Amounts of windows that were over."}},
    StatRow{&StoreLinkStats::skewed,
            {"skewed"},
            {"sluice_store_skewed_total", "Amounts of windows ahead of the store's time."}},
    StatRow{&StoreLinkStats::other_clock,
            {"other_clock"},
            {"sluice_store_other_clock_total",
             "Answers of the store by which this box's clock is not its own."}},
    StatRow{&StoreLinkStats::strange,
            {"strange"},
            {"sluice_store_strange_total", "Replies to nothing that was under way."}},
    StatRow{&StoreLinkStats::unsynced,
            {"unsynced"},
            {"sluice_store_unsynced_units",
             "Units told to the cluster's store that it has not confirmed."}},
    StatRow{&StoreLinkStats::asked,
            {"asked"},
            {"sluice_store_asked_total", "Questions of requests for the cluster's store."}},
    StatRow{&StoreLinkStats::asked_admitted,
            {"asked_admitted"},
            {"sluice_store_asked_admitted_total", "Questions that the cluster's store admitted."}},
    StatRow{&StoreLinkStats::asked_refused,
            {"asked_refused"},
            {"sluice_store_asked_refused_total", "Questions that the cluster's store refused."}},
    StatRow{&StoreLinkStats::asked_still_refused,
            {"asked_still_refused"},
            {"sluice_store_asked_still_refused_total",
             "Questions of keys that the cluster's store had refused and would refuse still."}},
    StatRow{&StoreLinkStats::asked_late,
            {"asked_late"},
            {"sluice_store_asked_late_total",
             "Questions without an answer in time, which went by owner_down."}},
    StatRow{&StoreLinkStats::asked_down,
            {"asked_down"},
            {"sluice_store_asked_down_total",
             "Questions that went by owner_down since the store was away."}},
    StatRow{&StoreLinkStats::asked_no_room,
            {"asked_no_room"},
            {"sluice_store_asked_no_room_total",
             "Questions that went by owner_down for want of budget or room."}},
    StatRow{&StoreLinkStats::asked_waiting,
            {"asked_waiting"},
            {"sluice_store_asked_waiting", "Requests that wait for the cluster's store."}},
};

}  // namespace sluice
