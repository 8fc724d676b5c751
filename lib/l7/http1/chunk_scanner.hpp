#pragma once
#include "lib/base/bytes.hpp"
#include "lib/l7/http1/ambiguity.hpp"

#include <cstddef>
#include <cstdint>

namespace sluice {

// Finds the end of a chunked body (RFC 9112, 7.1) in bytes that come piece by piece: its state is
// the place in the grammar and the bytes left of the chunk at hand. Data is stepped over, the lines
// between are read byte by byte.
class ChunkScanner {
public:
    // Of the line of one chunk, extensions and leading zeroes included, and of all trailers.
    static constexpr std::uint16_t kMaxLine = 4096;
    static constexpr std::uint16_t kMaxTrailers = 16 << 10;

    // How many of the bytes belong to the body: all of them unless it ends, or breaks, before.
    [[nodiscard]] std::size_t feed(ByteView bytes, HeadShapes& shapes) noexcept;
    // Steps over bytes that nobody has seen. False: they were not all data of one chunk, so the
    // place in the body is lost.
    [[nodiscard]] bool skip(std::uint64_t bytes) noexcept;

    [[nodiscard]] bool is_done() const noexcept { return place_ == Place::Done; }
    // False: its bytes are nothing that a scanner left.
    [[nodiscard]] bool can_be() const noexcept { return place_ <= Place::Broken; }
    // BadChunk: no end can be found any more.
    [[nodiscard]] bool is_broken() const noexcept { return place_ == Place::Broken; }

private:
    enum class Place : std::uint8_t {
        FirstDigit,
        Size,
        BehindSize,
        Extension,
        SizeLf,  // behind the CR of a chunk's line
        Data,
        DataEnd,
        DataLf,  // behind the CR of a chunk's data
        TrailerBegin,
        Trailer,
        TrailerLf,  // behind a CR in a trailer
        LastLf,     // behind the CR of the empty line
        Done,
        Broken,
    };

    [[nodiscard]] Place next(std::byte byte, HeadShapes& shapes) noexcept;
    [[nodiscard]] Place behind_size(std::byte byte, HeadShapes& shapes) noexcept;
    [[nodiscard]] Place in_extension(std::byte byte, HeadShapes& shapes) noexcept;
    [[nodiscard]] Place in_trailer(std::byte byte, HeadShapes& shapes) const noexcept;
    [[nodiscard]] Place add_digit(std::byte digit) noexcept;
    [[nodiscard]] Place end_line() noexcept;

    std::uint64_t left_ = 0;              // bytes of the chunk
    std::uint16_t line_or_trailers_ = 0;  // bytes of the chunk's line, or of the trailers, so far
    Place place_ = Place::FirstDigit;
};

}  // namespace sluice
