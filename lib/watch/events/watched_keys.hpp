#pragma once
#include "lib/base/units.hpp"
#include "lib/bucket/table/entry.hpp"
#include "lib/rules/edge_event.hpp"
#include "lib/rules/group.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <type_traits>

namespace sluice {

inline constexpr Instant kNoInstant = Instant::max();

// A key that a limit refuses now, or that is banned.
struct WatchedKey {
    TableKey key;                 // of its bucket, or of its box
    std::uint64_t identity = 0;   // of the limit, or the box
    Units cost;                   // that was refused last
    Instant since{};              // its first refusal, or the start of its ban
    Instant last{};               // its latest refusal
    Instant end = kNoInstant;     // when its end is due, or that of its ban; none: it was told
    Instant refill = kNoInstant;  // when its bucket admits again; none: nobody waits for that
    Instant next_refill{};        // the earliest that may be told
    Instant due = kNoInstant;     // the next of these
    std::uint32_t rule = 0;       // index in the set
    std::uint32_t place = 0;      // in the order of what is due
    EdgeEventSet events;          // that its rule reports
    std::uint8_t limit = 0;       // index in the rule; of a ban the key's
    std::uint8_t rule_key = 0;    // of the rule's keys
    bool is_ban = false;
    bool is_wider = false;  // the ban is that of a network
    std::uint16_t size = 0;
    std::array<std::byte, KeyBytes::kMaxSize> bytes;

    [[nodiscard]] ByteView view() const noexcept { return ByteView{bytes}.first(size); }
    // No longer refused, and only its refill is due: another key may have its place.
    [[nodiscard]] bool is_silent() const noexcept { return !is_ban && end == kNoInstant; }
};

static_assert(std::is_trivially_copyable_v<WatchedKey> &&
              std::is_trivially_destructible_v<WatchedKey>);

// A worker's watched keys: found by their bucket, and in the order in which something is due.
// Memory is taken once; a set of kWays places takes the keys whose hashes lead there, so a look
// touches one line, and who fills the table shuts nobody out for longer than it goes on.
class WatchedKeys {
public:
    static constexpr std::size_t kWays = 8;

    // `capacity` is a power of two, kWays at least.
    explicit WatchedKeys(std::size_t capacity);

    [[nodiscard]] WatchedKey* find(const TableKey& key) noexcept;
    // A place for a key that is not there; nullptr: there is none. `displaced` says whether a
    // silent one went for it.
    struct Added {
        WatchedKey* key = nullptr;
        bool displaced = false;
    };
    [[nodiscard]] Added add(const TableKey& key) noexcept;
    void remove(WatchedKey& key) noexcept;
    // Keys go of which `goes(WatchedKey&)` holds.
    template <typename Goes>
    void remove_if(Goes&& goes) noexcept {
        for (std::size_t at = 0; at < sets_ * kWays; ++at) {
            if (marks_[at] != 0 && goes(keys_[at])) {
                remove(keys_[at]);
            }
        }
    }

    // Puts it where it belongs, once its `due` has been set.
    void reorder(WatchedKey& key) noexcept;
    // The key that is due first; nullptr: the table is empty.
    [[nodiscard]] WatchedKey* first() noexcept { return size_ == 0 ? nullptr : &keys_[order_[0]]; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] std::size_t capacity() const noexcept { return sets_ * kWays; }

private:
    [[nodiscard]] std::size_t set_of(const TableKey& key) const noexcept;
    [[nodiscard]] std::size_t index_of(const WatchedKey& key) const noexcept {
        return static_cast<std::size_t>(&key - keys_.get());
    }
    WatchedKey* fill(std::size_t at, const TableKey& key) noexcept;
    [[nodiscard]] bool is_before(std::size_t a, std::size_t b) const noexcept {
        return keys_[order_[a]].due < keys_[order_[b]].due;
    }
    void swap(std::size_t a, std::size_t b) noexcept;
    void rise(std::size_t at) noexcept;
    void sink(std::size_t at) noexcept;

    std::size_t sets_;
    // By place: what its key is known by; 0: it is free.
    std::unique_ptr<std::uint64_t[]> marks_;
    // Made as they are filled, so that pages nobody needs are never touched.
    struct FreeRoom {
        void operator()(void* memory) const noexcept { std::free(memory); }
    };
    std::unique_ptr<WatchedKey[], FreeRoom> keys_;
    std::unique_ptr<std::uint32_t[]> order_;  // a heap of places, what is due first at the top
    std::size_t size_ = 0;
};

}  // namespace sluice
