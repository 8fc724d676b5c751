#pragma once
#include "lib/base/bytes.hpp"
#include "lib/l7/http1/ambiguity.hpp"
#include "lib/packet/payload_range.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace sluice {

// Places of the bytes of a chunked body that are no data, in the bytes it was read in. Neighbours
// are one; of more than there is room for the last reaches from its own beginning on.
class ChunkLines {
public:
    static constexpr std::size_t kMost = 40;

    void add(std::size_t at) noexcept {
        const auto place = static_cast<std::uint32_t>(at);
        if (count_ != 0 && (places_[count_ - 1].end == place || count_ == kMost)) {
            places_[count_ - 1].end = place + 1;
        } else {
            places_[count_++] = {place, place + 1};
        }
    }
    [[nodiscard]] std::span<const PayloadRange> all() const noexcept {
        return std::span{places_}.first(count_);
    }

private:
    std::size_t count_ = 0;
    std::array<PayloadRange, kMost> places_;
};

// Finds the end of a chunked body (RFC 9112, 7.1) in bytes that come piece by piece: its state is
// the place in the grammar and the bytes left of the chunk at hand. Data is stepped over, the lines
// between are read byte by byte.
class ChunkScanner {
public:
    // Some servers keep a size in 32 bits, and take 2^32 for none. No client's chunk comes near,
    // and a server's may be a file.
    enum class Of : std::uint8_t { Requests, Answers };
    static constexpr unsigned kRequestBits = 31;
    static constexpr unsigned kAnswerBits = 63;
    // Bytes in the line of one chunk, extensions and leading zeroes included, and in all trailers.
    static constexpr std::uint16_t kMaxLine = 4096;
    static constexpr std::uint16_t kMaxTrailers = 16 << 10;

    explicit constexpr ChunkScanner(Of of = Of::Requests) noexcept : of_{of} {}

    // How many of the bytes belong to the body: all of them unless it ends, or breaks, before.
    // `lines`: takes the places of those that are no data.
    [[nodiscard]] std::size_t feed(ByteView bytes, HeadShapes& shapes,
                                   ChunkLines* lines = nullptr) noexcept;
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
        TrailerName,
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
    Of of_;
};

}  // namespace sluice
