#pragma once
#include "lib/share/core.hpp"
#include "lib/share/record_ring.hpp"
#include "lib/watch/heatmap/heat_packet_record.hpp"
#include "lib/watch/heatmap/heat_table.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace sluice {

// A worker's end of the heat maps: two tables, of which it writes one, and the main lcore reads and
// prepares the other. They change places when the main lcore says so and the worker has seen it, at
// the top of a turn of its own:
//
//   main lcore                      worker
//   begin() of the still table
//   turn()  ------ turns_ ----->    adopt(): writes that one from now on
//           <----- adopted_ ----
//   still(): the other one
//
// The main lcore does not turn again before it has seen the worker's answer. So each table has one
// owner at any time; a worker that stands still keeps its own, and loses nothing of it.
class HeatSampler {
public:
    struct Bounds {
        std::size_t records = std::size_t{1} << 14;  // a power of two
        std::size_t limits = kMaxLimits;             // of a set, at most
        std::size_t ring = 1024;                     // packets on their way
    };
    HeatSampler() : HeatSampler(Bounds{}) {}
    explicit HeatSampler(const Bounds& bounds)
        : tables_{HeatTable{bounds.records, bounds.limits},
                  HeatTable{bounds.records, bounds.limits}},
          ring_{bounds.ring} {}

    // The worker's. At the top of a turn, under the rules that it has adopted: the table to write
    // until the next; nullptr: nothing is watched under them.
    [[nodiscard]] HeatTable* adopt(std::uint64_t load) noexcept {
        const std::uint64_t turns = turns_.read_acquire();
        if (turns != adopted_.read()) [[unlikely]] {
            adopted_.set_release(turns);
        }
        HeatTable& own = tables_[turns & 1];
        return own.load() == load && load != 0 ? &own : nullptr;
    }
    // A packet to describe, or nullptr (counted): there are too many on their way.
    [[nodiscard]] HeatPacketRecord* next_packet() noexcept {
        HeatPacketRecord* const record = ring_.next();
        lost_.add(record == nullptr ? 1 : 0);
        return record;
    }
    void commit() noexcept { ring_.commit(); }

    // The main lcore's. True if the worker has seen the last turn.
    [[nodiscard]] bool has_adopted() const noexcept {
        return adopted_.read_acquire() == turns_.read();
    }
    // While that holds: the table that it wrote until then.
    [[nodiscard]] HeatTable& still() noexcept { return tables_[(turns_.read() + 1) & 1]; }
    // Gives it that one.
    void turn() noexcept { turns_.set_release(turns_.read() + 1); }
    [[nodiscard]] RecordRing<HeatPacketRecord>& packets() noexcept { return ring_; }
    [[nodiscard]] std::uint64_t lost_packets() const noexcept { return lost_.read(); }

private:
    std::array<HeatTable, 2> tables_;
    RecordRing<HeatPacketRecord> ring_;
    alignas(kCacheLine) Counter turns_;    // the main lcore's
    alignas(kCacheLine) Counter adopted_;  // the worker's: so many of them
    Counter lost_;
};

}  // namespace sluice
