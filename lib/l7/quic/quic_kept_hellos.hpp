#pragma once
#include "lib/base/lazy_array.hpp"
#include "lib/l7/quic/crypto_stream.hpp"
#include "lib/l7/quic/initial_opener.hpp"
#include "lib/l7/stream/age_list.hpp"
#include "lib/l7/stream/connection_lines.hpp"
#include "lib/l7/stream/recent_digests.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

// Hellos over QUIC that are whole, for as long as their clients may go on with them.
//
// Those that took more than one packet, with their bytes: their server need not have taken every
// packet that was read here (a packet number that came twice, a full buffer), and it takes what
// comes later in its place. So other bytes for a place of theirs must not pass. The first stand.
//
// Those that took one packet, without bytes, so that Initials under the id that their server chose
// are known to be theirs, whatever strangers send by the same path.
namespace sluice {

// A hello that is whole.
struct WholeHello {
    std::uint64_t id = 0;
    std::uint64_t path = 0;
    ConnectionId client_dcid;
    ByteView bytes{};             // of one that took more than one packet
    std::uint16_t size = 0;       // of all of it
    std::uint32_t asked_for = 0;  // asked_server()
};

struct KeptHello {
    static constexpr std::size_t kChunkBytes = 512;
    static constexpr std::size_t kMostChunks = 32;

    ConnectionId client_dcid;
    std::array<std::uint16_t, kMostChunks> chunks{};
    std::uint16_t size = 0;        // bytes that are kept; 0: it took one packet
    std::uint16_t hello_size = 0;  // 0: hellos of several sizes came under its id
    std::uint32_t asked_for = 0;
    bool asks_for_several = false;  // hellos for other servers came under its id
    bool is_admitted = false;       // it was forwarded when it was judged last
    bool is_confirmed = false;      // its client sent on under an id that its server chose
    std::uint32_t on_path = 0;      // the one before it on its path, by number; 0: none
    std::uint64_t id = 0;
    std::uint64_t path = 0;
};

// One worker's. Ids and paths are keyed digests. Memory is taken at the start, and touched as it is
// used; who has to make room is the oldest of its kind. One with bytes that had to is known to have
// been there.
class QuicKeptHellos {
public:
    // Connections that begin by the same ports within `lasts`. Where one more begins, the oldest
    // goes that is not confirmed; none is: the new one is not kept. Who does not see what a server
    // answers confirms none.
    static constexpr unsigned kPerPath = 4;

    // Hellos that made room. Two digests are noted of a hello: its id, which stands when no line of
    // it does any more, and its path, for Initials under an id that its server chose; and of one in
    // parts that it was. At most 50,000 hellos a second make room (QuicHellos), 1,000,000 digests
    // in ten seconds, in which servers end a handshake (ngtcp2, quic-go, msquic): so many mistake
    // one of 670 others, both generations together. Fewer last for as long as hellos are kept.
    static constexpr RecentSize kLost{.bits = std::size_t{1} << 24,
                                      .functions = 6,
                                      .most = 1'000'000,
                                      .least = std::chrono::seconds{10}};

    // `hellos` of 2 KiB, and as many that took one packet. Aborts if there is no memory.
    QuicKeptHellos(std::size_t hellos, Nanoseconds lasts);
    [[nodiscard]] static std::uint64_t memory_of(std::size_t hellos) noexcept;

