#include "lib/l7/http1/body_framing.hpp"

#include "lib/l7/http1/texts.hpp"

#include <optional>

namespace sluice::http1 {

namespace {

// The longest text of one Content-Length line that is read: a number below 2^63 has 19 digits. A
// longer one is no number, so that a list of thousands costs nothing.
constexpr std::size_t kMaxLengthText = 64;

// Nullopt: no digits alone, or 2^63 or more.
std::optional<std::uint64_t> read_length(ByteView digits) noexcept {
    constexpr std::uint64_t kMost = (std::uint64_t{1} << 63) - 1;
    std::uint64_t length = 0;
    for (const std::byte digit : digits) {
        const std::uint64_t value = std::to_integer<std::uint64_t>(digit) - '0';
        if (!is_digit(digit) || length > (kMost - value) / 10) {
            return std::nullopt;
        }
        length = length * 10 + value;
    }
    return digits.empty() ? std::nullopt : std::optional{length};
}

}  // namespace

}  // namespace sluice::http1

namespace sluice {

void FramingReader::add_content_length(const http1::ReadableText& value,
                                       HeadShapes& shapes) noexcept {
    if (value.size() > http1::kMaxLengthText) {
        shapes.add(HeadShape::BadContentLength);
        is_length_bad_ = true;
        return;
    }
    http1::for_each_part(value, ',', [&](ByteView part) { add_length(part, shapes); });
}

void FramingReader::add_length(ByteView digits, HeadShapes& shapes) noexcept {
    const std::optional<std::uint64_t> length = http1::read_length(digits);
    if (!length) {
        shapes.add(HeadShape::BadContentLength);
        is_length_bad_ = true;
        return;
    }
    if (has_length_) {
        const bool is_same = *length == length_;
        shapes.add(is_same ? HeadShape::DuplicateContentLength : HeadShape::ContentLengthsDiffer);
        is_length_bad_ = is_length_bad_ || !is_same;
    }
    has_length_ = true;
    length_ = *length;
}

void FramingReader::add_transfer_encoding(const http1::ReadableText& value) noexcept {
    has_encoding_ = true;
    http1::for_each_part(value, ',', [&](ByteView part) { add_coding(part); });
}

void FramingReader::add_coding(ByteView coding) noexcept {
    const std::size_t name_end = http1::find_token_end(coding, 0);
    const ByteView rest = http1::without_blanks(coding.subspan(name_end));
    const bool is_plain = name_end != 0 && (rest.empty() || rest.front() == std::byte{';'});
    const bool is_chunked = http1::equals_ignoring_case(coding.first(name_end), "chunked");
    // Chunked is the last, and has no parameters.
    is_encoding_bad_ =
        is_encoding_bad_ || !is_plain || is_chunked_ || (is_chunked && !rest.empty());
    is_chunked_ = is_chunked_ || is_chunked;
}

BodyFraming FramingReader::framing(std::uint8_t minor_version, HeadShapes& shapes) const noexcept {
    const bool any_length = has_length_ || is_length_bad_;
    if (has_encoding_) {
        shapes.add_if(any_length, HeadShape::LengthAndEncoding);
        shapes.add_if(minor_version == 0, HeadShape::TransferEncodingIn10);
        const bool is_usable = is_chunked_ && !is_encoding_bad_;
        shapes.add_if(!is_usable, HeadShape::BadTransferEncoding);
        return {is_usable ? BodyFraming::Kind::Chunked : BodyFraming::Kind::UntilClose};
    }
    if (is_length_bad_) {
        return {BodyFraming::Kind::UntilClose};
    }
    return has_length_ && length_ != 0 ? BodyFraming{BodyFraming::Kind::Length, length_}
                                       : BodyFraming{};
}

}  // namespace sluice
