#pragma once
#include "lib/base/now.hpp"
#include "lib/meter/any_limit.hpp"
#include "lib/meter/group_key.hpp"
#include "lib/meter/line_pool.hpp"

#include <cstdint>
#include <optional>

// One bucket under a limit of any algorithm: look, then charge, so that several limits can be
// judged before any is spent. Token and leaky buckets live in the cell itself, everything else in
// lines of the pool that the cell names.
namespace sluice {

// What a table's entry holds for a key.
struct Cell {
    // From when on the bucket equals a fresh one and may be forgotten.
    Instant fresh_from{};
    // GCRA: by how many 1/parts ns the TAT lies below fresh_from. Others: its line in the pool.
    std::uint32_t rest = 0;
};

enum class Judgement : std::uint8_t {
    Green,   // admitted
    Yellow,  // admitted; colour meters only
    Red,     // refused
    NoRoom,  // the pool has no line to note the charge in: as if the table were full
};

// What is asked of a bucket: a cost, and the colour the packet came with.
struct Demand {
    Units cost;
    Color color = Color::Green;
};

// A fresh bucket. False: the pool is full. `key` gives a per-key phase.
[[nodiscard]] bool open_bucket(Cell& cell, const AnyLimit& limit, LinePool& pool, GroupKey key,
                               Now now) noexcept;
// Gives its lines back.
void close_bucket(const Cell& cell, Algorithm algorithm, LinePool& pool) noexcept;

// Changes nothing that anybody can see (what has expired may be dropped). Unless it says NoRoom or
// Red, charging the same demand at the same instant succeeds, if no other bucket of the pool is
// charged or opened in between more often than there are lines kept back for it.
[[nodiscard]] Judgement look(Cell& cell, const AnyLimit& limit, LinePool& pool, Now now,
                             Demand demand) noexcept;

// Spends what look() has just admitted with this judgement (Green or Yellow).
void charge(Cell& cell, const AnyLimit& limit, LinePool& pool, Now now, Units cost,
            Judgement judgement) noexcept;
// Spends as much of the cost as there is: what is left goes to zero at most.
void charge_what_fits(Cell& cell, const AnyLimit& limit, LinePool& pool, Now now,
                      Units cost) noexcept;

// The largest cost that would be admitted now.
[[nodiscard]] Units remaining(const Cell& cell, const AnyLimit& limit, const LinePool& pool,
                              Now now) noexcept;
// The least time after which the demand would be admitted if nothing else came, exact to the ns;
// nullopt: never.
[[nodiscard]] std::optional<Nanoseconds> wait(const Cell& cell, const AnyLimit& limit,
                                              const LinePool& pool, Now now,
                                              Demand demand) noexcept;

// Reads what was used at `changed` under the numbers `from` and writes it under `to`: remaining
// += new - old, clamped to [0, new]. Both have the same algorithm and schema.
void renumber(Cell& cell, const AnyLimit& from, const AnyLimit& to, LinePool& pool,
              Now changed) noexcept;

// Charges so much that no more than `most` remains.
void leave_at_most(Cell& cell, const AnyLimit& limit, LinePool& pool, Now now, Units most) noexcept;

// The same limit with its rates, bursts and counts times `factor`. OutOfRange: it does not fit.
[[nodiscard]] Result<AnyLimit> scaled(const AnyLimit& limit, std::uint64_t factor);

}  // namespace sluice
