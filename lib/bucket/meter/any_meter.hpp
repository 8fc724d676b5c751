#pragma once
#include "lib/base/now.hpp"
#include "lib/bucket/hash/group_key.hpp"
#include "lib/bucket/meter/any_limit.hpp"
#include "lib/bucket/meter/cell.hpp"
#include "lib/bucket/meter/relief.hpp"
#include "lib/bucket/pool/line_pool.hpp"
#include "lib/bucket/pool/remote_lines.hpp"

#include <cstdint>
#include <optional>

// One bucket under a limit of any algorithm: look, then charge, so that several limits can be
// judged before any is spent. Token and leaky buckets live in the cell itself, everything else in
// lines of the pool that the cell names.
namespace sluice {

// A fresh bucket. False: the pool is full. `key` gives a per-key phase.
[[nodiscard]] bool open_bucket(Cell& cell, const AnyLimit& limit, LinePool& pool, GroupKey key,
                               Now now) noexcept;
// Gives its lines back. Of the limit, its algorithm alone counts.
void close_bucket(const Cell& cell, const AnyLimit& limit, LinePool& pool) noexcept;

// True if buckets of the algorithm have a queue in lines of their own; prefetches the oldest record
// of one, once the line that the cell names has come.
[[nodiscard]] bool has_queue(const AnyLimit& limit) noexcept;
void prefetch_oldest(const Cell& cell, const AnyLimit& limit, const LinePool& pool) noexcept;

// Changes nothing that anybody can see: what has expired is dropped, and a line that the charge
// would need is taken and held. Unless it says NoRoom or Red, charging the same demand at the same
// instant succeeds, whatever happens to other buckets in between.
[[nodiscard]] Conformance check(Cell& cell, const AnyLimit& limit, LinePool& pool, Now now,
                                Demand demand) noexcept;

// Spends what check() has just admitted; of what is Red as much as there is, so that what is left
// goes to zero at most. Colour meters spend nothing of that: they commit only on forwarding.
void charge(Cell& cell, const AnyLimit& limit, LinePool& pool, Now now, Spending spending) noexcept;

// Gives back what was spent, at most `relief.units`: a bucket gets no fuller than a fresh one. With
// `relief.excess` the bucket owes no more than what a fresh one has, as if all of that had been
// used just now or lately; open connections and refusals stay as they are. False: it owed no more.
bool relieve(Cell& cell, const AnyLimit& limit, LinePool& pool, Now now, Relief relief) noexcept;

// The units that a fresh bucket has.
[[nodiscard]] Units most_of(const AnyLimit& limit) noexcept;

// The largest cost that would be admitted now, for a packet that comes as green.
[[nodiscard]] Units remaining(const Cell& cell, const AnyLimit& limit, const LinePool& pool,
                              Now now) noexcept;
// The same of another core's bucket, which that core may be changing meanwhile.
[[nodiscard]] Units remaining(const Cell& cell, const AnyLimit& limit, const RemoteLines& lines,
                              Now now) noexcept;
// The units that were used and have not come back, rounded up; more than a fresh bucket has where
// its numbers were lowered.
[[nodiscard]] Units used(const Cell& cell, const AnyLimit& limit, const LinePool& pool,
                         Now now) noexcept;
[[nodiscard]] Units used(const Cell& cell, const AnyLimit& limit, const RemoteLines& lines,
                         Now now) noexcept;
// Charges so much that at least `units` are used: what was used elsewhere, taken as used now.
void use_at_least(Cell& cell, const AnyLimit& limit, LinePool& pool, Now now, Units units) noexcept;

// The least time after which the demand would be admitted if nothing else came, exact to the ns;
// nullopt: never.
[[nodiscard]] std::optional<Nanoseconds> wait(const Cell& cell, const AnyLimit& limit,
                                              const LinePool& pool, Now now,
                                              Demand demand) noexcept;

// Reads what was used at `changed` under the numbers `from` and writes it under `to`, where it may
// be more than a fresh bucket has: remaining = max(0, new - used), and numbers that are lowered and
// restored change nothing. Both have the same algorithm and schema.
void renumber(Cell& cell, const AnyLimit& from, const AnyLimit& to, LinePool& pool,
              Now changed) noexcept;

// Charges so much that no more than `most` remains. Refusals are not handed down: bans have none.
void leave_at_most(Cell& cell, const AnyLimit& limit, LinePool& pool, Now now, Units most) noexcept;

// The instant from which the bucket equals a fresh one, by its state alone: where that lies in a
// line, the cell's own instant says the same once a charge is complete. The cell's line is the
// bucket's.
[[nodiscard]] Instant fresh_from(const Cell& cell, const AnyLimit& limit, const LinePool& pool,
                                 Now now) noexcept;

// The same limit with its rates, bursts and counts times `factor`. OutOfRange: it does not fit.
[[nodiscard]] Result<AnyLimit> scaled(const AnyLimit& limit, std::uint64_t factor);

}  // namespace sluice
