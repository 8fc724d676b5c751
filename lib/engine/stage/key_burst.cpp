#include "lib/engine/burst/burst_units.hpp"
#include "lib/engine/burst/key_digests.hpp"
#include "lib/engine/decide/follow_connections.hpp"
#include "lib/engine/stage/stages.hpp"

#include <array>
#include <bit>
#include <numeric>
#include <variant>

#include <immintrin.h>

// The path from rules to buckets, for the whole burst at once:
//
//   digest    each key schema that a matching rule has, over all rows that some rule wants it for
//   count     how many look-ups each packet has, so that they can lie packet by packet
//   place     limit by limit: the table key of each row, whose first line is prefetched
namespace sluice {
namespace {

// So many of each row.
class RowCounts {
public:
    void add(RowMask rows) noexcept {
        low_ = _mm256_sub_epi16(low_, lanes_of(rows & 0xFFFFU));
        high_ = _mm256_sub_epi16(high_, lanes_of(rows >> 16));
    }
    // first[i]: of all rows before i.
    void begins(std::array<std::uint32_t, kMaxBurst + 1>& first) const noexcept {
        __m256i before = _mm256_setzero_si256();  // the sum of all rows so far, in each lane
        std::uint32_t* to = first.data() + 1;
        for (const __m256i counts : {low_, high_}) {
            for (const __m128i eight :
                 {_mm256_castsi256_si128(counts), _mm256_extracti128_si256(counts, 1)}) {
                const __m256i sums =
                    _mm256_add_epi32(before, running_sums(_mm256_cvtepu16_epi32(eight)));
                _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), sums);
                before = _mm256_permutevar8x32_epi32(sums, _mm256_set1_epi32(7));
                to += 8;
            }
        }
        first[0] = 0;
    }

private:
    static_assert(kMaxLimits <= 0x7FFF, "a count fits a lane");
    // Each word and all before it.
    [[nodiscard]] static __m256i running_sums(__m256i words) noexcept {
        words = _mm256_add_epi32(words, _mm256_slli_si256(words, 4));
        words = _mm256_add_epi32(words, _mm256_slli_si256(words, 8));
        // The sum of the lower four, for the upper four.
        const __m256i lower = _mm256_permute2x128_si256(words, words, 0x08);
        return _mm256_add_epi32(words, _mm256_shuffle_epi32(lower, 0xFF));
    }
    // All ones in the lanes of rows that are set.
    [[nodiscard]] static __m256i lanes_of(std::uint32_t rows) noexcept {
        const __m256i bits = _mm256_setr_epi16(1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048,
                                               4096, 8192, 16384, static_cast<short>(0x8000));
        const __m256i all = _mm256_set1_epi16(static_cast<short>(rows));
        return _mm256_cmpeq_epi16(_mm256_and_si256(all, bits), bits);
    }

    __m256i low_ = _mm256_setzero_si256();
    __m256i high_ = _mm256_setzero_si256();
};

class Keying {
public:
    // `has_packets`: its rows are packets, and not further units of them.
    Keying(Burst& burst, const LoadedSet& set, const CoreState& core, bool has_packets) noexcept
        : burst_{burst},
          plan_{set.meter_plan},
          core_{core},
          scratch_{burst.scratch()},
          knows_completing_{!has_packets} {}

    void run() noexcept {
        scratch_.plan = &plan_;
        if (scratch_.rule_count == 0) {
            return;
        }
        drop_rows_taken_out();
        digest();
        list_limits();
        place();
    }

private:
    [[nodiscard]] std::span<ActiveRule> rules() const noexcept {
        return {scratch_.rules.get(), scratch_.rule_count};
    }
    [[nodiscard]] std::span<const LimitPlan> limits_of(const RulePlan& rule) const noexcept {
        return {plan_.limits.data() + rule.first_limit, rule.limits + std::size_t{rule.boxes}};
    }

    void drop_rows_taken_out() noexcept {
        for (ActiveRule& active : rules()) {
            active.rows &= burst_.live();
        }
    }

    // The rows to key: keys of a rule that counts units of later layers alone say nothing in other
    // rows, unless what is known of a key concerns them.
    [[nodiscard]] RowMask rows_to_key(const ActiveRule& active) const noexcept {
        const RulePlan& rule = plan_.rules[active.rule];
        return rule.meets_all ? active.rows : active.rows & burst_.rows_with(rule.judges);
    }

