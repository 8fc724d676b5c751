#include "lib/l7/http1/chunk_scanner.hpp"

#include "lib/l7/http1/byte_classes.hpp"

#include <algorithm>

namespace sluice {

std::size_t ChunkScanner::feed(ByteView bytes, HeadShapes& shapes, ChunkLines* lines) noexcept {
    std::size_t at = 0;
    while (at < bytes.size() && !is_done() && !is_broken()) {
        if (place_ == Place::Data) {
            const std::uint64_t step = std::min<std::uint64_t>(left_, bytes.size() - at);
            left_ -= step;
            at += step;
            place_ = left_ == 0 ? Place::DataEnd : Place::Data;
            continue;
        }
        const bool in_trailers = place_ >= Place::TrailerBegin;
        ++line_or_trailers_;
        if (lines != nullptr) {
            lines->add(at);
        }
        place_ = line_or_trailers_ > (in_trailers ? kMaxTrailers : kMaxLine)
                     ? Place::Broken
                     : next(bytes[at], shapes);
        ++at;
    }
    shapes.add_if(is_broken(), HeadShape::BadChunk);
    return at;
}

bool ChunkScanner::skip(std::uint64_t bytes) noexcept {
    if (bytes == 0) {
        return true;
    }
    if (place_ != Place::Data || bytes > left_) {
        place_ = Place::Broken;
        return false;
    }
    left_ -= bytes;
    place_ = left_ == 0 ? Place::DataEnd : Place::Data;
    return true;
}

ChunkScanner::Place ChunkScanner::next(std::byte byte, HeadShapes& shapes) noexcept {
    switch (place_) {
        case Place::FirstDigit:
            return http1::is(byte, http1::kHexDigit) ? add_digit(byte) : Place::Broken;
        case Place::Size:
            return http1::is(byte, http1::kHexDigit) ? add_digit(byte) : behind_size(byte, shapes);
        case Place::BehindSize:
            return behind_size(byte, shapes);
        case Place::Extension:
            return in_extension(byte, shapes);
        case Place::SizeLf:
            return byte == http1::kLf ? end_line() : Place::Broken;
        case Place::DataEnd:
            line_or_trailers_ = 0;
            shapes.add_if(byte == http1::kLf, HeadShape::BareLf);
            return byte == http1::kLf   ? Place::FirstDigit
                   : byte == http1::kCr ? Place::DataLf
                                        : Place::Broken;
        case Place::DataLf:
            line_or_trailers_ = 0;
            return byte == http1::kLf ? Place::FirstDigit : Place::Broken;
        case Place::LastLf:
            return byte == http1::kLf ? Place::Done : Place::Broken;
        case Place::Data:
        case Place::Done:
        case Place::Broken:
            return place_;
        default:
            return in_trailer(byte, shapes);
    }
}

ChunkScanner::Place ChunkScanner::add_digit(std::byte digit) noexcept {
    constexpr unsigned kDigit = 4;
    const unsigned bits = of_ == Of::Requests ? kRequestBits : kAnswerBits;
    if (left_ >> (bits - kDigit) != 0) {
        return Place::Broken;
    }
    left_ = left_ << 4 | http1::hex_value(digit);
    return Place::Size;
}

ChunkScanner::Place ChunkScanner::behind_size(std::byte byte, HeadShapes& shapes) noexcept {
    if (http1::is_blank(byte)) {
        shapes.add(HeadShape::ChunkLineSpace);
        return Place::BehindSize;
    }
    return byte == std::byte{';'} || byte == http1::kCr || byte == http1::kLf
               ? in_extension(byte, shapes)
               : Place::Broken;
}

ChunkScanner::Place ChunkScanner::in_extension(std::byte byte, HeadShapes& shapes) noexcept {
    if (byte == http1::kCr) {
        return Place::SizeLf;
    }
    if (byte == http1::kLf) {
        shapes.add(HeadShape::BareLf);
        return end_line();
    }
    shapes.add_if(http1::is_control(byte) && !http1::is_blank(byte), HeadShape::ControlByte);
    return Place::Extension;
}

ChunkScanner::Place ChunkScanner::in_trailer(std::byte byte, HeadShapes& shapes) const noexcept {
    const bool is_token = http1::is(byte, http1::kToken);
    if (place_ == Place::TrailerName) {
        return is_token                ? Place::TrailerName
               : byte == http1::kColon ? Place::Trailer
                                       : Place::Broken;
    }
    if (place_ == Place::TrailerBegin && byte != http1::kLf && byte != http1::kCr) {
        return is_token ? Place::TrailerName : Place::Broken;
    }
    if (byte == http1::kLf) {
        shapes.add_if(place_ != Place::TrailerLf, HeadShape::BareLf);
        return place_ == Place::TrailerBegin ? Place::Done : Place::TrailerBegin;
    }
    shapes.add_if(place_ == Place::TrailerLf, HeadShape::BareCr);
    if (byte == http1::kCr) {
        return place_ == Place::TrailerBegin ? Place::LastLf : Place::TrailerLf;
    }
    shapes.add_if(http1::is_control(byte) && !http1::is_blank(byte), HeadShape::ControlByte);
    return Place::Trailer;
}

ChunkScanner::Place ChunkScanner::end_line() noexcept {
    line_or_trailers_ = 0;
    return left_ == 0 ? Place::TrailerBegin : Place::Data;
}

}  // namespace sluice
