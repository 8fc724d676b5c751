#include "lib/l7/http1/header_lines.hpp"

#include "lib/l7/http1/cookie_list.hpp"
#include "lib/l7/http1/texts.hpp"

#include <algorithm>
#include <bit>
#include <string_view>

namespace sluice::http1 {

namespace {

struct HeaderName {
    ByteView name;       // absent: the line is none of a header's
    std::size_t behind;  // the colon
};

// A name's token ends at `token`, and `colon` is the first one behind it.
HeaderName name_before(ByteView line, std::size_t token, std::size_t colon, bool is_spaced,
                       HeadShapes& shapes) noexcept {
    if (colon == 0) {
        shapes.add(HeadShape::EmptyHeaderName);
        return {};
    }
    if (token == colon) {
        return {line.first(token), colon + 1};
    }
    const bool is_name = token != 0 && is_spaced;
    shapes.add(is_name ? HeadShape::SpaceBeforeColon : HeadShape::BadHeaderName);
    return is_name ? HeaderName{line.first(token), colon + 1} : HeaderName{};
}

// The name of a line whose first block does not say it.
[[gnu::noinline]] HeaderName read_long_name(ByteView line, HeadShapes& shapes) noexcept {
    const std::size_t token = find_token_end(line, 0);
    const std::size_t colon = find_byte(line, token, ':');
    if (colon == line.size()) {
        shapes.add(HeadShape::NoColon);
        return {};
    }
    const bool is_spaced = without_blanks(line.subspan(token, colon - token)).empty();
    return name_before(line, token, colon, is_spaced, shapes);
}

// Text that stands in the place of a name and is none, `token` bytes of one aside. A head may have
// thousands of such lines, so most are told by their first block.
[[gnu::hot, gnu::noinline]] HeaderName read_odd_name(ByteView line, Block begin, std::size_t token,
                                                     HeadShapes& shapes) noexcept {
    if (is_blank(line.front())) {
        shapes.add(HeadShape::ObsFold);  // of a value that nobody wants
        return {};
    }
    const std::uint32_t within =
        line.size() >= kBlock ? ~std::uint32_t{0} : (std::uint32_t{1} << line.size()) - 1;
    const std::uint32_t colons = equal_mask(begin, ':') & within;
    if (colons == 0 && line.size() <= kBlock) {
        shapes.add(HeadShape::NoColon);
        return {};
    }
    if (colons == 0 || token >= kBlock) {
        return read_long_name(line, shapes);
    }
    const std::uint32_t before_colon = (colons & (~colons + 1)) - 1;
    const std::uint32_t behind_token = before_colon & (~std::uint32_t{0} << token);
    const std::uint32_t blanks = equal_mask(begin, ' ') | equal_mask(begin, '\t');
    return name_before(line, token, static_cast<std::size_t>(std::countr_zero(colons)),
                       (behind_token & ~blanks) == 0, shapes);
}

// The end of the token at the beginning of a line, by its first bytes.
std::size_t token_end(Block begin) noexcept {
    return static_cast<std::size_t>(std::countr_zero(~token_mask(begin)));
}
// A line ends with a byte that is no token's, so no byte behind it is taken for its own.
bool is_name(const LineWalk& lines, std::size_t token) noexcept {
    return token - 1 < kBlock - 1 && lines.begin()[token] == kColon;
}

// A run of lines without a name, as quickly as those that have one. Hot, since a caller that is
// cold would make it so.
[[gnu::hot, gnu::noinline]] void skip_nameless(LineWalk& lines, HeadShapes& shapes) noexcept {
    while (lines.next()) {
        const Block begin = lines.load();
        const std::size_t token = token_end(begin);
        const ByteView line = lines.line();
        if (token == line.size()) {
            shapes.add(HeadShape::NoColon);
        } else if (is_name(lines, token) ||
                   !read_odd_name(line, begin, token, shapes).name.empty()) {
            lines.put_back();
            return;
        }
    }
}

// Cold, so that nothing of it is prepared where a name is one.
[[gnu::cold, gnu::noinline]] HeaderName read_no_name(LineWalk& lines, HeadShapes& shapes) noexcept {
    const HeaderName name =
        read_odd_name(lines.line(), lines.load(), token_end(lines.load()), shapes);
    if (name.name.empty()) {
        skip_nameless(lines, shapes);
    }
    return name;
}

// `begin`: the line's first bytes, and behind its end any.
HeaderName read_name(LineWalk& lines, Block begin, HeadShapes& shapes) noexcept {
    const std::size_t end = token_end(begin);
    if (is_name(lines, end)) [[likely]] {
        return {{lines.begin(), end}, end + 1};
    }
    return read_no_name(lines, shapes);
}

// The lines that belong to a value by obs-fold, from its first byte to the last one's.
[[gnu::cold, gnu::noinline]] ByteView fold(LineWalk& lines, ByteView value,
                                           HeadShapes& shapes) noexcept {
    shapes.add(HeadShape::ObsFold);
    while (lines.is_folded()) {
        (void)lines.next();
        const ByteView line = lines.line();
        value = {value.data(), line.data() + line.size()};
    }
    return trimmed(value, [](std::byte byte) {
        return is_blank(byte) || byte == std::byte{'\r'} || byte == std::byte{'\n'};
    });
}

// A value that others stand before and behind.
[[gnu::cold, gnu::noinline]] void add_further(std::uint8_t place, ByteView value, ByteView first,
                                              const WantedHeaders& wanted,
                                              RequestHead& head) noexcept {
    if (wanted.keeps_all(place) && as_text(value) != as_text(first)) {
        head.further.add(place, value);
    }
}

// A value of all headers with these places, a bit each, by names that are alike to theirs.
void add_alike_to(std::uint64_t places, ByteView value, const WantedHeaders& wanted,
                  RequestHead& head) noexcept {
    head.shapes.add_if(places != 0, HeadShape::AlikeHeader);
    for (; places != 0; places &= places - 1) {
        const auto place = static_cast<std::uint8_t>(std::countr_zero(places));
        if (const ByteView before = head.add_alike(place, value); is_present(before)) {
            add_further(place, before, head.alike(place).first, wanted, head);
        }
    }
}

// A line whose name is alike to one that rules name.
[[gnu::cold, gnu::noinline]] void add_alike(std::uint8_t place, std::size_t behind, LineWalk& lines,
                                            const WantedHeaders& wanted,
                                            RequestHead& head) noexcept {
    ByteView value = without_blanks(lines.line().subspan(behind));
    if (lines.is_folded()) {
        value = fold(lines, value, head.shapes);
    }
    add_alike_to(wanted.alike(static_cast<std::uint8_t>(place & ~WantedHeaders::kAlike)), value,
                 wanted, head);
}

// Headers that came, with these places, by their own names, which are alike to others of the rules.
[[gnu::cold, gnu::noinline]] void add_paired(std::uint64_t places, const WantedHeaders& wanted,
                                             RequestHead& head) noexcept {
    const FurtherValues further = head.further;
    for (; places != 0; places &= places - 1) {
        const auto place = static_cast<std::uint8_t>(std::countr_zero(places));
        const std::uint64_t others = wanted.alike(place) & ~(std::uint64_t{1} << place);
        const HeaderText own = head.header(place);
        add_alike_to(others, own.first, wanted, head);
        for (const FurtherValues::Value& value : further.values()) {
            add_alike_to(value.place == place ? others : 0, value.text, wanted, head);
        }
        if (own.last.data() != own.first.data()) {
            add_alike_to(others, own.last, wanted, head);
        }
    }
}

HttpUpgrade with_protocol(HttpUpgrade upgrade, const ReadableText& protocol) noexcept {
    static constexpr LowerWord kH2c{"h2c"};
    static constexpr LowerWord kWebSocket{"websocket"};
    if (protocol.size() == 0 || upgrade == HttpUpgrade::H2c) {
        return upgrade;
    }
    const std::size_t end = find_byte(protocol, 0, [](Block block) {
        return equal_mask(block, ';') | equal_mask(block, ' ') | equal_mask(block, '\t');
    });
    // The token counts whatever follows it, as lighttpd takes it, which serves h2c.
    const ReadableText token = protocol.with(protocol.bytes().first(end));
    const HttpUpgrade asked = equals_ignoring_case(token, kH2c)            ? HttpUpgrade::H2c
                              : equals_ignoring_case(protocol, kWebSocket) ? HttpUpgrade::WebSocket
                                                                           : HttpUpgrade::Other;
    const bool is_first = upgrade == HttpUpgrade::None || asked == HttpUpgrade::H2c;
    return is_first || upgrade == asked ? asked : HttpUpgrade::Other;
}

// A line of Upgrade or HTTP2-Settings, `protocols` in one of Upgrade. Of its own, as it is rare.
[[gnu::cold, gnu::noinline]] void add_upgrade_line(HeadRange line, const ReadableText& protocols,
                                                   RequestHead& head) noexcept {
    head.upgrade_lines.add(line);
    for_each_part(protocols, ',', [&](ByteView protocol) {
        head.upgrade = with_protocol(head.upgrade, protocols.with(protocol));
    });
}

// A cookie's name came before, the last time with this value. Of its own, as it is rare.
[[gnu::cold, gnu::noinline]] void add_repeated_cookie(std::uint8_t place, ByteView before,
                                                      RequestHead& head) noexcept {
    head.shapes.add(HeadShape::RepeatedCookie);
    if (as_text(before) != as_text(head.cookie(place).first)) {
        head.further_cookies.add(place, before);
    }
}

// A function of its own, since the header is rare.
[[gnu::cold, gnu::noinline]] void add_expectation(ByteView value, HeadShapes& shapes) noexcept {
    const bool is_usual =
        value.empty() || equals_ignoring_case(value, std::string_view{"100-continue"});
    shapes.add_if(!is_usual, HeadShape::OtherExpectation);
}

class HeaderReader {
public:
    HeaderReader(const LineWalk& lines, const WantedHeaders& wanted, RequestHead& head) noexcept
        : lines_{lines}, wanted_{wanted}, head_{head} {}

