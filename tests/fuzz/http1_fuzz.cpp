#include "lib/l7/http1/resync.hpp"

#include "tests/unit/l7/http1/body_end.hpp"
#include "tests/unit/l7/http1/head_text.hpp"
#include "tests/unit/l7/http1/llhttp_oracle.hpp"
#include "tests/unit/l7/http1/slow_model.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

using namespace sluice;
using namespace sluice::test;

void require(bool condition, std::string_view what) {
    if (!condition) {
        std::fprintf(stderr, "%.*s\n", static_cast<int>(what.size()), what.data());
        std::abort();
    }
}

bool lies_in(ByteView text, ByteView bytes) {
    return text.data() >= bytes.data() && text.data() + text.size() <= bytes.data() + bytes.size();
}

// Texts lie in the head or in the room, and the parser says what the model says.
void check_head(std::string_view bytes, std::size_t limit, ReadingStance stance) {
    const ParsedHead parsed{bytes, limit, std::size_t{16} << 10, stance};
    const SlowHead slow = read_slowly(bytes, limit, stance);
    require(parsed.status == slow.status && parsed.fault == slow.fault, "status");
    if (parsed.status != HeadStatus::Complete) {
        return;
    }
    const RequestHead& head = parsed.head;
    for (const ByteView one : {head.method, head.target, head.path, head.query, head.host}) {
        require(one.empty() || lies_in(one, parsed.bytes) || lies_in(one, parsed.room) ||
                    text(one) == "/",
                "place");
    }
    require(head.size == slow.size, "size");
    require(text(head.method) == slow.method && text(head.target) == slow.target, "line");
    require(text(head.path) == slow.path && text(head.query) == slow.query, "path");
    require(text(head.host) == slow.host, "host");
    require(head.body == slow.body && head.keep_alive == slow.keep_alive, "framing");
    require(head.upgrade == slow.upgrade && head.ends_connection() == slow.ends_connection, "end");
    for (const HeadShapeRow& row : kHeadShapes) {
        const bool is_ours_alone =
            row.shape == HeadShape::RepeatedHeader || row.shape == HeadShape::RepeatedCookie ||
            row.shape == HeadShape::AlikeHeader || row.shape == HeadShape::HighSpaceInHeader;
        require(is_ours_alone || head.shapes.has(row.shape) == slow.shapes.contains(row.shape),
                row.name);
    }
}

// A body ends at one place and has one finding of its watch, whatever the pieces; the watch moves
// no end.
void check_body(const BodyFraming& framing, ByteView bytes, std::size_t piece) {
    BodyEnd whole;
    for (const BodyWatch watch : {BodyWatch{true}, BodyWatch{}}) {
        const BodyEnd watched = whole;
        whole = follow_body(framing, watch, bytes, std::max<std::size_t>(bytes.size(), 1));
        require(whole.can_be && whole == follow_body(framing, watch, bytes, piece), "pieces");
        if (!watch.looks()) {
            BodyEnd end = watched;
            end.shapes = end.shapes.without({HeadShape::RequestInBody});
            require(whole == end, "watch");
        }
    }
}

// The bytes of a body that nobody has looked at may be others.
void check_lines_of(const BodyFraming& framing, ByteView bytes, BodyWatch watch) {
    struct Reading {
        Reading(const BodyFraming& of, BodyWatch looks, ByteView from) : body{of, looks} {
            taken = body.feed(from, shapes, lines);
        }
        FollowedBody body;
        HeadShapes shapes;
        ChunkLines lines;
        std::size_t taken = 0;
    };
    const Reading first{framing, watch, bytes};
    std::vector<std::byte> others(bytes.begin(), bytes.end());
    std::size_t at = 0;
    const auto change_to = [&](std::size_t end) {
        for (; at < end; ++at) {
            others[at] ^= std::byte{0x55};
        }
    };
    for (const PayloadRange& line : first.lines.all()) {
        require(line.begin < line.end && line.end <= first.taken, "line beyond the body");
        change_to(line.begin);
        at = line.end;
    }
    change_to(others.size());
    const Reading second{framing, watch, others};
    require(second.taken == first.taken && second.shapes == first.shapes &&
                second.body.state() == first.body.state(),
            "lines");
}

void check_bodies(ByteView bytes, std::uint8_t choice) {
    for (const BodyFraming framing : {BodyFraming{BodyFraming::Kind::Chunked},
                                      BodyFraming{BodyFraming::Kind::Length, choice}}) {
        check_body(framing, bytes, choice % 8 + 1U);
        check_lines_of(framing, bytes, BodyWatch{});
        check_lines_of(framing, bytes, BodyWatch{true});
    }
}

// Lines in the middle of a stream, of which so many bytes came before: a whole line that is a
// request's where the segment begins is never passed over.
void check_lines(ByteView bytes, std::size_t before) {
    const std::size_t from = std::min(before, bytes.size());
    const LinesLook look = look_through_lines(bytes, bytes.size() - from);
    require(look.at <= bytes.size(), "line");
    const bool is_found =
        look.what == LinesLook::What::Request || look.what == LinesLook::What::Doubtful;
    const RequestStart alone = find_request_start(bytes, from, ReadingStance::Service);
    require(is_found || !alone.is_found, "passed over");
    if (look.what == LinesLook::What::Half || look.what == LinesLook::What::MayBe) {
        require(look.at < bytes.size(), "empty line");
    }
}

}  // namespace

// The first byte chooses the limit and the pieces of what follows.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 1) {
        return 0;
    }
    const std::string_view bytes{reinterpret_cast<const char*>(data + 1), size - 1};
    for (const ReadingStance stance : {ReadingStance::Anywhere, ReadingStance::Service}) {
        check_head(bytes, kDefaultHeadLimit, stance);
        check_head(bytes, kMinHeadLimit + data[0], stance);
        const RequestStart start = find_request_start(bytes_of(bytes), 0, stance);
        require(start.at <= bytes.size(), "start");
    }
    check_lines(bytes_of(bytes), data[0]);
    require(disagreement_with_llhttp(bytes).empty(), "llhttp");
    check_bodies(bytes_of(bytes), data[0]);
    return 0;
}
