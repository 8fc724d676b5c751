#pragma once
#include "lib/base/bytes.hpp"
#include "lib/base/reading_stance.hpp"
#include "lib/l7/http1/line_fault.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sluice {

// The status of the bytes that have come so far.
enum class HeadStatus : std::uint8_t {
    NeedMore,   // could still become any of the others
    Complete,   // the head of a request, whole
    NotHttp,    // no request, whatever follows: fault() says why
    TooLong,    // a request line, and a head beyond the limit
    H2Preface,  // HTTP/2 in clear with prior knowledge (RFC 9113, 3.4)
};

inline constexpr std::string_view kH2Preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
inline constexpr std::size_t kDefaultHeadLimit = std::size_t{16} << 10;
inline constexpr std::size_t kMinHeadLimit = 64;
inline constexpr std::size_t kMaxHeadLimit = std::size_t{64} << 10;

// Finds the end of one request's head in bytes that come piece by piece. A request is recognised by
// its first line, as the stance has it. The head ends with the first empty line behind it; one of
// HTTP/0.9 with its line.
//
// What find() answers does not depend on how the bytes came: it is NeedMore for every shorter
// beginning and the same for every longer one. Each byte is looked at a bounded number of times,
// also when they come one by one.
class HeadFinder {
public:
    explicit HeadFinder(ReadingStance stance = ReadingStance::Anywhere) noexcept
        : stance_{stance} {}

    // `so_far`: all bytes from the first one on, at least those of the call before. `limit`: bytes
    // that a head may have, empty lines before it included; the same in every call.
    [[nodiscard]] HeadStatus find(ByteView so_far, std::size_t limit = kDefaultHeadLimit) noexcept;

    // After Complete and H2Preface: its bytes, the empty line included.
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    // A request line has been found, whether or not the head has ended.
    [[nodiscard]] bool has_line() const noexcept { return has_line_; }
    // After NotHttp.
    [[nodiscard]] LineFault fault() const noexcept { return fault_; }

private:
    [[nodiscard]] HeadStatus find_line(ByteView bytes) noexcept;
    [[nodiscard]] HeadStatus find_whole_line(ByteView bytes) noexcept;
    [[nodiscard]] bool skip_empty_lines(ByteView bytes) noexcept;
    [[nodiscard]] HeadStatus none(LineFault fault) noexcept {
        fault_ = fault;
        return HeadStatus::NotHttp;
    }

    std::uint32_t scanned_ = 0;  // before here neither the line nor the head ends
    std::uint32_t begin_ = 0;    // of the request line
    std::uint32_t size_ = 0;
    bool has_line_ = false;
    bool is_line_all_ = false;  // HTTP/0.9
    ReadingStance stance_;
    LineFault fault_ = LineFault::None;
};
static_assert(sizeof(HeadFinder) == 16, "a stream keeps one between segments");

// The beginning of a line that has not ended, to servers of HTTP: all of them want a token for a
// method.
enum class HalfLine : std::uint8_t {
    None,    // no request's
    May,     // a request's, or any other text
    Target,  // a method, and what targets begin with or nothing yet
};
// `line`: at least one byte, no LF.
[[nodiscard]] HalfLine half_line(ByteView line) noexcept;

// A connection that begins so can be HTTP.
[[nodiscard]] inline bool may_begin_request(ByteView bytes, ReadingStance stance) noexcept {
    return HeadFinder{stance}.find(bytes, kMaxHeadLimit) != HeadStatus::NotHttp;
}

}  // namespace sluice
