#include "lib/l7/http1/request_head.hpp"

#include "lib/l7/http1/byte_blocks.hpp"
#include "lib/l7/http1/header_lines.hpp"
#include "lib/l7/http1/host.hpp"
#include "lib/l7/http1/path.hpp"
#include "lib/l7/http1/request_line.hpp"
#include "lib/l7/http1/texts.hpp"
#include "lib/l7/http1/url_target.hpp"

#include <algorithm>
#include <bit>
#include <string_view>

namespace sluice::http1 {

namespace {

// The path of an absolute target that has none.
constexpr std::string_view kRoot = "/";

// Room for normalised texts, one behind the other.
class TextRoom {
public:
    explicit TextRoom(MutableBytes room) noexcept : room_{room} {}

    [[nodiscard]] MutableBytes left() const noexcept { return room_; }
    // A text that may lie at the beginning of what is left stays.
    ByteView keep(ByteView text) noexcept {
        if (!room_.empty() && text.data() == room_.data()) {
            room_ = room_.subspan(text.size());
        }
        return text;
    }

private:
    MutableBytes room_;
};

// The empty lines before a request line, and their shapes.
std::size_t skip_empty_lines(ByteView bytes, HeadShapes& shapes) noexcept {
    std::size_t at = 0;
    while (at < bytes.size() && (bytes[at] == kLf || bytes[at] == kCr)) {
        const bool has_cr = bytes[at] == kCr;
        const bool is_bare = has_cr && (at + 1 == bytes.size() || bytes[at + 1] != kLf);
        shapes.add(HeadShape::EmptyLineFirst);
        shapes.add_if(!has_cr, HeadShape::BareLf);
        shapes.add_if(is_bare, HeadShape::BareCr);
        at += has_cr && !is_bare ? 2 : 1;
    }
    return at;
}

bool has_high_byte(ByteView text) noexcept {
    return find_byte(text, 0, high_mask) != text.size();
}

// The host by the target and by the header.
void read_host(ByteView authority, const LineWalk& lines, TextRoom& room,
               RequestHead& head) noexcept {
    const ReadableText sent = lines.readable(head.header(FramingHeader::Host).first);
    if (!is_present(authority)) {
        head.shapes.add_if(!is_present(sent.bytes()) && head.minor_version != 0, HeadShape::NoHost);
        head.host = room.keep(normalise_host(sent, room.left(), head.shapes));
        return;
    }
    head.host = room.keep(normalise_host(authority, room.left(), head.shapes));
    head.shapes.add_if(authority.empty(), HeadShape::BadHost);
    if (is_present(sent.bytes())) {
        const ByteView other = normalise_host(sent, room.left(), head.shapes);
        head.shapes.add_if(as_text(other) != as_text(head.host), HeadShape::HostsDiffer);
    }
}

// A target that some read a host in, of which servers disagree what it is.
[[gnu::cold, gnu::noinline]] void check_network_host(ByteView path, MutableBytes scratch,
                                                     HeadShapes& shapes) noexcept {
    HeadShapes doubts;
    (void)normalise_host(without_user(split_network_path(path).host), scratch, doubts);
    shapes.add_if(doubts.has(HeadShape::BadHost), HeadShape::BadNetworkHost);
}

// The path and the query of a target, and its authority, which is what comes back.
ByteView read_target(const LineWalk& lines, bool is_connect, TextRoom& room,
                     RequestHead& head) noexcept {
    const ReadableText target = lines.readable(head.target);
    TargetParts parts;
    if (!is_connect && split_plain_target(target, parts)) [[likely]] {
        head.path = parts.path;
        head.query = parts.query;
        return {};
    }
    parts = split_target(target, is_connect, as_text(head.method) == "OPTIONS", head.shapes);
    head.query = parts.query;
    if (head.shapes.has(HeadShape::NetworkPath)) {
        check_network_host(parts.path, room.left(), head.shapes);
    }
    const bool is_root =
        is_present(parts.authority) && is_present(parts.path) && parts.path.empty();
    head.path =
        is_root ? bytes_of(kRoot)
                : room.keep(normalise_path(lines.readable(parts.path), room.left(), head.shapes));
    return parts.authority;
}

// At an end, 0x85 or 0xA0 that some programs take off. Of UTF-8 one may be the end of a letter.
bool has_high_space(ByteView value) noexcept {
    const auto is_space = [](std::byte byte) {
        return byte == std::byte{0x85} || byte == std::byte{0xA0};
    };
    if (value.empty() || is_space(value.front())) {
        return !value.empty();
    }
    std::size_t end = value.size();
    while (is_space(value[end - 1])) {
        --end;  // the first byte is none
    }
    return end != value.size() && value[end - 1] < std::byte{0x80};
}
// In a header that rules name, or one alike.
[[gnu::cold, gnu::noinline]] bool has_high_space(const WantedHeaders& wanted,
                                                 const RequestHead& head) noexcept {
    bool has_one = false;
    for (std::uint8_t place = 0; place < wanted.headers().size(); ++place) {
        if (wanted.keeps_all(place)) {
            const HeaderText own = head.header(place);
            const HeaderText alike = head.alike(place);
            has_one = has_one || has_high_space(own.first) || has_high_space(own.last) ||
                      has_high_space(alike.first) || has_high_space(alike.last);
        }
    }
    for (const FurtherValues::Value& value : head.further.values()) {
        has_one = has_one || has_high_space(value.text);
    }
    return has_one;
}

// All but the request line, which has been read.
void read_behind_line(LineWalk& lines, const WantedHeaders& wanted, MutableBytes room,
                      RequestHead& head) noexcept {
    TextRoom texts{room};
    const bool is_connect = as_text(head.method) == "CONNECT";
    const ByteView authority = read_target(lines, is_connect, texts, head);
    const std::size_t headers_at = lines.at();
    read_header_lines(lines, wanted, head);
    lines.add_byte_shapes(head.shapes);
    if (lines.has_high_byte() && !head.shapes.has(HeadShape::MissingVersion)) [[unlikely]] {
        head.shapes.add_if(has_high_byte(lines.head().subspan(headers_at)),
                           HeadShape::HighByteInHeader);
        head.shapes.add_if(has_high_space(wanted, head), HeadShape::HighSpaceInHeader);
    }
    read_host(authority, lines, texts, head);
    if (is_connect) [[unlikely]] {
        head.upgrade = HttpUpgrade::Connect;
        head.shapes.add_if(head.body.kind != BodyFraming::Kind::None, HeadShape::ConnectBody);
    }
}

// Could a request line begin here? No other protocol's first bytes shall cost a pass over all.
bool begins_with_method(ByteView bytes) noexcept {
    const std::uint32_t others = ~token_mask(ReadableText{bytes}.load(0));
    const auto end = static_cast<std::size_t>(std::countr_zero(others));
    return end != 0 && end < bytes.size() && bytes[end] == std::byte{' '};
}

// Finds and reads a head in one pass, if it is whole, its request line is of the usual layout, and
// there are not too many lines. False: it may be whole all the same.
bool read_usual_head(ByteView bytes, const WantedHeaders& wanted, MutableBytes room,
                     ReadingStance stance, RequestHead& head) noexcept {
    if (!begins_with_method(bytes)) {
        return false;
    }
    LineWalk lines{bytes};
    if (lines.head_size() == 0 || !lines.next()) {
        return false;
    }
    head.clear();
    head.size = static_cast<std::uint32_t>(lines.head_size());
    if (!read_usual_line(lines.readable(lines.line()), head)) {
        return false;
    }
    if (head.target.front() != kSlash && stance == ReadingStance::Anywhere) [[unlikely]] {
        return false;  // it may be no target
    }
    read_behind_line(lines, wanted, room, head);
    return true;
}

}  // namespace

}  // namespace sluice::http1

