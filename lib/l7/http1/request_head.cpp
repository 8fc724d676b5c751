#include "lib/l7/http1/request_head.hpp"

#include "lib/l7/http1/byte_blocks.hpp"
#include "lib/l7/http1/header_lines.hpp"
#include "lib/l7/http1/host.hpp"
#include "lib/l7/http1/path.hpp"
#include "lib/l7/http1/request_line.hpp"
#include "lib/l7/http1/texts.hpp"

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

// Shapes that single bytes have wherever they stand: a CR and an LF without each other, controls.
// True: there are high bytes too.
bool add_byte_shapes(const ReadableText& head, HeadShapes& shapes) noexcept {
    std::uint32_t cr_before = 0;
    std::uint32_t bare_lf = 0;
    std::uint32_t bare_cr = 0;
    std::uint32_t control = 0;
    std::uint32_t nul = 0;
    Block any = _mm256_setzero_si256();
    for (std::size_t at = 0; at < head.size(); at += kBlock) {
        const Block block = head.load(at);
        any = _mm256_or_si256(any, block);
        const std::uint32_t lf = equal_mask(block, '\n');
        const std::uint32_t cr = equal_mask(block, '\r');
        const std::uint32_t behind_cr = cr << 1 | cr_before;
        cr_before = cr >> 31;
        bare_lf |= lf & ~behind_cr;
        bare_cr |= behind_cr & ~lf;
        const std::uint32_t low = at_most_mask(block, 0x1F) & ~(lf | cr);
        const std::uint32_t odd = (low | equal_mask(block, 0x7F)) & head.bits_within(at);
        if (odd != 0) [[unlikely]] {
            const std::uint32_t zero = equal_mask(block, '\0') & odd;
            nul |= zero;
            control |= odd & ~zero & ~equal_mask(block, '\t');
        }
    }
    shapes.add_if(bare_lf != 0, HeadShape::BareLf);
    shapes.add_if(bare_cr != 0, HeadShape::BareCr);
    shapes.add_if(control != 0, HeadShape::ControlByte);
    shapes.add_if(nul != 0, HeadShape::Nul);
    return high_mask(any) != 0;
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

}  // namespace

}  // namespace sluice::http1

namespace sluice {

void read_request_head(ByteView bytes, const WantedHeaders& wanted, MutableBytes room,
                       RequestHead& head) noexcept {
    head.clear();
    head.size = static_cast<std::uint32_t>(bytes.size());
    http1::LineWalk lines{bytes};
    ByteView line = lines.next();
    while (line.empty()) {
        head.shapes.add(HeadShape::EmptyLineFirst);
        line = lines.next();
    }
    const bool has_high = http1::add_byte_shapes(bytes, head.shapes);
    read_request_line(lines.readable(line), head);
    const bool is_connect = http1::as_text(head.method) == "CONNECT";
    const TargetParts parts = split_target(lines.readable(head.target), is_connect,
                                           http1::as_text(head.method) == "OPTIONS", head.shapes);
    head.query = parts.query;
    http1::TextRoom texts{room};
    const bool is_root =
        http1::is_present(parts.authority) && http1::is_present(parts.path) && parts.path.empty();
    head.path =
        is_root ? bytes_of(http1::kRoot)
                : texts.keep(normalise_path(lines.readable(parts.path), texts.left(), head.shapes));
    read_header_lines(lines, wanted, head);
    const auto headers_at = static_cast<std::size_t>(line.data() + line.size() - bytes.data());
    head.shapes.add_if(has_high && http1::has_high_byte(bytes.subspan(headers_at)),
                       HeadShape::HighByteInHeader);
    http1::read_host(parts.authority, lines, texts, head);
    if (is_connect) {
        head.body = {BodyFraming::Kind::UntilClose};
        head.keep_alive = false;
    }
}

HeadStatus parse_request_head(ByteView bytes, const HeadOptions& options, MutableBytes room,
                              RequestHead& head) noexcept {
    HeadFinder finder;
    const HeadStatus status = finder.find(bytes, options.limit);
    if (status == HeadStatus::Complete) {
        read_request_head(bytes.first(finder.size()), options.wanted, room, head);
    }
    return status;
}

}  // namespace sluice
