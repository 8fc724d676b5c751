#include "lib/l7/http1/header_lines.hpp"

#include "lib/l7/http1/texts.hpp"

namespace sluice::http1 {

namespace {

struct HeaderName {
    ByteView name;       // absent: the line is none of a header's
    std::size_t behind;  // the colon
};

// What stands in the place of a name and is none; slow, since it is rare.
[[gnu::cold, gnu::noinline]] HeaderName read_odd_name(ByteView line, std::size_t token_end,
                                                      HeadShapes& shapes) noexcept {
    const std::size_t colon = find_byte(line, token_end, ':');
    if (colon == line.size()) {
        shapes.add(HeadShape::NoColon);
        return {};
    }
    if (colon == 0) {
        shapes.add(HeadShape::EmptyHeaderName);
        return {};
    }
    const bool is_spaced =
        token_end != 0 && without_blanks(line.subspan(token_end, colon - token_end)).empty();
    shapes.add(is_spaced ? HeadShape::SpaceBeforeColon : HeadShape::BadHeaderName);
    return is_spaced ? HeaderName{line.first(token_end), colon + 1} : HeaderName{};
}

HeaderName read_name(const ReadableText& text, HeadShapes& shapes) noexcept {
    const ByteView line = text.bytes();
    const std::size_t end = find_token_end(text, 0);
    if (end != 0 && end < line.size() && line[end] == kColon) [[likely]] {
        return {line.first(end), end + 1};
    }
    return read_odd_name(line, end, shapes);
}

// The lines that belong to a value by obs-fold, from its first byte to the last one's.
[[gnu::cold, gnu::noinline]] ByteView fold(LineWalk& lines, ByteView value,
                                           HeadShapes& shapes) noexcept {
    shapes.add(HeadShape::ObsFold);
    while (lines.is_folded()) {
        const ByteView line = lines.next();
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

    void add(ByteView name, ByteView value) noexcept {
        const std::uint8_t place = wanted_.header(lines_.readable(name));
        if (place == NameTable::kNone) {
            return;
        }
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
                              [this](ByteView option) { add_option(option); });
                break;
            case FramingHeader::Upgrade:
                for_each_part(lines_.readable(value), ',',
                              [this](ByteView protocol) { add_upgrade(protocol); });
                break;
            case FramingHeader::Cookie:
                add_cookies(value);
                break;
        }
    }
    void add_option(ByteView option) noexcept {
        has_close_ = has_close_ || equals_ignoring_case(option, "close");
        has_keep_alive_ = has_keep_alive_ || equals_ignoring_case(option, "keep-alive");
    }
    void add_upgrade(ByteView protocol) noexcept {
        if (equals_ignoring_case(protocol, "h2c")) {
            head_.upgrade = HttpUpgrade::H2c;
        } else if (!protocol.empty() && head_.upgrade == HttpUpgrade::None) {
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
    for (ByteView line = lines.next(); !line.empty(); line = lines.next()) {
        const http1::HeaderName name = http1::read_name(lines.readable(line), head.shapes);
        ByteView value = http1::without_blanks(line.subspan(name.behind));
        if (lines.is_folded()) [[unlikely]] {
            value = http1::fold(lines, value, head.shapes);
        }
        if (http1::is_present(name.name)) {
            reader.add(name.name, value);
        }
    }
    reader.end();
}

}  // namespace sluice