namespace sluice {

void read_request_head(ByteView bytes, const WantedHeaders& wanted, MutableBytes room,
                       RequestHead& head) noexcept {
    head.clear();
    head.size = static_cast<std::uint32_t>(bytes.size());
    const std::size_t begin = http1::skip_empty_lines(bytes, head.shapes);
    http1::LineWalk lines{bytes.subspan(begin)};
    (void)lines.next();
    const http1::ReadableText line = lines.readable(lines.line());
    if (!read_usual_line(line, head)) {
        read_request_line(line.bytes(), head);
    }
    http1::read_behind_line(lines, wanted, room, head);
    head.upgrade_lines.shift(static_cast<std::uint32_t>(begin));
}

FoundHead find_request_head(ByteView bytes, const HeadOptions& options, MutableBytes room,
                            RequestHead& head) noexcept {
    if (http1::read_usual_head(bytes.first(std::min(bytes.size(), options.limit)), options.wanted,
                               room, options.stance, head)) {
        return {HeadStatus::Complete, head.size, true, LineFault::None};
    }
    HeadFinder finder{options.stance};
    const HeadStatus status = finder.find(bytes, options.limit);
    if (status == HeadStatus::Complete) {
        read_request_head(bytes.first(finder.size()), options.wanted, room, head);
    }
    return {status, finder.size(), finder.has_line(), finder.fault()};
}

}  // namespace sluice
