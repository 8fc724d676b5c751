#include "lib/units/quic_kept_hellos.hpp"

#include "lib/conn/tick.hpp"

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
// In the words of lib/conn.
constexpr StreamPhase kKept = StreamPhase::UntilClose;

}  // namespace

QuicKeptHellos::QuicKeptHellos(std::size_t hellos, Nanoseconds lasts)
    : lasts_{ticks_of(lasts) + 1},
      lines_{2 * hellos},
      lost_{lasts, kLost},
      hellos_(hellos + 1),
      free_(hellos),
      bytes_{zeroed_array<std::byte>(chunks_for(hellos) * KeptHello::kChunkBytes)},
      free_chunks_(chunks_for(hellos)) {
    std::iota(free_.rbegin(), free_.rend(), 1U);
    std::iota(free_chunks_.rbegin(), free_chunks_.rend(), std::uint16_t{0});
}

std::uint64_t QuicKeptHellos::memory_of(std::size_t hellos) noexcept {
    return ConnectionLines::memory_of(2 * hellos) + RecentDigests::memory(kLost) +
           (hellos + 1) * (sizeof(KeptHello) + sizeof(std::uint32_t)) +
           chunks_for(hellos) * (KeptHello::kChunkBytes + sizeof(std::uint16_t));
}

void QuicKeptHellos::keep(std::uint64_t id, std::uint64_t path, const ConnectionId& client_dcid,
                          ByteView hello, Instant now) noexcept {
    if (const ConnectionIndex line = lines_.find(id); line != kNoConnection) {
        lines_[line].touched = ticks_of(now.time_since_epoch());
        ages_.remove(lines_, line);
        ages_.push_newest(lines_, line);
        return;
    }
    const std::size_t chunks = (hello.size() + KeptHello::kChunkBytes - 1) / KeptHello::kChunkBytes;
    limit_path(path, now);
    if (chunks > KeptHello::kMostChunks || !make_room(chunks, now)) {
        lost_.note(id, now);
        lost_.note(path, now);
        return;
    }
    ConnectionIndex of_path = lines_.find(path);
    of_path = of_path == kNoConnection ? lines_.add(path) : of_path;
    const ConnectionIndex of_id = of_path == kNoConnection ? kNoConnection : lines_.add(id);
    if (of_id == kNoConnection) {
        if (of_path != kNoConnection && lines_[of_path].held == 0) {
            lines_.remove(of_path);
        }
        lost_.note(id, now);
        lost_.note(path, now);
        return;
    }
    const std::uint32_t number = free_.back();
    free_.pop_back();
    KeptHello& kept = hellos_[number];
    kept = {.client_dcid = client_dcid,
            .size = static_cast<std::uint16_t>(hello.size()),
            .on_path = lines_[of_path].held,
            .id = id,
            .path = path};
    for (std::size_t i = 0; i < chunks; ++i) {
        kept.chunks[i] = free_chunks_.back();
        free_chunks_.pop_back();
        const std::size_t at = i * KeptHello::kChunkBytes;
        const ByteView part =
            hello.subspan(at, std::min(hello.size() - at, KeptHello::kChunkBytes));
        std::memcpy(chunk(kept.chunks[i]), part.data(), part.size());
    }
    lines_[of_path].phase = lines_[of_id].phase = kKept;
    lines_[of_path].held = lines_[of_id].held = number;
    lines_[of_id].touched = ticks_of(now.time_since_epoch());
    ages_.push_newest(lines_, of_id);
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

// Another one can begin on the path.
void QuicKeptHellos::limit_path(std::uint64_t path, Instant now) noexcept {
    unsigned count = 0;
    std::uint64_t oldest = 0;
    (void)any_on(path, [&](const KeptHello& kept) {
        ++count;
        oldest = kept.id;
        return false;
    });
    if (count >= kPerPath) {
        lose(lines_.find(oldest), now);
    }
}

bool QuicKeptHellos::make_room(std::size_t chunks, Instant now) noexcept {
    while ((free_.empty() || free_chunks_.size() < chunks) && ages_.oldest() != kNoConnection) {
        lose(ages_.oldest(), now);
    }
    return !free_.empty() && free_chunks_.size() >= chunks;
}

void QuicKeptHellos::lose(ConnectionIndex line, Instant now) noexcept {
    const KeptHello& kept = hellos_[lines_[line].held];
    lost_.note(kept.id, now);
    lost_.note(kept.path, now);
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
    ages_.remove(lines_, line);
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
    for (unsigned i = 0; i < kKeptExpiredAtOnce && ages_.oldest() != kNoConnection; ++i) {
        if (ticks - lines_[ages_.oldest()].touched <= lasts_) {
            return;
        }
        remove(ages_.oldest());
    }
}

}  // namespace sluice
