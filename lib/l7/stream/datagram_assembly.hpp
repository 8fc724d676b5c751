#pragma once
#include "lib/base/lazy_array.hpp"
#include "lib/base/units.hpp"
#include "lib/l7/stream/age_list.hpp"
#include "lib/l7/stream/recent_digests.hpp"
#include "lib/l7/stream/source_shares.hpp"

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

// Datagrams of a service that come in IP fragments, put together so that they can be read. Their
// fragments are forwarded as they come, but for the one that completes the datagram: that one has
// the verdict of all of it, and a server that lacks it never sees the datagram.
//
//   unknown -- first fragment --> Filling -- all bytes --> Judged: copies go where it went
//                                    |                        |  ^ all bytes again
//                                    +-- overlap, no room ----+--> GivenUp: nothing more passes
//
// A receiver forgets a datagram's fragments once it has all of them (RFC 791, 3.2), and puts copies
// together as another one: copies of all bytes are a datagram that is judged again.
//
// What a server may hold of a datagram is known here for as long as it may hold it (`timeout` from
// the fragment that was forwarded last, a copy too: where the server's own time has ended
// meanwhile, a copy is a first fragment to it), or nothing more of that datagram passes. Where
// there is no line for one more, the oldest of the source with most lines goes, if that has at
// least two more than the newcomer's; else the newcomer is Full. So nobody's many datagrams keep
// others' out, and what takes a line does not come to have most. Of what went a digest is kept.
namespace sluice {

struct AssemblyBudget {
    std::size_t datagrams = 4096;  // that are known at once, lines of 64 bytes
    std::size_t rooms = 64;        // of them, those whose bytes are held, 65 KiB each
    std::size_t rooms_per_source = 8;
    // Servers count it from the first fragment that they see.
    Nanoseconds timeout = std::chrono::seconds{60};
};

// One fragment: its datagram by a keyed digest, its source, and its bytes, all of which are there.
struct DatagramPart {
    std::uint64_t digest = 0;
    std::uint64_t source = 0;
    std::uint32_t offset = 0;
    bool more = false;
    std::uint16_t owner = 0;  // any number of the caller's that the first fragment has
    ByteView bytes;
};

enum class AssemblyOutcome : std::uint8_t {
    Waits,    // parts are to come
    Whole,    // it completes its datagram, for the first time or again, which is judged: settle()
              // is told
    Copy,     // of what was forwarded
    Follows,  // a copy of what is judged in this burst: is_refused() is asked later
    Unknown,  // no first fragment of it has come
    BadPart,  // no receiver takes it: no bytes, not in units of eight, beyond 64 KiB
    Overlap,  // it claims bytes of others, or lies where the datagram does not reach
    Refused,  // of a datagram that was refused, or would complete one that is judged in this burst
    GivenUp,  // of one that is not put together any more
    Full,     // no place for one more datagram
};
// True if a fragment is forwarded, as far as it is not the rules' to say.
[[nodiscard]] constexpr bool passes(AssemblyOutcome outcome) noexcept {
    return outcome <= AssemblyOutcome::Follows;
}

struct AssemblyResult {
    AssemblyOutcome outcome = AssemblyOutcome::Unknown;
    std::uint16_t owner = 0;  // of the datagram, where it is known
    ByteView datagram;        // of a Whole one, until the next call
};

class DatagramAssembly {
public:
    static constexpr std::size_t kMostBytes = 0xFFFF;

    // Aborts if there is no memory. Nothing is allocated later; a room's pages are touched as
    // datagrams fill them.
    explicit DatagramAssembly(const AssemblyBudget& budget);
    [[nodiscard]] static std::uint64_t memory_of(const AssemblyBudget& budget) noexcept;
    DatagramAssembly(const DatagramAssembly&) = delete;
    DatagramAssembly& operator=(const DatagramAssembly&) = delete;

