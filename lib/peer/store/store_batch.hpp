#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

// Amounts of keys that the boxes of a cluster share, and how these stand at its store. Levels and
// units, never instants.
namespace sluice {

inline constexpr std::uint16_t kStorePartitions = 64;
inline constexpr std::uint16_t kMostStorePartitions = 256;
inline constexpr std::size_t kMostStoreEntries = 128;  // keys of a batch

// The store's use of an amount.
enum class StoreEntryKind : std::uint8_t {
    Add,      // charges it
    Declare,  // raises the key to it, where it is less: a copy of a key that the store has lost
    Ask,      // charges it where all of it has room below `most`, and else nothing
};

// `lasts` of windows that are asked about.
inline constexpr std::uint8_t kLastsByClock = 3;  // from a time of UTC, moved on by `phase_us`
inline constexpr std::uint8_t kLastsByKey = 4;    // from the key's first unit
inline constexpr std::uint8_t kLastsLogged = 6;   // each unit for the window
// `lasts` of a gauge.
inline constexpr std::uint8_t kGaugeLasts = 5;

// A key and the units that were spent under it; or the connections of it that the box has open,
// its gauge, which takes the place of the one before. `window_us` is that of windows alone.
struct StoreEntry {
    std::uint64_t digest = 0;  // of the key under the cluster's secret
    std::uint8_t step = 0;     // of coarsening
    StoreEntryKind kind = StoreEntryKind::Add;
    std::uint64_t units = 0;
    // A bucket's: ns in which `parts` units are paid back. A gauge's: ns after which it counts no
    // more, unless it is told again; `parts` is 1.
    std::uint64_t period_ns = 0;
    std::uint64_t parts = 0;
    // A window's: its length, its number, and in how many windows a unit counts (1 or 2). Its
    // number is of UTC, moved on by `phase_us`. A gauge's `lasts`: kGaugeLasts.
    std::uint64_t window_us = 0;
    std::uint64_t phase_us = 0;
    std::int64_t epoch = 0;
    std::uint8_t lasts = 0;
    std::uint64_t most = 0;  // of what is asked: burst or count

    static void fields(auto& archive, auto& m) {
        archive(m.digest, m.step, m.kind, m.units, m.period_ns, m.parts, m.window_us, m.phase_us,
                m.epoch, m.lasts, m.most);
        const bool bucket = m.window_us == 0;
        const bool asks = m.kind == StoreEntryKind::Ask;
        const bool gauge = m.lasts == kGaugeLasts && !asks;
        archive.check(
            m.kind <= StoreEntryKind::Ask && asks == (m.most != 0) &&
            (bucket ? m.period_ns != 0 && m.parts != 0 && (m.lasts == 0 || gauge)
             : asks ? m.lasts == kLastsByClock || m.lasts == kLastsByKey || m.lasts == kLastsLogged
                    : m.lasts == 1 || m.lasts == 2));
    }
};

// The next amounts of a partition. One is under way at a time; it is said again, with its number,
// until it is answered.
struct StoreBatch {
    std::uint16_t partition = 0;
    std::uint64_t seq = 0;  // from 1 on in each life
    std::vector<StoreEntry> entries;

    static void fields(auto& archive, auto& m) {
        archive(m.partition, m.seq, m.entries);
        archive.check(m.partition < kMostStorePartitions && m.entries.size() <= kMostStoreEntries);
    }
};

// How a key stands at the store, with the amount.
struct StoreLevel {
    // Units owed of a bucket; of a window, those of `epoch`; of a gauge, the sum of those of other
    // boxes that count.
    std::uint64_t current = 0;
    std::uint64_t previous = 0;  // of a window: those of the one before
    std::int64_t epoch = 0;      // of a window: the later of the store's and the amount's
    bool expired = false;        // the amount's window counts no more: it was not added
    bool skewed = false;         // the amount's window is ahead of the store's time: likewise
    bool refused = false;        // of what was asked: it had no room, and was not added
    // Of what was asked: until the next unit of a bucket is paid back, or the window is over.
    std::uint64_t less_in_us = 0;

    static void fields(auto& archive, auto& m) {
        archive(m.current, m.previous, m.epoch, m.expired, m.skewed, m.refused, m.less_in_us);
    }
};

enum class StoreOutcome : std::uint8_t {
    Applied,  // now, or by an earlier saying of the same batch
    Gap,      // the store does not have the batches before it: `last` says the last it has
    Fenced,   // another holds the slot, or the cluster has another size: no credit
};

struct StoreReply {
    std::uint16_t partition = 0;
    std::uint64_t seq = 0;
    StoreOutcome outcome = StoreOutcome::Applied;
    std::uint64_t last = 0;    // the last batch of this life that the store has
    std::uint64_t now_us = 0;  // the partition's clock
    std::uint64_t born = 0;    // random, drawn when the partition began: another one has lost all
    std::vector<StoreLevel> levels;  // of an applied batch, in the order of its entries

    static void fields(auto& archive, auto& m) {
        archive(m.partition, m.seq, m.outcome, m.last, m.now_us, m.born, m.levels);
        archive.check(m.partition < kMostStorePartitions && m.outcome <= StoreOutcome::Fenced &&
                      m.levels.size() <= kMostStoreEntries);
    }
};

}  // namespace sluice
