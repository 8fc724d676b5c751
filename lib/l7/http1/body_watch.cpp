#include "lib/l7/http1/body_watch.hpp"

#include "lib/l7/http1/byte_classes.hpp"

namespace sluice {
namespace {

bool is_watched_space(std::byte byte) noexcept {
    return http1::is(byte, http1::kLineSpace) || byte == http1::kLf;
}
// Netty skips all of these before a request.
bool is_before_line(std::byte byte) noexcept {
    return http1::is_control(byte) || byte == std::byte{' '} ||
           (byte >= std::byte{0x80} && byte <= std::byte{0xA0});
}

}  // namespace

BodyWatch::Look BodyWatch::look_at_data(ByteView data) noexcept {
    for (std::size_t at = 0; at < data.size() && looks_at_data(); ++at) {
        if (is_watched_space(data[at]) || http1::is(data[at], http1::kHighSpace)) {
            continue;
        }
        bits_ &= static_cast<std::uint8_t>(~kFirstByte);
        return {at + 1, http1::is(data[at], http1::kToken)};
    }
    return {looks_at_data() ? data.size() : 0, false};
}

BodyWatch::Look BodyWatch::look_at_line(ByteView bytes) noexcept {
    std::size_t at = 0;
    while (at < bytes.size() && looks_at_line()) {
        const std::byte byte = bytes[at++];
        const Line before = line();
        if (byte == http1::kLf && before != Line::Begin) {
            set(Line::None);
            return {at, before == Line::Minor || before == Line::VersionEnd};
        }
        set(behind(before, byte));
    }
    return {at, false};
}

BodyWatch::Line BodyWatch::behind(Line line, std::byte byte) noexcept {
    const bool is_blank = http1::is(byte, http1::kLineSpace);
    switch (line) {
        case Line::Begin:
            return is_before_line(byte) ? line : Line::Method;
        case Line::Method:
            return is_blank ? Line::BehindMethod : line;
        case Line::BehindMethod:
            return is_blank ? line : Line::Target;
        case Line::Target:
            return is_blank ? Line::Blank : line;
        case Line::Minor:
        case Line::VersionEnd:
            return is_blank ? Line::VersionEnd : in_version(line, byte);
        default:
            return is_blank ? Line::Blank : in_version(line, byte);
    }
}

// Any name, a slash, and two numbers with a dot between.
BodyWatch::Line BodyWatch::in_version(Line line, std::byte byte) noexcept {
    if (http1::is_digit(byte)) {
        return line == Line::Slash || line == Line::Major ? Line::Major
               : line == Line::Dot || line == Line::Minor ? Line::Minor
                                                          : Line::Word;
    }
    if (byte == http1::kDot && line == Line::Major) {
        return Line::Dot;
    }
    const bool is_behind_name = line != Line::Blank && line != Line::VersionEnd;
    return byte == http1::kSlash && is_behind_name ? Line::Slash : Line::Word;
}

}  // namespace sluice
