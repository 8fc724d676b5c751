#pragma once
#include "lib/base/stat_row.hpp"

#include <array>
#include <cstdint>
#include <string_view>

namespace sluice {

// The kept rules, as a dataplane found them.
enum class KeptRules : std::uint8_t {
    None,        // none were ever kept
    Found,       // they are in force from the start on
    Before,      // they cannot be read: it goes on with the set before them
    Unreadable,  // likewise, and there was no set before them, or none was wanted
};
inline constexpr auto kKeptRulesNames =
    std::to_array<std::string_view>({"none", "found", "before", "unreadable"});

// The latest snapshot, once there is one.
struct LatestSnapshotStats {
    std::uint64_t bytes = 0;
    std::uint64_t age_ns = 0;

    static void fields(auto& archive, auto& m) { serialize_rows(archive, m); }
};

template <>
inline constexpr auto kStatRows<LatestSnapshotStats> = std::tuple{
    StatRow{&LatestSnapshotStats::bytes,
            {"bytes"},
            {"sluice_snapshot_bytes", "Size of the latest snapshot."}},
    StatRow{&LatestSnapshotStats::age_ns,
            {"age_s", 1'000'000'000},
            {.family = "sluice_snapshot_age_seconds",
             .help = "Since when the latest snapshot is there.",
             .divisor = 1'000'000'000}},
};

// Snapshots since the start.
struct SnapshotStats {
    std::uint64_t done = 0;
    std::uint64_t failed = 0;
    LatestSnapshotStats latest;  // where `done` is not 0

    static void fields(auto& archive, auto& m) {
        serialize_rows(archive, m);
        archive(m.latest);
    }
};

// Snapshots by what became of them.
[[nodiscard]] constexpr StatMetric snapshot_outcome(std::string_view outcome) {
    return {.family = "sluice_snapshots_total",
            .help = "Snapshots of the tables, by outcome.",
            .label = "outcome",
            .value = outcome};
}

template <>
inline constexpr auto kStatRows<SnapshotStats> = std::tuple{
    StatRow{&SnapshotStats::done, {"done"}, snapshot_outcome("done")},
    StatRow{&SnapshotStats::failed, {"failed"}, snapshot_outcome("failed")},
};

// The state of dataplanes before this one as it was found, and as it is kept for the next one.
struct StateStats {
    bool survives = false;  // whether buckets outlive the process
    KeptRules rules = KeptRules::None;
    std::uint64_t kept = 0;           // buckets that were found and go on
    std::uint64_t mended = 0;         // of these, made whole again
    std::uint64_t unknown = 0;        // buckets of unknown limits: forgotten
    std::uint64_t damaged = 0;        // buckets that cannot be true: they owe a full debt
    std::uint64_t former_tables = 0;  // of other shapes, that new keys are looked up in
    std::uint64_t former_debts = 0;   // debts that were taken over from these
    std::uint64_t moved_debts = 0;    // and from other workers, of keys that a reload moved
    std::uint64_t put_aside = 0;      // times that what was kept could not be read
    std::uint64_t not_kept = 0;       // times that the state directory could not take what is kept
    bool has_snapshots = false;       // whether there are to be any
    SnapshotStats snapshots;

    static void fields(auto& archive, auto& m) {
        archive.word(m.rules, KeptRules::Unreadable);
        serialize_rows(archive, m);
        archive(m.has_snapshots, m.snapshots);
    }
};

template <>
inline constexpr auto kStatRows<StateStats> = std::tuple{
    StatRow{&StateStats::survives,
            {"survives"},
            {"sluice_state_survives", "Whether buckets outlive the dataplane."}},
    StatRow{&StateStats::kept,
            {"kept"},
            {"sluice_state_buckets_kept",
             "Buckets of the dataplane before this one that were found and go on."}},
    StatRow{&StateStats::mended,
            {"mended"},
            {"sluice_state_buckets_mended", "Of these, made whole again."}},
    StatRow{
        &StateStats::unknown,
        {"unknown"},
        {"sluice_state_buckets_unknown", "Buckets that were found, of limits that nobody knows."}},
    StatRow{&StateStats::damaged,
            {"damaged"},
            {"sluice_state_buckets_damaged",
             "Buckets that were found and cannot be true: each counts as a full debt."}},
    StatRow{
        &StateStats::former_tables,
        {"former_tables"},
        {"sluice_state_former_tables", "Tables of other shapes that new keys are looked up in."}},
    StatRow{&StateStats::former_debts,
            {"former_debts"},
            {"sluice_state_former_debts_total", "Debts that were taken over from such tables."}},
    StatRow{&StateStats::moved_debts,
            {"moved_debts"},
            {"sluice_state_moved_debts_total",
             "Debts of keys that a reload moved to another worker, taken over by it."}},
    StatRow{&StateStats::put_aside,
            {"put_aside"},
            {"sluice_state_put_aside_total",
             "Times that tables, rules or RSS keys could not be read and were kept aside."}},
    StatRow{&StateStats::not_kept,
            {"not_kept"},
            {"sluice_state_not_kept_total",
             "Times that the state directory could not take what the next dataplane should find."}},
};

}  // namespace sluice