    // One that is there already stays, unless this is the first one of its id that has bytes.
    void keep(const WholeHello& hello, Instant now) noexcept;
    // The hello of this id; nullptr: none is.
    [[nodiscard]] const KeptHello* find(std::uint64_t id) const noexcept {
        const ConnectionIndex line = lines_.find(id);
        return line == kNoConnection ? nullptr : &hellos_[lines_[line].held];
    }
    // The hello of this id was forwarded or not. One that was not and took one packet goes: its
    // server knows nothing of it.
    void settle(std::uint64_t id, bool forwarded) noexcept;
    // The client of this id's hello is one that is told what its server answers.
    void confirm(std::uint64_t id) noexcept;
    // True also for an id of which no bytes are kept.
    [[nodiscard]] bool agrees(std::uint64_t id, const CryptoStream& stream) const noexcept;
    // A hello of this path that took more than one packet is kept.
    [[nodiscard]] bool has_parts_on(std::uint64_t path) noexcept {
        return any_on(path, [](const KeptHello& kept) { return kept.size != 0; });
    }
    // A hello of this id, or of this path, that took more than one packet had to make room.
    [[nodiscard]] bool may_have_lost(std::uint64_t id_or_path, Instant now) noexcept {
        return lost_.may_have(id_or_path, now);
    }
    // One of this id that took more than one packet.
    [[nodiscard]] bool may_have_lost_parts(std::uint64_t id, Instant now) noexcept {
        return find_bytes(id) == nullptr && lost_.may_have(key_of_parts(id), now);
    }
    // The kept hello of this id that has bytes to compare others with; nullptr: none.
    [[nodiscard]] const KeptHello* find_bytes(std::uint64_t id) const noexcept {
        const KeptHello* const kept = find(id);
        return kept == nullptr || kept->size == 0 ? nullptr : kept;
    }
    // The same of anything else that had to make room, by its digest.
    void note_lost(std::uint64_t digest, Instant now) noexcept { lost_.note(digest, now); }
    // use(kept) for those of a path, the latest first, until it returns true. True: it has.
    template <typename Use>
    bool any_on(std::uint64_t path, Use use) noexcept {
        const ConnectionIndex line = lines_.find(path);
        std::uint32_t number = line == kNoConnection ? 0 : lines_[line].held;
        while (number != 0 && !use(std::as_const(hellos_[number]))) {
            number = hellos_[number].on_path;
        }
        return number != 0;
    }
    // Forgets what is older than `lasts`, a few.
    void expire(Instant now) noexcept;

    [[nodiscard]] std::size_t size() const noexcept { return hellos_.size() - 1 - free_.size(); }

private:
    [[nodiscard]] bool agrees(const KeptHello& kept, std::size_t offset,
                              ByteView bytes) const noexcept;
    [[nodiscard]] bool add(const WholeHello& hello, Instant now) noexcept;
    void fill(KeptHello& kept, ByteView bytes) noexcept;
    [[nodiscard]] bool make_room(std::size_t chunks, Instant now) noexcept;
    [[nodiscard]] bool make_place_on(std::uint64_t path, Instant now) noexcept;
    [[nodiscard]] AgeList& ages_of(const KeptHello& kept) noexcept {
        return kept.size == 0 ? single_ : parts_;
    }
    void expire_one(const AgeList& ages, std::uint32_t ticks) noexcept;
    [[nodiscard]] static constexpr std::uint64_t key_of_parts(std::uint64_t id) noexcept {
        return id ^ 0x9E37'79B9'7F4A'7C15;
    }
    void note_lost(std::uint64_t id, std::uint64_t path, Instant now) noexcept;
    void lose(ConnectionIndex line, Instant now) noexcept;
    void remove(ConnectionIndex line) noexcept;
    void leave_path(std::uint64_t path, std::uint32_t number) noexcept;
    [[nodiscard]] std::byte* chunk(std::uint16_t number) const noexcept {
        return &bytes_[std::size_t{number} * KeptHello::kChunkBytes];
    }

    std::uint32_t lasts_;    // in ticks
    ConnectionLines lines_;  // of ids and of paths: `held` is a number in hellos_
    AgeList parts_;          // ids' of hellos with bytes
    AgeList single_;         // ids' of hellos that took one packet
    std::size_t singles_ = 0;
    std::size_t most_;  // of each of both kinds
    RecentDigests lost_;
    std::vector<KeptHello> hellos_;  // the first is nobody's
    std::vector<std::uint32_t> free_;
    LazyArray<std::byte> bytes_;
    std::vector<std::uint16_t> free_chunks_;
};

}  // namespace sluice
