#include "lib/l7/http1/followed_body.hpp"

#include "lib/l7/http1/texts.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <type_traits>

namespace sluice {
namespace {

// The last bytes of a state, which a scanner of chunks leaves free.
constexpr std::size_t kFree = 4;
constexpr std::size_t kScannerBytes = sizeof(ChunkScanner) - kFree;
constexpr std::size_t kWatchAt = 14;
constexpr std::size_t kKindAt = 15;
constexpr std::byte kSizedMark{0x53};

struct BehindScanner : ChunkScanner {
    std::array<std::byte, kFree> free;
};
static_assert(std::is_trivially_copyable_v<ChunkScanner> &&
                  sizeof(ChunkScanner) == sizeof(FollowedBody::State) &&
                  sizeof(BehindScanner) == sizeof(ChunkScanner),
              "the last bytes of a scanner are none of its own, and no value");

// The handlers of http.server of Python read no body of theirs, and programs of their kind.
constexpr auto kUnreadMethods =
    std::to_array<std::string_view>({"GET", "HEAD", "DELETE", "OPTIONS", "TRACE"});

// A chunked body's data among so many of its bytes. `look` is given each piece of it and its place,
// until it returns false.
template <typename Look>
void for_each_data(std::size_t taken, const ChunkLines& lines, Look&& look) noexcept {
    std::size_t at = 0;
    for (const PayloadRange& line : lines.all()) {
        if (line.begin > at && !look(at, line.begin - at)) {
            return;
        }
        at = line.end;
    }
    if (taken > at) {
        (void)look(at, taken - at);
    }
}

// The lines of a piece that begins at `at`, but for its bytes up to `from`.
void add_at(std::size_t at, const ChunkLines& piece, ChunkLines& lines,
            std::size_t from = 0) noexcept {
    for (const PayloadRange& line : piece.all()) {
        for (std::size_t each = std::max<std::size_t>(line.begin, from); each < line.end; ++each) {
            lines.add(at + each);
        }
    }
}

}  // namespace

BodyWatch watch_of(const RequestHead& head) noexcept {
    return BodyWatch{std::ranges::find(kUnreadMethods, http1::as_text(head.method)) !=
                     kUnreadMethods.end()};
}

FollowedBody::FollowedBody(const State& state) noexcept
    : is_sized_{state[kKindAt] == kSizedMark}, watch_{BodyWatch::from(state[kWatchAt])} {
    if (is_sized_) {
        std::memcpy(&left_, state.data(), sizeof(left_));
    } else {
        std::memcpy(&chunks_, state.data(), sizeof(chunks_));
    }
}

FollowedBody::State FollowedBody::state() const noexcept {
    State state{};
    if (is_sized_) {
        std::memcpy(state.data(), &left_, sizeof(left_));
    } else {
        std::memcpy(state.data(), &chunks_, kScannerBytes);
    }
    state[kWatchAt] = watch_.state();
    state[kKindAt] = is_sized_ ? kSizedMark : std::byte{0};
    return state;
}

std::size_t FollowedBody::feed(ByteView bytes, HeadShapes& shapes, ChunkLines& lines) noexcept {
    return is_sized_ ? feed_sized(bytes, shapes, lines) : feed_chunks(bytes, shapes, lines);
}

std::size_t FollowedBody::feed_sized(ByteView bytes, HeadShapes& shapes,
                                     ChunkLines& lines) noexcept {
    const auto taken = static_cast<std::size_t>(std::min<std::uint64_t>(left_, bytes.size()));
    left_ -= taken;
    const BodyWatch::Look look = watch_.look_at(bytes.first(taken));
    shapes.add_if(look.is_request, HeadShape::RequestInBody);
    for (std::size_t at = 0; at < look.bytes; ++at) {
        lines.add(at);
    }
    return taken;
}

std::size_t FollowedBody::feed_chunks(ByteView bytes, HeadShapes& shapes,
                                      ChunkLines& lines) noexcept {
    if (!watch_.looks()) [[likely]] {
        return chunks_.feed(bytes, shapes, &lines);
    }
    std::size_t at = 0;
    while (watch_.looks() && at < bytes.size() && !is_done() && !is_broken()) {
        at += feed_watched(bytes, at, shapes, lines);
    }
    ChunkLines rest;
    const std::size_t taken = chunks_.feed(bytes.subspan(at), shapes, &rest);
    add_at(at, rest, lines);
    return at + taken;
}

// At most kMost bytes: there is room for each of their lines, so that no data is taken for one.
std::size_t FollowedBody::feed_watched(ByteView bytes, std::size_t at, HeadShapes& shapes,
                                       ChunkLines& lines) noexcept {
    const ByteView piece = bytes.subspan(at, std::min(ChunkLines::kMost, bytes.size() - at));
    ChunkLines own;
    const std::size_t taken = chunks_.feed(piece, shapes, &own);
    bool is_request = false;
    std::size_t watched = 0;
    for_each_data(taken, own, [&](std::size_t from, std::size_t size) {
        const BodyWatch::Look look = watch_.look_at(piece.subspan(from, size));
        is_request = is_request || look.is_request;
        watched = look.bytes == 0 ? watched : from + look.bytes;
        return watch_.looks();
    });
    shapes.add_if(is_request, HeadShape::RequestInBody);
    for (std::size_t each = 0; each < watched; ++each) {
        lines.add(at + each);
    }
    add_at(at, own, lines, watched);
    return taken;
}

}  // namespace sluice