    // The header's line began there, and goes on up to the next one's.
    void note_folded(std::size_t begin) noexcept {
        folded_ = {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(lines_.at())};
    }
    // Adds a value of the header with this place.
    void add(std::uint8_t place, ByteView value) noexcept {
        const ByteView before = head_.add_header(place, value);
        const auto framing = static_cast<FramingHeader>(place);
        if (is_present(before)) [[unlikely]] {
            add_repeated(framing);
            add_further(place, before, head_.header(place).first, wanted_, head_);
        }
        if (place < kFramingHeaderCount) {
            add_framing(framing, value);
        }
    }
    void end() noexcept {
        if (const std::uint64_t paired = head_.present(wanted_.paired()); paired != 0)
            [[unlikely]] {
            add_paired(paired, wanted_, head_);
        }
        head_.body = framing_.framing(head_.minor_version, head_.shapes);
        const bool persists =
            head_.minor_version != 0 ? !has_close_ : has_keep_alive_ && !has_close_;
        head_.keep_alive = persists && head_.body.kind != BodyFraming::Kind::UntilClose;
    }

private:
    // Any header, of which those of the framing have names. Rules may name these too.
    void add_repeated(FramingHeader which) noexcept {
        head_.shapes.add_if(which == FramingHeader::Host, HeadShape::DuplicateHost);
        head_.shapes.add_if(which != FramingHeader::Host && which != FramingHeader::ContentLength,
                            HeadShape::RepeatedHeader);  // lengths have shapes of their own
    }
    void add_framing(FramingHeader which, ByteView value) noexcept {
        switch (which) {
            case FramingHeader::Host:
                break;
            case FramingHeader::ContentLength:
                framing_.add_content_length(lines_.readable(value), head_.shapes);
                break;
            case FramingHeader::TransferEncoding:
                framing_.add_transfer_encoding(lines_.readable(value));
                break;
            case FramingHeader::Connection:
                add_options(lines_.readable(value));
                break;
            case FramingHeader::Cookie:
                add_cookies(value);
                break;
            case FramingHeader::Upgrade:
                add_upgrade_line(line_of(), lines_.readable(value), head_);
                break;
            case FramingHeader::Http2Settings:
                add_upgrade_line(line_of(), ReadableText{{}}, head_);
                break;
            case FramingHeader::Expect:
                add_expectation(value, head_.shapes);
                break;
        }
    }
    // All that add() is told of, its folded lines included.
    [[nodiscard]] HeadRange line_of() const noexcept {
        const std::size_t begin = folded_.end == lines_.at() ? folded_.begin : lines_.begin_at();
        return {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(lines_.at())};
    }
    void add_options(const ReadableText& options) noexcept {
        if (equals_ignoring_case(options, kKeepAlive)) [[likely]] {
            has_keep_alive_ = true;
            return;
        }
        for_each_part(options, ',',
                      [this](ByteView option) { add_option(lines_.readable(option)); });
    }
    void add_option(const ReadableText& option) noexcept {
        static constexpr LowerWord kClose{"close"};
        has_close_ = has_close_ || equals_ignoring_case(option, kClose);
        has_keep_alive_ = has_keep_alive_ || equals_ignoring_case(option, kKeepAlive);
    }
    void add_cookies(ByteView value) noexcept {
        if (wanted_.cookies().size() != 0) {
            for_each_cookie(lines_.readable(value), wanted_,
                            [this](std::uint8_t place, ByteView cookie) {
                                const ByteView before = head_.add_cookie(place, cookie);
                                if (is_present(before)) [[unlikely]] {
                                    add_repeated_cookie(place, before, head_);
                                }
                            });
        }
    }

    static constexpr LowerWord kKeepAlive{"keep-alive"};

    const LineWalk& lines_;
    const WantedHeaders& wanted_;
    RequestHead& head_;
    FramingReader framing_;
    HeadRange folded_;  // the latest line that others were folded to
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
    while (lines.next()) {
        const http1::Block begin = lines.load();
        const http1::HeaderName name = http1::read_name(lines, begin, head.shapes);
        const std::uint8_t place =
            name.name.empty() ? NameTable::kNone : wanted.header(name.name, begin);
        if (place >= WantedHeaders::kAlike) {
            if (place != NameTable::kNone) [[unlikely]] {
                http1::add_alike(place, name.behind, lines, wanted, head);
            }
            continue;
        }
        ByteView value = http1::without_blanks(lines.line().subspan(name.behind));
        if (lines.is_folded()) [[unlikely]] {
            const std::size_t line_begin = lines.begin_at();
            value = http1::fold(lines, value, head.shapes);
            reader.note_folded(line_begin);
        }
        reader.add(place, value);
    }
    reader.end();
}

}  // namespace sluice
