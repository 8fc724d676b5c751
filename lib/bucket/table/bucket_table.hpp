#pragma once
#include "lib/base/line_memory.hpp"
#include "lib/base/prefetch.hpp"
#include "lib/bucket/table/entry.hpp"
#include "lib/bucket/table/limit_registry.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <immintrin.h>

// Buckets of one core by key: fixed memory, single writer, two lines a key can lie in.
//
//   hash --> first line   [ time | key ] x 4     one 64-byte line
//            second line  [ time | key ] x 4     read only if the first does not have the key
//
// The second line follows from the first and the tag, and the first from the second, so an entry
// can be moved without its key at hand (partial-key cuckoo hashing; Fan et al., Cuckoo Filter,
// 2014). A new key takes an idle place in one of its lines; if there is none, live entries are
// moved to their other lines along a path that ends at an idle place, found by a breadth-first
// search whose length is bounded, and whose sum over a burst is bounded too: a full table cannot
// slow a worker down. What is live is never overwritten. sweep() visits a few lines per burst, so
// that idle entries are counted out also in lines that no key probes.
namespace sluice {

class BucketTable {
    struct Line;

public:
    // Room for at least `keys` live keys. Aborts if there is no memory.
    explicit BucketTable(std::size_t keys);
    // In memory that is at hand, of whole lines; what lies in it stays.
    explicit BucketTable(LineMemory memory) noexcept;
    [[nodiscard]] static std::size_t bytes_for(std::size_t keys) noexcept;

    [[nodiscard]] std::size_t lines() const noexcept { return lines_; }
    [[nodiscard]] std::size_t slots() const noexcept { return lines_ * kEntries; }
    [[nodiscard]] std::size_t bytes() const noexcept { return memory_.bytes(); }
    [[nodiscard]] std::size_t page_size() const noexcept { return memory_.page_size(); }

    // The cache that a line is prefetched to: prefetch0() or prefetch1().
    enum class Into : std::uint8_t { FirstCache, SecondCache };

    // Prefetches the first line of a key; probe_first() takes its address.
    template <Into kInto = Into::SecondCache>
    [[nodiscard, gnu::always_inline]] inline Entry* prefetch_first(
        const TableKey& key) const noexcept {
        return first_lines().prefetch<kInto>(key);
    }
    // The same by value, so that loops over a burst keep the table's base in registers.
    class FirstLines {
    public:
        template <Into kInto = Into::SecondCache>
        [[nodiscard]] Entry* prefetch(const TableKey& key) const noexcept {
            Entry* const first = at(key);
            if constexpr (kInto == Into::FirstCache) {
                prefetch0(first);
            } else {
                prefetch1(first);
            }
            return first;
        }
        // The address of a key's first line, for a later prefetch.
        [[nodiscard]] Entry* at(const TableKey& key) const noexcept {
            return lines_[line_of(key, count_)].entries;
        }

    private:
        friend class BucketTable;
        FirstLines(Line* lines, std::size_t count) noexcept : lines_{lines}, count_{count} {}
        Line* lines_;
        std::size_t count_;
    };
    [[nodiscard]] FirstLines first_lines() const noexcept { return {&line(0), lines_}; }
    // Prefetches both lines of a key, where a miss is expected.
    struct Lines {
        Entry* first = nullptr;
        Entry* second = nullptr;
    };
    [[nodiscard, gnu::always_inline]] Lines prefetch_both(const TableKey& key) const noexcept {
        const Lines lines = lines_of(key);
        prefetch1(lines.first);
        prefetch1(lines.second);
        return lines;
    }

    // The key's entry if it lies in the line; nullptr else.
    [[nodiscard]] Entry* in_first(const TableKey& key) noexcept {
        return in_line(line(first_of(key)), key.slot_and_tag);
    }
    [[nodiscard]] Entry* in_second(const TableKey& key) noexcept {
        return in_line(line(other_of(first_of(key), key.slot_and_tag)), key.slot_and_tag);
    }
    [[nodiscard]] Entry* find(const TableKey& key) noexcept {
        Entry* found = in_first(key);
        return found != nullptr ? found : in_second(key);
    }
    [[nodiscard]] static Entry* find_in(const Lines& lines, const TableKey& key) noexcept {
        Entry* found = in_line(as_line(lines.first), key.slot_and_tag);
        return found != nullptr ? found : in_line(as_line(lines.second), key.slot_and_tag);
    }