    // Hashes a schema once for all rules that share it.
    void digest() noexcept {
        for (const ActiveRule& active : rules()) {
            const RowMask rows = rows_to_key(active);
            for (const LimitPlan& limit : limits_of(plan_.rules[active.rule])) {
                scratch_.keyed[limit.schema] |= rows;
                if (limit.values != 0) [[unlikely]] {
                    scratch_.keyed[limit.values - 1] |= rows;
                }
            }
        }
        for (const ActiveRule& active : rules()) {
            for (const LimitPlan& limit : limits_of(plan_.rules[active.rule])) {
                digest(limit.schema);
                if (limit.values != 0) [[unlikely]] {
                    digest(limit.values - 1);
                }
            }
        }
    }
    void digest(std::uint32_t schema) noexcept {
        if (const RowMask rows = scratch_.keyed[schema]; rows != 0) {
            scratch_.keyed[schema] = 0;
            scratch_.has_key[schema] =
                digest_keys(plan_.schemas[schema], {burst_.frames(), burst_.headers(), rows},
                            core_.hash, scratch_.digests[schema]);
        }
    }

    void list_limits() noexcept {
        RowCounts counts;
        for (ActiveRule& active : rules()) {
            const RulePlan& rule = plan_.rules[active.rule];
            const RowMask asked = rows_to_key(active);
            RowMask keyed = 0;
            RowMask evaluated = 0;
            for (const LimitPlan& limit : limits_of(rule)) {
                const RowMask has_key = asked & scratch_.has_key[limit.schema];
                RowMask rows = has_key & rows_with_units(limit);
                if (limit.values != 0) [[unlikely]] {
                    rows &= scratch_.has_key[limit.values - 1];
                }
                keyed |= has_key;
                evaluated |= limit.meter == FastMeter::Penalty ? 0 : rows;
                if (rows != 0) {
                    const auto index = static_cast<std::uint32_t>(&limit - plan_.limits.data());
                    scratch_.limits[scratch_.limit_count++] = {index, rows};
                    counts.add(rows);
                    scratch_.looked_up |= rows;
                    const bool judges =
                        rule.mode == Mode::Enforce && limit.meter != FastMeter::Penalty;
                    scratch_.evaluated |= judges ? rows : 0;
                    note_meter(limit, rows);
                }
            }
            // Overrides of a key count also where no limit has a unit to judge.
            scratch_.general |= rule.has_overrides ? keyed & ~evaluated : 0;
            active.skipped = rule.limits == 0 ? 0 : active.rows & ~keyed;
            active.idle = rule.limits == 0 ? 0 : active.rows & keyed & ~evaluated;
        }
        if (scratch_.looked_up != 0) {
            counts.begins(scratch_.first);
        }
    }

    void note_meter(const LimitPlan& limit, RowMask rows) noexcept {
        switch (limit.meter) {
            case FastMeter::Whole:
                return;
            case FastMeter::Parts:
                scratch_.in_parts |= rows;
                return;
            case FastMeter::Overridden:  // an entry with parts of a ns has no place for the note
                (limit.gcra->parts() == 1 ? scratch_.overridden : scratch_.with_state) |= rows;
                return;
            default:
                scratch_.with_state |= rows;
        }
    }

    [[nodiscard]] RowMask rows_with_units(const LimitPlan& limit) noexcept {
        switch (limit.per) {
            case Per::Connection:
                return counts_established(limit) ? opening_rows() | completing_rows()
                                                 : opening_rows();
            case Per::Byte:
                return rows_with_bytes();
            case Per::Packet:
                return ~RowMask{0};
            default:
                return burst_.rows_of_kind(limit.per);
        }
    }
    // A SYN without ACK, repeats included.
    [[nodiscard]] RowMask opening_rows() noexcept {
        if (!knows_opening_) {
            knows_opening_ = true;
            const HeaderColumns& headers = burst_.headers();
            for_each_row(headers.present_rows(Field::TcpFlags), [&](std::size_t row) {
                const bool opens = (headers.tcp_flags[row] & 0x012U) == 0x002U;
                opening_ |= opens ? row_bit(row) : 0;
            });
        }
        return opening_;
    }
    [[nodiscard]] static bool counts_established(const LimitPlan& limit) noexcept {
        const auto* const open = std::get_if<ConcurrencyLimit>(limit.numbers);
        return open != nullptr && open->from == CountedFrom::Established;
    }
    // An ACK that may complete a handshake: of a connection that is known as half open, or whose
    // SYN or SYN-ACK has come a moment ago. Whether it does, its bucket says when it is its turn.
    [[nodiscard]] RowMask completing_rows() noexcept {
        if (!knows_completing_) {
            knows_completing_ = true;
            const HeaderColumns& headers = burst_.headers();
            const RowMask rows = headers.present_rows(Field::TcpFlags) & burst_.live();
            const RowEnds& ends = burst_.connection_ends(rows, core_.hash);
            for_each_row(rows, [&](std::size_t row) {
                if ((headers.tcp_flags[row] & 0x002U) != 0) {
                    core_.recent_openings.add(burst_, ends.digest[row]);
                } else if ((headers.tcp_flags[row] & 0x016U) == 0x010U &&
                           may_complete(ends.digest[row], core_)) {
                    completing_ |= row_bit(row);
                }
            });
        }
        return completing_;
    }
    [[nodiscard]] RowMask rows_with_bytes() noexcept {
        if (!knows_bytes_) {
            knows_bytes_ = true;
            for (std::size_t row = 0; row < kMaxBurst; ++row) {
                with_bytes_ |= burst_.headers().byte_units[row] != 0 ? row_bit(row) : 0;
            }
        }
        return with_bytes_;
    }

