#pragma once
#include "lib/base/bytes.hpp"

#include <cstddef>
#include <cstdint>

namespace sluice {

// The head of a response, read byte by byte as it comes, for what it says of where its body ends
// (RFC 9112, 6.3): the status, Content-Length, Transfer-Encoding. Nothing of it is kept. A head
// that two clients might frame in two ways is Broken.
class ResponseHead {
public:
    static constexpr std::uint16_t kMaxSize = 0xFFFF;

    // The number of bytes that belong to the head: all of them unless it ends, or breaks, before.
    [[nodiscard]] std::size_t feed(ByteView bytes) noexcept;

    [[nodiscard]] bool is_done() const noexcept { return place_ == Place::Done; }
    // No response of HTTP/1 that can be framed.
    [[nodiscard]] bool is_broken() const noexcept { return place_ == Place::Broken; }

    // The status of a head that is done.
    [[nodiscard]] std::uint16_t status() const noexcept { return status_; }
    enum class Body : std::uint8_t { Length, Chunked, UntilClose };
    [[nodiscard]] Body body() const noexcept;
    // Bytes of a Body::Length that have not been taken off.
    [[nodiscard]] std::uint64_t length() const noexcept { return length_; }
    void take_off(std::uint64_t bytes) noexcept { length_ -= bytes; }  // length() at most

private:
    enum class Place : std::uint8_t {
        Version,  // HTTP/1.
        Minor,
        Status,
        Reason,
        LineBegin,
        Name,
        Length,
        Encoding,
        OtherValue,
        LineLf,  // behind the CR of a line
        LastLf,  // behind the CR of the empty line
        Done,
        Broken,
    };
    // Findings so far, and names that the one at hand may still be.
    enum Flag : std::uint8_t {
        kMayBeLength = 1U << 0U,
        kMayBeEncoding = 1U << 1U,
        kHasLength = 1U << 2U,
        kHasEncoding = 1U << 3U,
        kIsChunked = 1U << 4U,  // by the latest coding
        kIsMinorZero = 1U << 5U,
    };

    [[nodiscard]] Place next(std::byte byte) noexcept;
    [[nodiscard]] Place in_version(std::byte byte) noexcept;
    [[nodiscard]] Place in_minor(std::byte byte) noexcept;
    [[nodiscard]] Place in_status(std::byte byte) noexcept;
    [[nodiscard]] Place begin_line(std::byte byte) noexcept;
    [[nodiscard]] Place in_name(std::byte byte) noexcept;
    [[nodiscard]] Place end_name() noexcept;
    [[nodiscard]] Place in_length(std::byte byte) noexcept;
    [[nodiscard]] Place in_encoding(std::byte byte) noexcept;
    [[nodiscard]] Place in_text(std::byte byte) const noexcept;
    void end_coding() noexcept;
    [[nodiscard]] bool has(Flag flag) const noexcept { return (flags_ & flag) != 0; }
    void keep_if(bool matches, Flag flag) noexcept {
        flags_ = static_cast<std::uint8_t>(matches ? flags_ : flags_ & ~flag);
    }
    [[nodiscard]] Place end_head() noexcept;

    std::uint64_t length_ = 0;
    std::uint16_t size_ = 0;
    std::uint16_t status_ = 0;
    Place place_ = Place::Version;
    std::uint8_t at_ = 0;  // within the word at hand
    std::uint8_t flags_ = 0;
};
static_assert(sizeof(ResponseHead) == 16, "a part of what is kept of each connection");

}  // namespace sluice