    // The entries of a burst's keys, in two passes, so that all lines are prefetched before the
    // first is read. A look names a `key` and, as `entry`, the result of prefetch_first().
    // Afterwards `entry` is the key's, or nullptr. `missed` has room for all looks.
    template <typename Lookup>
    [[nodiscard]] std::size_t probe_first(std::span<Lookup> lookups,
                                          Lookup** missed) const noexcept {
        const std::size_t misses = find_first(lookups, missed);
        ask_second(std::span<Lookup* const>{missed, misses});
        return misses;
    }
    // The same in two steps, for callers that decide some looks themselves: those that are missed
    // have some entry of their first line until their second one is prefetched.
    template <typename Lookup>
    [[nodiscard, gnu::always_inline]] static std::size_t find_first(std::span<Lookup> lookups,
                                                                    Lookup** missed) noexcept {
        std::size_t misses = 0;
        // A key's line is as random as the key, so nothing here branches on it.
        for (Lookup& lookup : lookups) {
            Line& first = as_line(lookup.entry);
            const unsigned hits = hits_in(first, lookup.key.slot_and_tag);
            lookup.entry = entry_of(first, hits);
            missed[misses] = &lookup;
            misses += hits == 0 ? 1U : 0U;
        }
        return misses;
    }
    template <typename Lookup>
    [[gnu::always_inline]] void ask_second(std::span<Lookup* const> missed) const noexcept {
        Line* const lines = &line(0);
        for (Lookup* const lookup : missed) {
            Line& second = lines[other_of(first_of(lookup->key), lookup->key.slot_and_tag)];
            prefetch0(&second);
            lookup->entry = second.entries;
        }
    }
    // For a look that it missed: the key's entry in the second line; nullptr if it is not there.
    [[nodiscard]] static const Entry* in_asked(Entry* second, const TableKey& key) noexcept {
        return in_line(as_line(second), key.slot_and_tag);
    }
    // A key found in its second line moves home if there is an empty entry in the first: most looks
    // end at the first line. What is only idle stays: its key may come again.
    template <typename Lookup>
    void probe_second(std::span<Lookup* const> missed, LimitRegistry& registry, Now now) noexcept {
        for (Lookup* lookup : missed) {
            Entry* entry = in_line(as_line(lookup->entry), lookup->key.slot_and_tag);
            if (entry != nullptr && empty_in(line(first_of(lookup->key))) != 0) [[unlikely]] {
                entry = come_home_slow(*entry, lookup->key, registry, now);
            }
            lookup->entry = entry;
        }
    }

    // An empty entry that a new key can be filed in; nullptr: both its lines are held by live
    // entries, and no place for one of them was found within what a burst may spend on searching.
    [[nodiscard]] Entry* make_place(const TableKey& key, LimitRegistry& registry,
                                    Now now) noexcept {
        return make_place_in(lines_of(key), key, registry, now);
    }
    // The same in the key's own lines only: nothing is moved for it.
    [[nodiscard]] Entry* make_place_at_hand(const TableKey& key, LimitRegistry& registry,
                                            Now now) noexcept;
    // The same with the key's lines at hand: a flood of new keys takes this path for every packet
    // of a full table.
    [[nodiscard]] Entry* make_place_in(const Lines& lines, const TableKey& key,
                                       LimitRegistry& registry, Now now) noexcept {
        const bool none_ended = ended_in(as_line(lines.first), now.at) == 0 &&
                                ended_in(as_line(lines.second), now.at) == 0;
        return none_ended && !may_search() ? nullptr : make_place_slow(key, registry, now);
    }

    // True if make_place() would find none without a search, and may not begin one.
    [[nodiscard]] bool is_full_for(const TableKey& key, Now now) const noexcept {
        const Lines lines = lines_of(key);
        return !may_search() && ended_in(as_line(lines.first), now.at) == 0 &&
               ended_in(as_line(lines.second), now.at) == 0;
    }

    // True if make_place() would find an empty entry, which costs nobody a place.
    [[nodiscard]] bool has_empty_for(const TableKey& key) const noexcept {
        const Lines lines = lines_of(key);
        return (empty_in(as_line(lines.first)) | empty_in(as_line(lines.second))) != 0;
    }

    // Once per burst: renews what may be spent on searching.
    void begin_burst() noexcept;
    // Searches so far, and what the next ones may spend. Searches that no packet makes are undone
    // by it: those to come may spend as much as before.
    struct Searches {
        std::uint32_t credit = 0;      // lines that may still be searched
        std::uint32_t reluctance = 0;  // halves the credit of a burst: rises with failed searches
        std::uint32_t bursts = 0;
        std::uint64_t failed = 0;

        [[nodiscard]] bool operator==(const Searches&) const = default;
    };
    [[nodiscard]] const Searches& searches() const noexcept { return searches_; }
    void undo_searches(const Searches& before) noexcept { searches_ = before; }

    // Visits the next few lines for entries to empty or to write under changed numbers.
    void sweep(std::size_t lines, LimitRegistry& registry, Now now) noexcept;

