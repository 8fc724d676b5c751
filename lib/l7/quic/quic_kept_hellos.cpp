#include "lib/l7/quic/quic_kept_hellos.hpp"

#include "lib/l7/stream/tick.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace sluice {
namespace {

constexpr std::size_t kChunksOfHello = 4;  // of one that takes two datagrams
constexpr std::size_t kMostNumbers = 1 + std::size_t{UINT16_MAX};
constexpr unsigned kKeptExpiredAtOnce = 2;

std::size_t chunks_for(std::size_t hellos) noexcept {
    return std::min(std::max(hellos * kChunksOfHello, KeptHello::kMostChunks), kMostNumbers);
}
// In the words of lib/l7/stream.
constexpr StreamPhase kKept = StreamPhase::UntilClose;

// Notes another hello of an id: the server may go on with either.
void note_another(KeptHello& kept, const WholeHello& hello) noexcept {
    kept.hello_size = kept.hello_size == hello.size ? kept.hello_size : std::uint16_t{0};
    kept.asks_for_several = kept.asks_for_several || kept.asked_for != hello.asked_for;
}

}  // namespace

QuicKeptHellos::QuicKeptHellos(std::size_t hellos, Nanoseconds lasts)
    : lasts_{ticks_of(lasts) + 1},
      lines_{4 * hellos},
      most_{hellos},
      lost_{lasts, kLost},
      hellos_(2 * hellos + 1),
      free_(2 * hellos),
      bytes_{zeroed_array<std::byte>(chunks_for(hellos) * KeptHello::kChunkBytes)},
      free_chunks_(chunks_for(hellos)) {
    std::iota(free_.rbegin(), free_.rend(), 1U);
    std::iota(free_chunks_.rbegin(), free_chunks_.rend(), std::uint16_t{0});
}

std::uint64_t QuicKeptHellos::memory_of(std::size_t hellos) noexcept {
    return ConnectionLines::memory_of(4 * hellos) + RecentDigests::memory(kLost) +
           (2 * hellos + 1) * (sizeof(KeptHello) + sizeof(std::uint32_t)) +
           chunks_for(hellos) * (KeptHello::kChunkBytes + sizeof(std::uint16_t));
}

void QuicKeptHellos::keep(const WholeHello& hello, Instant now) noexcept {
    KeptHello before;
    if (const ConnectionIndex line = lines_.find(hello.id); line != kNoConnection) {
        KeptHello& kept = hellos_[lines_[line].held];
        note_another(kept, hello);
        if (kept.size != 0 || hello.bytes.empty()) {
            lines_[line].touched = ticks_of(now.time_since_epoch());
            ages_of(kept).remove(lines_, line);
            ages_of(kept).push_newest(lines_, line);
            return;
        }
        before = kept;
        remove(line);
    }
    if (add(hello, now)) {
        KeptHello& kept = hellos_[lines_[lines_.find(hello.id)].held];
        kept.is_admitted = before.is_admitted;
        kept.is_confirmed = before.is_confirmed;
        if (before.id == hello.id) {
            kept.hello_size = before.hello_size;
            kept.asks_for_several = before.asks_for_several;
        }
    } else {
        note_lost(hello.id, hello.path, now);
        if (!hello.bytes.empty()) {
            lost_.note(key_of_parts(hello.id), now);
        }
    }
}

// False: there is no room for it.
bool QuicKeptHellos::add(const WholeHello& hello, Instant now) noexcept {
    const std::size_t chunks =
        (hello.bytes.size() + KeptHello::kChunkBytes - 1) / KeptHello::kChunkBytes;
    if (chunks > KeptHello::kMostChunks || !make_place_on(hello.path, now) ||
        !make_room(chunks, now)) {
        return false;
    }
    ConnectionIndex of_path = lines_.find(hello.path);
    of_path = of_path == kNoConnection ? lines_.add(hello.path) : of_path;
    const ConnectionIndex of_id = of_path == kNoConnection ? kNoConnection : lines_.add(hello.id);
    if (of_id == kNoConnection) {
        if (of_path != kNoConnection && lines_[of_path].held == 0) {
            lines_.remove(of_path);
        }
        return false;
    }
    const std::uint32_t number = free_.back();
    free_.pop_back();
    KeptHello& kept = hellos_[number];
    kept = {.client_dcid = hello.client_dcid,
            .size = static_cast<std::uint16_t>(hello.bytes.size()),
            .hello_size = hello.size,
            .asked_for = hello.asked_for,
            .on_path = lines_[of_path].held,
            .id = hello.id,
            .path = hello.path};
    fill(kept, hello.bytes);
    lines_[of_path].phase = lines_[of_id].phase = kKept;
    lines_[of_path].held = lines_[of_id].held = number;
    lines_[of_id].touched = ticks_of(now.time_since_epoch());
    ages_of(kept).push_newest(lines_, of_id);
    singles_ += kept.size == 0 ? 1 : 0;
    return true;
}

