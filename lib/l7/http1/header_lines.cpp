#include "lib/l7/http1/header_lines.hpp"

#include "lib/l7/http1/texts.hpp"

namespace sluice::http1 {

namespace {

struct HeaderName {
    ByteView name;       // absent: the line is none of a header's
    std::size_t behind;  // the colon
};

// What stands in the place of a name and is none; slow, since it is rare.
[[gnu::cold, gnu::noinline]] HeaderName read_odd_name(const Line& line,
                                                      HeadShapes& shapes) noexcept {
    const std::size_t colon = find_byte(line.bytes, line.token_end, ':');
    if (colon == line.bytes.size()) {
        shapes.add(HeadShape::NoColon);
        return {};
    }
    if (colon == 0) {
        shapes.add(HeadShape::EmptyHeaderName);
        return {};
    }
    const ByteView between = line.bytes.subspan(line.token_end, colon - line.token_end);
    const bool is_spaced = line.token_end != 0 && without_blanks(between).empty();
    shapes.add(is_spaced ? HeadShape::SpaceBeforeColon : HeadShape::BadHeaderName);
    return is_spaced ? HeaderName{line.bytes.first(line.token_end), colon + 1} : HeaderName{};
}

HeaderName read_name(const Line& line, HeadShapes& shapes) noexcept {
    // Of a token that ends its line, what is behind it is the line's end.
    const std::byte* const behind = line.bytes.data() + line.token_end;
    if (line.token_end != 0 && *behind == kColon) [[likely]] {
        return {line.bytes.first(line.token_end), line.token_end + 1};
    }
    return read_odd_name(line, shapes);
}

// The lines that belong to a value by obs-fold, from its first byte to the last one's.
[[gnu::cold, gnu::noinline]] ByteView fold(LineWalk& lines, ByteView value,
                                           HeadShapes& shapes) noexcept {
    shapes.add(HeadShape::ObsFold);
    while (lines.is_folded()) {
        const ByteView line = lines.next().bytes;
        value = {value.data(), line.data() + line.size()};
    }
    return trimmed(value, [](std::byte byte) {
        return is_blank(byte) || byte == std::byte{'\r'} || byte == std::byte{'\n'};
    });
}

class HeaderReader {
public:
    HeaderReader(const LineWalk& lines, const WantedHeaders& wanted, RequestHead& head) noexcept
        : lines_{lines}, wanted_{wanted}, head_{head} {}

    // Of the header with this place.
    void add(std::uint8_t place, ByteView value) noexcept {
        const bool is_first = head_.add_header(place, value);
        if (place >= kFramingHeaderCount) {
            head_.shapes.add_if(!is_first, HeadShape::RepeatedHeader);
            return;
        }
        add_framing(static_cast<FramingHeader>(place), value, is_first);
    }
    void end() noexcept {
        head_.body = framing_.framing(head_.minor_version, head_.shapes);
        const bool persists =
            head_.minor_version != 0 ? !has_close_ : has_keep_alive_ && !has_close_;
        head_.keep_alive = persists && head_.body.kind != BodyFraming::Kind::UntilClose;
    }

private:
    void add_framing(FramingHeader which, ByteView value, bool is_first) noexcept {
        switch (which) {
            case FramingHeader::Host:
                head_.shapes.add_if(!is_first, HeadShape::DuplicateHost);
                break;
            case FramingHeader::ContentLength:
                framing_.add_content_length(lines_.readable(value), head_.shapes);
                break;
            case FramingHeader::TransferEncoding:
                framing_.add_transfer_encoding(lines_.readable(value));
                break;
            case FramingHeader::Connection:
                for_each_part(lines_.readable(value), ',',
                              [this](ByteView option) { add_option(lines_.readable(option)); });
                break;
            case FramingHeader::Upgrade:
                for_each_part(lines_.readable(value), ',',
                              [this](ByteView protocol) { add_upgrade(lines_.readable(protocol)); });
                break;
            case FramingHeader::Cookie:
                add_cookies(value);
                break;
        }
    }
    void add_option(const ReadableText& option) noexcept {
        static constexpr LowerWord kClose{"close"};
        static constexpr LowerWord kKeepAlive{"keep-alive"};
        has_close_ = has_close_ || equals_ignoring_case(option, kClose);
        has_keep_alive_ = has_keep_alive_ || equals_ignoring_case(option, kKeepAlive);
    }
    void add_upgrade(const ReadableText& protocol) noexcept {
        static constexpr LowerWord kH2c{"h2c"};
        if (equals_ignoring_case(protocol, kH2c)) {
            head_.upgrade = HttpUpgrade::H2c;
        } else if (protocol.size() != 0 && head_.upgrade == HttpUpgrade::None) {
            head_.upgrade = HttpUpgrade::Other;
        }
    }
    void add_cookies(ByteView value) noexcept {
        if (wanted_.cookies().size() != 0) {
            const ReadableText list = lines_.readable(value);
            for_each_part(list, ';', [&](ByteView pair) { add_cookie(list.with(pair)); });
        }
    }
    void add_cookie(const ReadableText& pair) noexcept {
        if (pair.size() == 0 || !wanted_.cookies().may_begin_with(pair.bytes().front())) {
            return;
        }
        const std::size_t equals = find_byte(pair, 0, '=');
        if (equals == pair.size()) {
            return;
        }
        const ByteView name = without_blanks(pair.bytes().first(equals));
        const std::uint8_t place = wanted_.cookie(pair.with(name));
        if (place != NameTable::kNone) {
            const ByteView value = without_blanks(pair.bytes().subspan(equals + 1));
            head_.shapes.add_if(!head_.add_cookie(place, value), HeadShape::RepeatedCookie);
        }
    }

    const LineWalk& lines_;
    const WantedHeaders& wanted_;
    RequestHead& head_;
    FramingReader framing_;
    bool has_close_ = false;
    bool has_keep_alive_ = false;
};

}  // namespace

}  // namespace sluice::http1

namespace sluice {

void read_header_lines(http1::LineWalk& lines, const WantedHeaders& wanted,
                       RequestHead& head) noexcept {
    http1::HeaderReader reader{lines, wanted, head};
    if (lines.is_folded()) {
        head.shapes.add(HeadShape::SpaceBeforeFirstHeader);
        do {
            (void)lines.next();
        } while (lines.is_folded());
    }
    for (http1::Line line = lines.next(); !line.bytes.empty(); line = lines.next()) {
        const http1::HeaderName name = http1::read_name(line, head.shapes);
        const std::uint8_t place = http1::is_present(name.name)
                                       ? wanted.header(lines.readable(name.name))
                                       : NameTable::kNone;
        const bool is_wanted = place != NameTable::kNone;
        ByteView value = is_wanted ? http1::without_blanks(line.bytes.subspan(name.behind))
                                   : line.bytes.first(0);
        if (lines.is_folded()) [[unlikely]] {
            value = http1::fold(lines, value, head.shapes);
        }
        if (is_wanted) {
            reader.add(place, value);
        }
    }
    reader.end();
}

}  // namespace sluice
