#include "lib/l7/http1/response_head.hpp"

#include "lib/l7/http1/byte_classes.hpp"

#include <algorithm>
#include <string_view>

namespace sluice {
namespace {

constexpr std::string_view kVersion = "HTTP/1.";
constexpr std::string_view kLengthName = "content-length";
constexpr std::string_view kEncodingName = "transfer-encoding";
constexpr std::string_view kChunked = "chunked";

// Places of `at_` within a value that has been read.
constexpr std::uint8_t kBefore = 0;
constexpr std::uint8_t kInside = 1;
constexpr std::uint8_t kBehind = 2;
constexpr std::uint8_t kChunkedBehind = kChunked.size() + 1;  // and blanks
constexpr std::uint8_t kOtherCoding = 0xFF;

bool is_at(std::string_view word, std::size_t at, std::byte byte) noexcept {
    return at < word.size() && http1::to_lower(byte) == static_cast<std::byte>(word[at]);
}

}  // namespace

std::size_t ResponseHead::feed(ByteView bytes) noexcept {
    std::size_t at = 0;
    while (at < bytes.size() && !is_done() && !is_broken()) {
        place_ = size_ == kMaxSize ? Place::Broken : next(bytes[at]);
        size_ = static_cast<std::uint16_t>(size_ + (size_ == kMaxSize ? 0 : 1));
        ++at;
    }
    return at;
}

ResponseHead::Body ResponseHead::body() const noexcept {
    if (has(kHasEncoding)) {
        return has(kIsChunked) ? Body::Chunked : Body::UntilClose;
    }
    return has(kHasLength) ? Body::Length : Body::UntilClose;
}

ResponseHead::Place ResponseHead::next(std::byte byte) noexcept {
    switch (place_) {
        case Place::Version:
            return in_version(byte);
        case Place::Minor:
            return in_minor(byte);
        case Place::Status:
            return in_status(byte);
        case Place::LineBegin:
            return begin_line(byte);
        case Place::Name:
            return in_name(byte);
        case Place::Length:
            return in_length(byte);
        case Place::Encoding:
            return in_encoding(byte);
        case Place::Reason:
        case Place::OtherValue:
            return in_text(byte);
        case Place::LineLf:
            return byte == http1::kLf ? Place::LineBegin : Place::Broken;
        case Place::LastLf:
            return byte == http1::kLf ? end_head() : Place::Broken;
        default:
            return place_;
    }
}

ResponseHead::Place ResponseHead::in_version(std::byte byte) noexcept {
    if (byte != static_cast<std::byte>(kVersion[at_])) {
        return Place::Broken;
    }
    ++at_;
    return at_ == kVersion.size() ? Place::Minor : Place::Version;
}

ResponseHead::Place ResponseHead::in_minor(std::byte byte) noexcept {
    if (at_ == kVersion.size() && http1::is_digit(byte)) {
        flags_ = byte == std::byte{'0'} ? std::uint8_t{kIsMinorZero} : std::uint8_t{0};
        ++at_;
        return Place::Minor;
    }
    const bool ends = at_ > kVersion.size() && byte == std::byte{' '};
    at_ = 0;
    return ends ? Place::Status : Place::Broken;
}

ResponseHead::Place ResponseHead::in_status(std::byte byte) noexcept {
    constexpr std::uint8_t kDigits = 3;
    if (at_ < kDigits) {
        ++at_;
        status_ = static_cast<std::uint16_t>(status_ * 10 + std::to_integer<unsigned>(byte) - '0');
        return http1::is_digit(byte) && status_ != 0 ? Place::Status : Place::Broken;
    }
    return http1::is_blank(byte) || byte == http1::kCr || byte == http1::kLf ? in_text(byte)
                                                                             : Place::Broken;
}

// A line that goes on with the one before is read in two ways (RFC 9112, 5.2).
ResponseHead::Place ResponseHead::begin_line(std::byte byte) noexcept {
    if (byte == http1::kCr) {
        return Place::LastLf;
    }
    if (byte == http1::kLf) {
        return end_head();
    }
    at_ = 0;
    flags_ |= kMayBeLength | kMayBeEncoding;
    return in_name(byte);
}

// Blanks in a name or before its colon are dropped by one client, and end the line for another.
ResponseHead::Place ResponseHead::in_name(std::byte byte) noexcept {
    if (byte == std::byte{':'}) {
        return end_name();
    }
    if (http1::is_blank(byte) || http1::is_control(byte)) {
        return Place::Broken;
    }
    keep_if(is_at(kLengthName, at_, byte), kMayBeLength);
    keep_if(is_at(kEncodingName, at_, byte), kMayBeEncoding);
    at_ = static_cast<std::uint8_t>(std::min(at_ + 1, 0xFF));
    return Place::Name;
}

ResponseHead::Place ResponseHead::end_name() noexcept {
    const bool is_length = has(kMayBeLength) && at_ == kLengthName.size();
    const bool is_encoding = has(kMayBeEncoding) && at_ == kEncodingName.size();
    if (at_ == 0 || (is_length && has(kHasLength))) {
        return Place::Broken;
    }
    at_ = kBefore;
    flags_ |= is_length ? kHasLength : 0;
    flags_ |= is_encoding ? kHasEncoding : 0;
    return is_length ? Place::Length : is_encoding ? Place::Encoding : Place::OtherValue;
}

ResponseHead::Place ResponseHead::in_length(std::byte byte) noexcept {
    constexpr std::uint64_t kMost = (std::uint64_t{1} << 60U) - 1;
    if (http1::is_blank(byte)) {
        at_ = at_ == kBefore ? kBefore : kBehind;
        return Place::Length;
    }
    if (byte == http1::kCr || byte == http1::kLf) {
        return at_ == kBefore ? Place::Broken : in_text(byte);
    }
    if (!http1::is_digit(byte) || at_ == kBehind || length_ > kMost / 10) {
        return Place::Broken;
    }
    at_ = kInside;
    length_ = length_ * 10 + std::to_integer<std::uint64_t>(byte) - '0';
    return Place::Length;
}

// Chunked counts where it is the last of the codings.
ResponseHead::Place ResponseHead::in_encoding(std::byte byte) noexcept {
    if (byte == http1::kCr || byte == http1::kLf) {
        end_coding();
        return in_text(byte);
    }
    if (byte == std::byte{','}) {
        end_coding();
        at_ = kBefore;
    } else if (http1::is_blank(byte)) {
        const bool is_within = at_ != kBefore && at_ != kOtherCoding;
        at_ = is_within ? (at_ >= kChunked.size() ? kChunkedBehind : kOtherCoding) : at_;
    } else {
        at_ = is_at(kChunked, at_, byte) ? static_cast<std::uint8_t>(at_ + 1) : kOtherCoding;
    }
    return http1::is_control(byte) && !http1::is_blank(byte) ? Place::Broken : Place::Encoding;
}

void ResponseHead::end_coding() noexcept {
    if (at_ != kBefore) {
        const bool is_chunked = at_ == kChunked.size() || at_ == kChunkedBehind;
        flags_ = static_cast<std::uint8_t>((flags_ & ~kIsChunked) | (is_chunked ? kIsChunked : 0));
    }
}

ResponseHead::Place ResponseHead::in_text(std::byte byte) const noexcept {
    return byte == http1::kCr        ? Place::LineLf
           : byte == http1::kLf      ? Place::LineBegin
           : place_ == Place::Status ? Place::Reason
                                     : place_;
}

// Two lengths are two readings, and HTTP/1.0 has no chunks (RFC 9112, 6.1).
ResponseHead::Place ResponseHead::end_head() noexcept {
    const bool is_doubtful =
        has(kHasEncoding) && (has(kHasLength) || (has(kIsMinorZero) && has(kIsChunked)));
    return is_doubtful ? Place::Broken : Place::Done;
}

}  // namespace sluice