    // A fragment; `now` never decreases. One that is not the first of its datagram is Unknown
    // until the first has come: its ports tell whose the datagram is.
    [[nodiscard]] AssemblyResult take(const DatagramPart& part, Instant now) noexcept;
    // The owner of the datagram; nullopt: nothing is known of it.
    [[nodiscard]] std::optional<std::uint16_t> owner_of(std::uint64_t digest, Instant now) noexcept;
    // The bytes of a Whole datagram until settle() is told; nullopt: it was given up meanwhile.
    [[nodiscard]] std::optional<ByteView> bytes_of(std::uint64_t digest) const noexcept;
    // The fate of a Whole datagram.
    void settle(std::uint64_t digest, bool forwarded) noexcept;
    [[nodiscard]] bool is_refused(std::uint64_t digest) const noexcept;

    [[nodiscard]] std::size_t size() const noexcept { return lines_.size(); }
    [[nodiscard]] std::size_t rooms() const noexcept { return shares_.size(); }
    // Datagrams given up so that others have room.
    [[nodiscard]] std::uint64_t evicted() const noexcept { return evicted_; }

private:
    enum class State : std::uint8_t { Free, Filling, Undecided, Forwarded, Refused, GivenUp };
    static constexpr std::uint16_t kNoRoom = 0xFFFF;
    struct alignas(64) Line {
        std::uint64_t digest = 0;
        std::uint32_t forwarded = 0;  // in ticks: when its last fragment was
        ConnectionIndex older = kNoConnection;
        ConnectionIndex newer = kNoConnection;
        std::uint16_t at_home = 0;
        State state = State::Free;
        bool ends = false;  // the last fragment has come
        std::uint16_t room = kNoRoom;
        std::uint16_t owner = 0;
        std::uint32_t end = 0;          // of the bytes that have come; the datagram's once `ends`
        std::uint32_t units = 0;        // of eight bytes that have come
        std::uint32_t units_again = 0;  // of these, since the datagram was whole

        [[nodiscard]] bool is_free() const noexcept { return state == State::Free; }
        void take() noexcept { state = State::Filling; }
        void give_up() noexcept { state = State::Free; }
    };
    static_assert(sizeof(Line) == 64);
    static constexpr std::size_t kUnits = (kMostBytes + 1) / 8;
    struct Room {
        std::bitset<kUnits> come;
        std::bitset<kUnits> come_again;
        std::array<std::byte, kMostBytes + 1> bytes;
    };

    [[nodiscard]] AssemblyOutcome begin(const DatagramPart& part, Instant now,
                                        ConnectionIndex& index) noexcept;
    [[nodiscard]] bool make_line_for(SourceId whose, Instant now) noexcept;
    [[nodiscard]] AssemblyOutcome fill(Line& line, const DatagramPart& part) noexcept;
    [[nodiscard]] AssemblyOutcome repeat(Line& line, const DatagramPart& part) noexcept;
    [[nodiscard]] bool completes_again(Line& line, const DatagramPart& part) noexcept;
    // The number of the part's units that have come.
    [[nodiscard]] std::size_t come_of(const Line& line, const DatagramPart& part) const noexcept;
    [[nodiscard]] bool is_copy(const Line& line, const DatagramPart& part) const noexcept;
    void give_up(ConnectionIndex index) noexcept;
    void remove(ConnectionIndex index) noexcept;
    [[nodiscard]] bool is_over(const Line& line, std::uint32_t ticks) const noexcept {
        return ticks - line.forwarded > timeout_ticks_;
    }
    void renew(ConnectionIndex index, std::uint32_t ticks) noexcept;
    void expire(std::uint32_t ticks) noexcept;

    AssemblyBudget budget_;
    std::uint32_t timeout_ticks_;
    HopscotchLines<Line> lines_;
    std::vector<SourceMember> members_;
    SourceShares shares_;  // of those with a room
    std::vector<SourceMember> line_members_;
    SourceShares line_shares_;  // of all
    RecentDigests gone_;        // those whose lines others have
    // By a part of their digests, the latest: of another one in so many its owner may be said.
    std::vector<std::uint16_t> owners_gone_;
    AgeList ages_;  // by when their last fragment was forwarded
    LazyArray<Room> rooms_;
    std::vector<std::uint16_t> free_rooms_;
    std::uint64_t evicted_ = 0;
};

}  // namespace sluice
