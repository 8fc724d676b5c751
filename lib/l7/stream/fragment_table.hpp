#pragma once
#include "lib/base/line_memory.hpp"
#include "lib/base/prefetch.hpp"
#include "lib/base/units.hpp"
#include "lib/l7/stream/ip_fragment.hpp"
#include "lib/share/core.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

// Later fragments have no ports: they go where the first of their datagram went.
namespace sluice {

// The treatment of fragments of one datagram that claim the same bytes.
enum class OnOverlap : std::uint8_t {
    Discard,  // the datagram ends there (RFC 5722, for IPv4 too): all that follows of it is dropped
    Follow,   // the verdict of the first fragment stands for them as well
};
// A later fragment whose first one is not known: it came before it, or was forgotten.
enum class OnOrphan : std::uint8_t { Pass, Drop };

struct FragmentBudget {
    std::size_t datagrams = std::size_t{1} << 16;
    Nanoseconds timeout = std::chrono::seconds{30};
    OnOverlap on_overlap = OnOverlap::Discard;
    OnOrphan on_orphan = OnOrphan::Drop;
};

enum class FragmentOutcome : std::uint8_t {
    Follows,   // `drop` is the first one's verdict
    Orphan,    // `drop` as on_orphan says
    Overlaps,  // `drop` as on_overlap says
};
struct FragmentVerdict {
    FragmentOutcome outcome{};
    bool drop = false;
};

enum class FragmentEvent : std::uint8_t { First, Followed, Orphan, Overlap, Completed, Evicted };
inline constexpr auto kFragmentEvents = std::to_array<std::string_view>(
    {"first", "followed", "orphan", "overlap", "completed", "evicted"});

struct FragmentCounters {
    std::array<Counter, kFragmentEvents.size()> by_event;
    [[nodiscard]] std::uint64_t of(FragmentEvent event) const noexcept {
        return by_event[static_cast<std::size_t>(event)].read();
    }
};

// One worker's datagrams in flight, four to a line of 64 bytes: a look-up touches one line. A line
// that is full gives up its oldest; which line a datagram has nobody can aim for. A datagram whose
// bytes have all come is over, so that its identification may be used again at once.
//
// Of later fragments that begin at a multiple of the first one's size, as all that a sender makes
// do, up to the 48th, a byte of a keyed hash is kept: an exact copy follows the first fragment as
// its original did and counts for nothing, and another one in its place is an overlap. Overlaps
// besides are known where a later fragment begins before the first one ends, where bytes lie behind
// the last one, and where more bytes have come than there are: an overlap among later fragments of
// other places is known when the last of them comes, not before.
class FragmentTable {
public:
    // Aborts if there is no memory. Nothing is allocated later.
    explicit FragmentTable(const FragmentBudget& budget);
    // Bytes that it takes.
    [[nodiscard]] static std::uint64_t memory_of(const FragmentBudget& budget) noexcept;
    FragmentTable(const FragmentTable&) = delete;
    FragmentTable& operator=(const FragmentTable&) = delete;

    void prefetch(std::uint64_t digest) const noexcept { prefetch0(&lines_[digest & mask_]); }

    // The first fragment was judged: whether it, and so the datagram, is dropped. Repeated with
    // another size it is an overlap; with the same size the stricter verdict stands.
    FragmentVerdict first(const IpFragment& fragment, bool drop, Instant now) noexcept;
    // A later fragment.
    [[nodiscard]] FragmentVerdict later(const IpFragment& fragment, Instant now) noexcept;

    [[nodiscard]] const FragmentCounters& counters() const noexcept { return counters_; }

private:
    enum class State : std::uint8_t { Free, Passes, Drops, Discarded };
    struct Datagram {
        std::uint32_t tag = 0;
        std::uint32_t began = 0;      // in ticks
        std::uint16_t first_end = 0;  // the first fragment's bytes
        std::uint16_t come = 0;       // bytes of all fragments until now
        std::uint16_t total = 0;      // of the datagram; 0: the last fragment has not come
        State state = State::Free;
        std::uint8_t slot = 0;  // of its checks among those of its line
    };
    static constexpr std::size_t kWays = 4;
    // By place, of later fragments that have come; 0: none has.
    using Checks = std::array<std::uint8_t, 48>;
    struct LineChecks {
        std::array<Checks, kWays> of_slot;
    };
    struct alignas(64) Line {
        std::array<Datagram, kWays> datagrams;
    };
    static_assert(sizeof(Line) == 64);

    [[nodiscard]] static std::uint32_t tag_of(std::uint64_t digest) noexcept {
        return static_cast<std::uint32_t>(digest >> 32);
    }
    [[nodiscard]] Datagram* find(std::uint64_t digest, std::uint32_t ticks) noexcept;
    [[nodiscard]] Datagram& place_for(std::uint64_t digest, std::uint32_t ticks) noexcept;
    [[nodiscard]] bool overlaps(const Datagram& datagram,
                                const IpFragment& fragment) const noexcept;
    [[nodiscard]] FragmentVerdict overlapped(Datagram& datagram) noexcept;
    [[nodiscard]] std::uint8_t* check_for(const Datagram& datagram,
                                          const IpFragment& fragment) noexcept;
    void add_bytes(Datagram& datagram, const IpFragment& fragment) noexcept;
    void count(FragmentEvent event) noexcept {
        counters_.by_event[static_cast<std::size_t>(event)].add(1);
    }

    LineMemory memory_;
    LineMemory check_memory_;
    Line* lines_;
    LineChecks* checks_;
    std::uint64_t mask_;
    std::uint32_t timeout_ticks_;
    OnOverlap on_overlap_;
    OnOrphan on_orphan_;
    FragmentCounters counters_;
};

}  // namespace sluice