    void place() noexcept {
        std::array<std::uint32_t, kMaxBurst> next;
        std::copy_n(scratch_.first.begin(), kMaxBurst, next.begin());
        for (const ActiveLimit& active : std::span{scratch_.limits.get(), scratch_.limit_count}) {
            const LimitPlan& limit = plan_.limits[active.limit];
            if (limit.per == Per::Byte) {
                place_limit(active, limit, next,
                            [&](std::size_t row) { return burst_.headers().byte_units[row]; });
            } else if (limit.costs_by_path != nullptr) {
                place_limit(active, limit, next, [&](std::size_t row) {
                    return cost_of_request(*limit.costs_by_path, row);
                });
            } else {
                place_limit(active, limit, next, [](std::size_t) { return 1U; });
            }
        }
    }
    // Rows of a limit over requests stand for one.
    [[nodiscard]] std::uint32_t cost_of_request(const PathCosts& costs,
                                                std::size_t row) const noexcept {
        return costs.cost_of(
            read_text(TextField::HttpPath, burst_.headers_of(row), burst_.frame(row).bytes)
                .value_or(ByteView{}));
    }

    // `units_of`: what a row has of what the limit counts.
    template <typename UnitsOf>
    void place_limit(const ActiveLimit& active, const LimitPlan& limit,
                     std::array<std::uint32_t, kMaxBurst>& next, UnitsOf&& units_of) noexcept {
        const RowDigests& digests = scratch_.digests[limit.schema];
        const BucketTable::FirstLines lines = core_.buckets.keys.first_lines();
        const std::uint64_t start = limit.start;
        const LimitSlot slot = limit.slot;
        const std::uint32_t index = active.limit;
        BucketLookup* const lookups = scratch_.lookups.get();
        const auto put = [&](std::size_t row) {
            BucketLookup& lookup = lookups[next[row]++];
            const TableKey key{KeyHasher::key_from(start, digests[row]), slot};
            lookup.key = key;
            lookup.entry = lines.prefetch(key);
            lookup.limit = index;
            lookup.units = units_of(row);
        };
        if (active.rows == ~RowMask{0}) {
            for (std::size_t row = 0; row < kMaxBurst; ++row) {
                put(row);
            }
        } else {
            for (RowMask left = active.rows; left != 0; left &= left - 1) {
                put(static_cast<std::size_t>(std::countr_zero(left)));
            }
        }
    }

    Burst& burst_;
    const MeterPlan& plan_;
    const CoreState& core_;
    Scratch& scratch_;
    RowMask opening_ = 0;
    RowMask completing_ = 0;
    RowMask with_bytes_ = 0;
    bool knows_opening_ = false;
    bool knows_completing_;
    bool knows_bytes_ = false;
};

}  // namespace

void key_burst(Burst& burst, const LoadedSet& set, const CoreState& core) noexcept {
    if (burst.size() == 0) {
        return;
    }
    Keying{burst, set, core, true}.run();
    if (burst.units() != nullptr) [[unlikely]] {
        for (Burst& further : burst.units()->further()) {
            further.take_out(burst.units()->rows_of(further, ~burst.live()));
            Keying{further, set, core, false}.run();
        }
    }
}

}  // namespace sluice
