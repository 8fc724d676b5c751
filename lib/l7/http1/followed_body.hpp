#pragma once
#include "lib/base/bytes.hpp"
#include "lib/l7/http1/body_framing.hpp"
#include "lib/l7/http1/body_watch.hpp"
#include "lib/l7/http1/chunk_scanner.hpp"
#include "lib/l7/http1/request_head.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace sluice {

// The watch over the body of a request whose method has none by its meaning, which servers of note
// leave unread.
[[nodiscard]] BodyWatch watch_of(const RequestHead& head) noexcept;

// A body that is followed piece by piece to its end: in chunks, or one of known length that is
// watched. Kept between two pieces as its state.
class FollowedBody {
public:
    using State = std::array<std::byte, 16>;

    // `framing`: Length or Chunked.
    FollowedBody(const BodyFraming& framing, BodyWatch watch) noexcept
        : is_sized_{framing.kind == BodyFraming::Kind::Length},
          left_{framing.length},
          watch_{watch} {}
    explicit FollowedBody(const State& state) noexcept;
    [[nodiscard]] State state() const noexcept;

    // How many of the bytes belong to the body. `lines`: takes the places of those that say where
    // it ends, or that the watch has looked at.
    [[nodiscard]] std::size_t feed(ByteView bytes, HeadShapes& shapes, ChunkLines& lines) noexcept;

    [[nodiscard]] bool is_done() const noexcept {
        return is_sized_ ? left_ == 0 : chunks_.is_done();
    }
    [[nodiscard]] bool is_broken() const noexcept { return !is_sized_ && chunks_.is_broken(); }
    // The bytes that are left of a body of known length whose watch is over: they may be anything,
    // and come in any order. nullopt: it has to be followed.
    [[nodiscard]] std::optional<std::uint64_t> unwatched() const noexcept {
        return is_sized_ && !watch_.looks() ? std::optional{left_} : std::nullopt;
    }
    // False: its state is none that a body left.
    [[nodiscard]] bool can_be() const noexcept {
        return watch_.can_be() && (is_sized_ || chunks_.can_be());
    }

private:
    [[nodiscard]] std::size_t feed_sized(ByteView bytes, HeadShapes& shapes,
                                         ChunkLines& lines) noexcept;
    [[nodiscard]] std::size_t feed_chunks(ByteView bytes, HeadShapes& shapes,
                                          ChunkLines& lines) noexcept;
    [[nodiscard]] std::size_t feed_watched(ByteView bytes, std::size_t at, HeadShapes& shapes,
                                           ChunkLines& lines) noexcept;

    bool is_sized_;
    std::uint64_t left_ = 0;  // of a sized one
    ChunkScanner chunks_;
    BodyWatch watch_;
};

}  // namespace sluice