    // For readers on other threads: the entry at a position below slots(), as two words that
    // belong together. A scan may miss or repeat an entry that is being moved.
    [[nodiscard]] Entry read(std::size_t position) const noexcept;
    // Reads a key that a table of the same size has at that position: its entry here, empty if
    // there is none; the lesser of the two lines that it can lie in; whether it is that key.
    [[nodiscard]] Entry read_near(std::size_t position, std::uint64_t slot_and_tag) const noexcept;
    // The same of a key that another table, of any size, has there: its entry here, filed as
    // `wanted`. Either line of it may be the first one that its hash leads to, and stands for as
    // many hashes as all lines here that they may lead to. Empty also where these are more than
    // kMostAlike.
    [[nodiscard]] Entry read_alike(const BucketTable& other, std::size_t position,
                                   std::uint64_t slot_and_tag, std::uint64_t wanted) const noexcept;
    // The most lines that it takes.
    [[nodiscard]] std::size_t lines_alike(const BucketTable& other) const noexcept {
        return 4 * std::min(lines_ / other.lines_ + 2, kMostAlike);
    }
    static constexpr std::size_t kMostAlike = std::size_t{1} << 12;
    [[nodiscard]] std::size_t lesser_line(std::size_t position,
                                          std::uint64_t slot_and_tag) const noexcept {
        const std::size_t at = position / kEntries;
        return std::min(at, other_of(at, slot_and_tag));
    }
    [[nodiscard]] bool is_place_of(const TableKey& key, std::size_t position) const noexcept {
        const std::size_t first = first_of(key);
        const std::size_t at = position / kEntries;
        return at == first || at == other_of(first, key.slot_and_tag);
    }
    // For tables that no worker files keys in any more: a key's entry, empty if there is none; and
    // its end, from any thread.
    [[nodiscard]] Entry read(const TableKey& key) const noexcept;
    // The same of a table that its owner goes on using; an entry that is just being moved is found.
    [[nodiscard]] Entry peek(const TableKey& key) const noexcept;
    void end(const TableKey& key) const noexcept;
    // Ends an entry that its owner charges no more, in a table that he goes on using. It may remain
    // if he moves it, or writes it under other numbers, at that very instant.
    void end_beside_owner(const TableKey& key) const noexcept;

    // For the walk over what an earlier process left: an entry by its position below slots(), and
    // another entry that is filed as the same key, if there is one; nullptr else.
    [[nodiscard]] Entry& at(std::size_t position) noexcept {
        return line(position / kEntries).entries[position % kEntries];
    }
    [[nodiscard]] Entry* twin_of(std::size_t position) noexcept;

    // How many searches found no place.
    [[nodiscard]] std::uint64_t failed_searches() const noexcept { return searches_.failed; }
    [[nodiscard]] std::uint64_t moves() const noexcept { return moves_; }

private:
    static constexpr std::size_t kEntries = 4;
    static constexpr unsigned kAllEntries = (1U << kEntries) - 1;
    static constexpr std::size_t kSearchedLines = 512;
    struct alignas(64) Line {
        Entry entries[kEntries];
    };
    static_assert(sizeof(Line) == 64, "one miss per line looked at");
    struct Step;
    class Search;
    struct Path;

