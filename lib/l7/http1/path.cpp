#include "lib/l7/http1/path.hpp"

#include "lib/l7/http1/texts.hpp"

#include <algorithm>

namespace sluice::http1 {

namespace {

// Could the form of this path be another, or has it a shape? A / before / or ., a % and a high byte
// could change.
bool may_change(const ReadableText& path) noexcept {
    for (std::size_t at = 0; at < path.size(); at += kBlock) {
        const Block block = path.load(at);
        const Block next = path.load(at + 1);
        const std::uint32_t dot_or_slash = equal_mask(next, '/') | equal_mask(next, '.');
        const std::uint32_t found = equal_mask(block, '%') | equal_mask(block, '\\') |
                                    high_mask(block) | (equal_mask(block, '/') & dot_or_slash);
        if ((found & path.bits_within(at)) != 0) {
            return true;
        }
    }
    return false;
}

// Writes the form, segment by segment.
class PathWriter {
public:
    PathWriter(MutableBytes room, HeadShapes& shapes) noexcept : room_{room}, shapes_{shapes} {}

    void write(ByteView path) noexcept {
        for (std::size_t at = 0; at < path.size() && !is_cut_;) {
            at += path[at] == kPercent ? write_percent(path.subspan(at)) : write_byte(path[at]);
        }
        if (is_cut_) {
            shapes_.add(HeadShape::PathTooLong);
        } else {
            end_segment();
        }
    }
    [[nodiscard]] ByteView text() const noexcept { return room_.first(size_); }

private:
    void put(std::byte byte) noexcept {
        is_cut_ = is_cut_ || size_ == room_.size();
        if (!is_cut_) {
            room_[size_++] = byte;
        }
    }
    void put_encoded(std::byte byte) noexcept {
        constexpr std::string_view kDigits = "0123456789ABCDEF";
        is_cut_ = is_cut_ || size_ + 3 > room_.size();
        const auto value = std::to_integer<unsigned>(byte);
        put(kPercent);
        put(static_cast<std::byte>(kDigits[value >> 4]));
        put(static_cast<std::byte>(kDigits[value & 0xFU]));
    }
    std::size_t write_byte(std::byte byte) noexcept {
        if (byte == kSlash) {
            end_segment();
            if (size_ == 0 || room_[size_ - 1] != kSlash) {
                put(kSlash);
            }
            segment_ = size_;
        } else if (is_high(byte)) {
            put_encoded(byte);
        } else {
            shapes_.add_if(byte == kBackslash, HeadShape::Backslash);
            put(byte);
        }
        return 1;
    }
    std::size_t write_percent(ByteView rest) noexcept {
        if (rest.size() < 3 || !is(rest[1], kHexDigit) || !is(rest[2], kHexDigit)) {
            shapes_.add(HeadShape::BadPercent);
            put_encoded(kPercent);
            return 1;
        }
        const auto byte = static_cast<std::byte>(hex_value(rest[1]) << 4 | hex_value(rest[2]));
        if (is(byte, kUnreserved)) {
            put(byte);
        } else {
            shapes_.add_if(byte == kSlash, HeadShape::EncodedSlash);
            shapes_.add_if(may_stand_in_path(byte), HeadShape::EncodedReserved);
            shapes_.add_if(byte == std::byte{0}, HeadShape::EncodedNul);
            put_encoded(byte);
        }
        return 3;
    }
    // Takes away a segment "." and, with ".." , the one before it, up to the slash before.
    void end_segment() noexcept {
        const ByteView segment = room_.subspan(segment_, size_ - segment_);
        if (segment.size() == 1 && segment[0] == kDot) {
            shapes_.add(HeadShape::DotSegment);
            size_ = segment_;
        } else if (segment.size() == 2 && segment[0] == kDot && segment[1] == kDot) {
            shapes_.add(HeadShape::DotSegment);
            shapes_.add_if(segment_ <= 1, HeadShape::AboveRoot);
            size_ = std::max<std::size_t>(segment_, 1) - 1;
            while (size_ > 0 && room_[size_ - 1] != kSlash) {
                --size_;
            }
            size_ = std::max<std::size_t>(size_, 1);
        }
    }

    MutableBytes room_;
    HeadShapes& shapes_;
    std::size_t size_ = 0;
    std::size_t segment_ = 0;  // where the one at hand begins
    bool is_cut_ = false;      // the room has ended
};

}  // namespace

}  // namespace sluice::http1

namespace sluice {

ByteView normalise_path(const http1::ReadableText& path, MutableBytes room,
                        HeadShapes& shapes) noexcept {
    const ByteView sent = path.bytes();
    if (sent.empty() || sent.front() != http1::kSlash || !http1::may_change(path)) {
        return sent;
    }
    http1::PathWriter writer{room, shapes};
    writer.write(sent);
    const ByteView form = writer.text();
    return http1::as_text(form) == http1::as_text(sent) ? sent : form;
}

ByteView path_prefix(ByteView path, std::size_t segments) noexcept {
    std::size_t end = 0;
    for (; segments > 0 && end < path.size(); --segments) {
        end = http1::find_byte(path, end + 1, '/');
    }
    return path.first(end);
}

}  // namespace sluice