// There are as many chunks as it takes.
void QuicKeptHellos::fill(KeptHello& kept, ByteView bytes) noexcept {
    for (std::size_t at = 0; at < bytes.size(); at += KeptHello::kChunkBytes) {
        const std::uint16_t number = free_chunks_.back();
        free_chunks_.pop_back();
        kept.chunks[at / KeptHello::kChunkBytes] = number;
        const ByteView part =
            bytes.subspan(at, std::min(bytes.size() - at, KeptHello::kChunkBytes));
        std::memcpy(chunk(number), part.data(), part.size());
    }
}

void QuicKeptHellos::settle(std::uint64_t id, bool forwarded) noexcept {
    const ConnectionIndex line = lines_.find(id);
    if (line == kNoConnection) {
        return;
    }
    KeptHello& kept = hellos_[lines_[line].held];
    if (kept.size == 0 && !forwarded && !kept.is_admitted) {
        remove(line);
        return;
    }
    // The server of one that was admitted may go on with it, whatever came under its id since.
    kept.is_admitted = forwarded || (kept.size == 0 && kept.is_admitted);
}

void QuicKeptHellos::confirm(std::uint64_t id) noexcept {
    if (const ConnectionIndex line = lines_.find(id); line != kNoConnection) {
        hellos_[lines_[line].held].is_confirmed = true;
    }
}

bool QuicKeptHellos::agrees(std::uint64_t id, const CryptoStream& stream) const noexcept {
    const ConnectionIndex line = lines_.find(id);
    return line == kNoConnection || stream.all_pieces([&](std::size_t offset, ByteView bytes) {
        return agrees(hellos_[lines_[line].held], offset, bytes);
    });
}

bool QuicKeptHellos::agrees(const KeptHello& kept, std::size_t offset,
                            ByteView bytes) const noexcept {
    const std::size_t end = std::min<std::size_t>(offset + bytes.size(), kept.size);
    for (std::size_t at = offset; at < end;) {
        const std::size_t in_chunk = at % KeptHello::kChunkBytes;
        const std::size_t size = std::min(end - at, KeptHello::kChunkBytes - in_chunk);
        const std::byte* const there = chunk(kept.chunks[at / KeptHello::kChunkBytes]) + in_chunk;
        if (std::memcmp(there, bytes.data() + (at - offset), size) != 0) {
            return false;
        }
        at += size;
    }
    return true;
}

// True: another one can be kept of the path.
bool QuicKeptHellos::make_place_on(std::uint64_t path, Instant now) noexcept {
    unsigned count = 0;
    ConnectionIndex oldest = kNoConnection;
    (void)any_on(path, [&](const KeptHello& kept) {
        ++count;
        oldest = kept.is_confirmed ? oldest : lines_.find(kept.id);
        return false;
    });
    if (count < kPerPath) {
        return true;
    }
    if (oldest == kNoConnection) {
        return false;
    }
    lose(oldest, now);
    return true;
}

bool QuicKeptHellos::make_room(std::size_t chunks, Instant now) noexcept {
    if (chunks == 0) {
        while (singles_ >= most_) {
            lose(single_.oldest(), now);
        }
        return true;
    }
    const auto has_room = [&] {
        return size() - singles_ < most_ && free_chunks_.size() >= chunks;
    };
    while (!has_room() && parts_.oldest() != kNoConnection) {
        lose(parts_.oldest(), now);
    }
    return has_room();
}

void QuicKeptHellos::note_lost(std::uint64_t id, std::uint64_t path, Instant now) noexcept {
    lost_.note(id, now);
    lost_.note(path, now);
}

void QuicKeptHellos::lose(ConnectionIndex line, Instant now) noexcept {
    const KeptHello& kept = hellos_[lines_[line].held];
    note_lost(kept.id, kept.path, now);
    if (kept.size != 0) {
        lost_.note(key_of_parts(kept.id), now);
    }
    remove(line);
}

void QuicKeptHellos::remove(ConnectionIndex line) noexcept {
    const std::uint32_t number = lines_[line].held;
    const KeptHello& kept = hellos_[number];
    for (std::size_t at = 0; at < kept.size; at += KeptHello::kChunkBytes) {
        free_chunks_.push_back(kept.chunks[at / KeptHello::kChunkBytes]);
    }
    leave_path(kept.path, number);
    free_.push_back(number);
    singles_ -= kept.size == 0 ? 1 : 0;
    ages_of(kept).remove(lines_, line);
    lines_.remove(line);
}

void QuicKeptHellos::leave_path(std::uint64_t path, std::uint32_t number) noexcept {
    const ConnectionIndex line = lines_.find(path);
    std::uint32_t* at = &lines_[line].held;
    while (*at != number) {
        at = &hellos_[*at].on_path;
    }
    *at = hellos_[number].on_path;
    if (lines_[line].held == 0) {
        lines_.remove(line);
    }
}

void QuicKeptHellos::expire(Instant now) noexcept {
    const std::uint32_t ticks = ticks_of(now.time_since_epoch());
    for (unsigned i = 0; i < kKeptExpiredAtOnce; ++i) {
        expire_one(parts_, ticks);
        expire_one(single_, ticks);
    }
}

void QuicKeptHellos::expire_one(const AgeList& ages, std::uint32_t ticks) noexcept {
    const ConnectionIndex oldest = ages.oldest();
    if (oldest != kNoConnection && ticks - lines_[oldest].touched > lasts_) {
        remove(oldest);
    }
}

}  // namespace sluice
