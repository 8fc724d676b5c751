#pragma once
#include "lib/base/bytes.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sluice {

// What the bytes that have come so far begin with.
enum class HeadStatus : std::uint8_t {
    NeedMore,   // could still become any of the others
    Complete,   // the head of a request, whole
    NotHttp,    // no request of HTTP/1, whatever follows; HTTP/0.9 is none
    TooLong,    // a request line, and a head beyond the limit
    H2Preface,  // HTTP/2 in clear with prior knowledge (RFC 9113, 3.4)
};

inline constexpr std::string_view kH2Preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
// Longer than any method of IANA's registry, so that other protocols are soon told apart.
inline constexpr std::size_t kMaxMethodSize = 32;
inline constexpr std::size_t kDefaultHeadLimit = std::size_t{16} << 10;
inline constexpr std::size_t kMinHeadLimit = 64;
inline constexpr std::size_t kMaxHeadLimit = std::size_t{64} << 10;

// Finds the end of one request's head in bytes that come piece by piece. A request is recognised by
// its first line: a token, blanks, a target, blanks, "HTTP/" and something. The head ends with the
// first empty line behind it.
//
// What find() answers does not depend on how the bytes came: it is NeedMore for every shorter
// beginning and the same for every longer one. Each byte is looked at a bounded number of times,
// also when they come one by one.
class HeadFinder {
public:
    // `so_far`: all bytes from the first one on, at least those of the call before. `limit`: bytes
    // that a head may have, empty lines before it included; the same in every call.
    [[nodiscard]] HeadStatus find(ByteView so_far, std::size_t limit = kDefaultHeadLimit) noexcept;

    // After Complete and H2Preface: its bytes, the empty line included.
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    // A request line has been found, whether or not the head has ended.
    [[nodiscard]] bool has_line() const noexcept { return has_line_; }

private:
    [[nodiscard]] HeadStatus find_line(ByteView bytes) noexcept;
    [[nodiscard]] bool skip_empty_lines(ByteView bytes) noexcept;

    std::uint32_t scanned_ = 0;  // before here neither the line nor the head ends
    std::uint32_t begin_ = 0;    // of the request line
    std::uint32_t size_ = 0;
    bool has_line_ = false;
};

}  // namespace sluice