    [[nodiscard]] Line& line(std::size_t index) const noexcept {
        return static_cast<Line*>(memory_.data())[index];
    }
    [[nodiscard]] static Line& as_line(Entry* first) noexcept {
        return *reinterpret_cast<Line*>(first);
    }
    [[nodiscard]] Lines lines_of(const TableKey& key) const noexcept {
        const std::size_t first = first_of(key);
        return {line(first).entries, line(other_of(first, key.slot_and_tag)).entries};
    }
    // The low bits of the hash; the tag takes the top ones.
    [[nodiscard]] static std::size_t line_of(const TableKey& key, std::size_t lines) noexcept {
        constexpr std::uint64_t kLow = (std::uint64_t{1} << 39) - 1;
        return static_cast<std::size_t>(((key.hash & kLow) * lines) >> 39);
    }
    [[nodiscard]] std::size_t first_of(const TableKey& key) const noexcept {
        return line_of(key, lines_);
    }
    // An involution: either line of an entry leads to the other.
    [[nodiscard]] std::size_t other_of(std::size_t from,
                                       std::uint64_t slot_and_tag) const noexcept {
        const std::uint64_t mixed = (slot_and_tag * 0x9E37'79B9'7F4A'7C15) >> 25;
        const std::size_t sum = static_cast<std::size_t>((mixed * lines_) >> 39);
        // Without a branch, which nothing could predict.
        const std::size_t below = sum < from ? ~std::size_t{0} : 0;
        return sum - from + (lines_ & below);
    }

    // The entries' key words, in the order 0, 2, 1, 3.
    [[nodiscard]] static __m256i keys_of(const Line& line) noexcept {
        const auto* words = reinterpret_cast<const __m256i*>(&line);
        return _mm256_unpackhi_epi64(_mm256_load_si256(words), _mm256_load_si256(words + 1));
    }
    [[nodiscard]] static __m256i times_of(const Line& line) noexcept {
        const auto* words = reinterpret_cast<const __m256i*>(&line);
        return _mm256_unpacklo_epi64(_mm256_load_si256(words), _mm256_load_si256(words + 1));
    }
    [[nodiscard]] static unsigned bits_of(__m256i lanes) noexcept {
        return static_cast<unsigned>(_mm256_movemask_pd(_mm256_castsi256_pd(lanes)));
    }
    // A bit per entry, in the same order.
    [[nodiscard]] static unsigned hits_in(const Line& line, std::uint64_t slot_and_tag) noexcept {
        const __m256i mask = _mm256_set1_epi64x(static_cast<long long>(kSlotAndTagMask));
        const __m256i hits =
            _mm256_cmpeq_epi64(_mm256_and_si256(keys_of(line), mask),
                               _mm256_set1_epi64x(static_cast<long long>(slot_and_tag)));
        return bits_of(hits);
    }
    // True if an entry that is not empty may be forgotten, by its time alone.
    [[nodiscard]] static bool has_idle(const Line& line, Instant now) noexcept {
        return (ended_in(line, now) & ~empty_in(line)) != 0;
    }
    // The empty entries, a bit each, as hits_in() has them.
    [[nodiscard]] static unsigned empty_in(const Line& line) noexcept {
        const __m256i slot = _mm256_set1_epi64x(
            static_cast<long long>(kSlotAndTagMask & ~((std::uint64_t{1} << kTagBits) - 1)));
        const __m256i empty =
            _mm256_cmpeq_epi64(_mm256_and_si256(keys_of(line), slot), _mm256_setzero_si256());
        return bits_of(empty);
    }
    // The entries whose times are not beyond `now`, a bit each, as hits_in() has them.
    [[nodiscard]] static unsigned ended_in(const Line& line, Instant now) noexcept {
        // An entry is idle if its time word, as a number, is below that of the next instant.
        const std::int64_t next = now.time_since_epoch().count() + 1;
        const __m256i bound = _mm256_set1_epi64x(next << kInstantShift);
        return bits_of(_mm256_cmpgt_epi64(bound, times_of(line)));
    }
    // Some entry of the line when there is no hit.
    [[nodiscard]] static Entry* entry_of(Line& line, unsigned hits) noexcept {
        // By the lowest bit of `hits`.
        static constexpr std::array<std::uint8_t, 16> kEntry = {0, 0, 2, 0, 1, 0, 2, 0,
                                                                3, 0, 2, 0, 1, 0, 2, 0};
        return &line.entries[kEntry[hits]];
    }
    [[nodiscard]] static Entry* in_line(Line& line, std::uint64_t slot_and_tag) noexcept {
        const unsigned hits = hits_in(line, slot_and_tag);
        return hits == 0 ? nullptr : entry_of(line, hits);
    }
    [[nodiscard]] Entry* last_of(const TableKey& key) const noexcept;
    [[nodiscard]] Entry read_in_lines(std::size_t first, std::uint64_t slot_and_tag) const noexcept;
    static void sweep_line(Line& line, LimitRegistry& registry, Now now) noexcept;
    void ask_for_rows(std::size_t index, const LimitRegistry& registry, Now now) const noexcept;
    [[nodiscard]] Entry* idle_in(std::size_t index, LimitRegistry& registry, Now now) noexcept;
    // A search that stops early has no result, so none is begun that cannot be finished.
    [[nodiscard]] bool may_search() const noexcept { return searches_.credit >= kSearchedLines; }
    [[nodiscard]] Entry* make_place_slow(const TableKey& key, LimitRegistry& registry,
                                         Now now) noexcept;
    [[nodiscard]] Entry* come_home_slow(Entry& guest, const TableKey& key, LimitRegistry& registry,
                                        Now now) noexcept;
    void move(Entry& from, Entry& to, LimitRegistry& registry, Now now) noexcept;
    [[nodiscard]] Entry* search_slow(const TableKey& key, LimitRegistry& registry,
                                     Now now) noexcept;
    [[nodiscard]] Entry* move_along(const Path& path, Entry* idle, LimitRegistry& registry,
                                    Now now) noexcept;

    std::size_t lines_;
    LineMemory memory_;
    std::size_t swept_ = 0;  // next line to sweep
    Searches searches_;
    std::uint64_t moves_ = 0;
};

}  // namespace sluice
