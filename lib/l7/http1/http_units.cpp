#include "lib/l7/http1/http_units.hpp"

#include "lib/l7/http1/byte_classes.hpp"
#include "lib/l7/http1/byte_masks.hpp"
#include "lib/l7/http1/followed_body.hpp"
#include "lib/l7/http1/other_reading.hpp"
#include "lib/l7/http1/request_readings.hpp"
#include "lib/l7/stream/unit_text.hpp"
#include "lib/l7/stream/wanted_protocols.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <span>
#include <type_traits>

namespace sluice {
namespace {

constexpr ConstantText kHttp{"http"};
constexpr ConstantText kH2c{"h2c"};

static_assert(std::is_same_v<FollowedBody::State, FramingState>);

// A body that some server leaves unread is watched at a service whose requests matter, until it has
// begun.
UnitBody followed(const RequestHead& head, bool watches) noexcept {
    const BodyWatch watch = watches ? watch_of(head) : BodyWatch{};
    const bool is_sized = head.body.kind == BodyFraming::Kind::Length;
    if (is_sized && !watch.looks()) {
        return {.kind = UnitBody::Kind::Sized, .bytes = head.body.length};
    }
    return {.kind = UnitBody::Kind::Framed, .framing = FollowedBody{head.body, watch}.state()};
}

// A service's connection goes unread behind a request that ends it, and a request for another
// protocol is one like any other until the server agrees. Elsewhere a body that does not end for
// certain is looked through for what begins like a request.
UnitBody body_of(const RequestHead& head, bool is_service, bool matters) noexcept {
    if (is_service && head.ends_connection()) {
        return {};
    }
    if (!is_service && head.upgrade == HttpUpgrade::Connect) {
        return {.kind = UnitBody::Kind::Unknown};
    }
    switch (head.body.kind) {
        case BodyFraming::Kind::None:
            return {.kind = UnitBody::Kind::Sized, .bytes = 0};
        case BodyFraming::Kind::Length:
        case BodyFraming::Kind::Chunked:
            return followed(head, is_service && matters);
        default:
            return {.kind = UnitBody::Kind::Unknown};
    }
}

// Behind it another request may begin to some server than to others. About where one with a blank
// beyond ASCII ends, nobody doubts.
bool leaves_end_open(const RequestHead& head) noexcept {
    const HeadShapes others = head.shapes.without({HeadShape::HighSpaceInHeader});
    return others.reading() != HeadReading::Accepted && !has_stated_readings(head);
}

// A head ends with a blank line, of HTTP/0.9, which services alone have, with its own. A line that
// may be no request's is looked at again when it is a quarter longer, so that looking costs no more
// than a few times its length, however it comes.
HeadNeed need_of(ByteView bytes, const FoundHead& found, const StreamContext& context) noexcept {
    const std::size_t longer = bytes.size() + bytes.size() / 4 + 1;
    return {.bytes = found.has_line ? context.head_bytes : longer,
            .blank_line = true,
            .line = context.stance() == ReadingStance::Service && !found.has_line,
            .may_be_none = !found.has_line && HttpUnits::is_word(bytes)};
}

// A CR that no LF follows stands in half a head. Some servers take CR CR LF for the empty line, so
// that the head may have ended there.
bool has_bare_return(ByteView bytes) noexcept {
    std::uint64_t bare = 0;
    std::uint64_t behind = 0;  // a CR, of the last byte
    for (std::size_t at = 0; at < bytes.size(); at += http1::kWord) {
        http1::visit_word(bytes, at,
                          [&](const http1::WideBlock& wide, unsigned shift, std::uint64_t bits) {
                              const std::uint64_t returns = wide.equal('\r') >> shift & bits;
                              bare |= (returns << 1 | behind) & bits & ~(wide.equal('\n') >> shift);
                              behind = returns >> (http1::kWord - 1);
                          });
    }
    return bare != 0;
}

bool passes(const Service& service, HttpUpgrade upgrade) noexcept {
    return (upgrade == HttpUpgrade::WebSocket && service.upgrades.websocket) ||
           (upgrade == HttpUpgrade::Connect && service.upgrades.connect);
}

// The end of what read_request_head() has written to its room.
std::size_t used_of(std::span<const std::byte> room, const RequestHead& head) noexcept {
    std::size_t used = 0;
    for (const ByteView text : {head.path, head.host}) {
        const std::less_equal<> before;
        if (before(room.data(), text.data()) &&
            before(text.data() + text.size(), room.data() + room.size())) {
            used =
                std::max(used, static_cast<std::size_t>(text.data() - room.data()) + text.size());
        }
    }
    return used;
}

}  // namespace

bool HttpUnits::is_word(ByteView bytes) noexcept {
    return http1::find_token_end(http1::ReadableText{bytes}, 0) == bytes.size();
}

bool HttpUnits::may_begin(ByteView bytes, ReadingStance stance) noexcept {
    const std::byte first = bytes[0];
    return stance == ReadingStance::Service || http1::is(first, http1::kToken) ||
           first == http1::kCr || first == http1::kLf;
}

StreamReading HttpUnits::read(ByteView bytes, const StreamContext& context,
                              UnitSink& units) noexcept {
    using What = StreamReading::What;
    const std::span<std::byte> room = units.room();
    const HeadOptions options{.wanted = context.packet.requests.wanted(),
                              .limit = context.head_bytes,
                              .stance = context.stance()};
    const bool is_service = context.stance() == ReadingStance::Service;
    const FoundHead found = find_request_head(bytes, options, room, head_);
    switch (found.status) {
        case HeadStatus::NotHttp:
            return {};
        case HeadStatus::H2Preface:
            units.count(UnitEvent::H2cPreface);
            if (is_service) {
                return {};  // HTTP/2 is not read: behind it nothing could be counted
            }
            if (UnitTexts* const texts = units.add(Per::Packet)) {
                texts->set(TextField::ProtoL7, kH2c.view());
                texts->set(TextField::ProtoScheme, kHttp.view());
            }
            return {.what = What::Unit,
                    .head = found.size,
                    .body = {.kind = UnitBody::Kind::UntilClose}};
        case HeadStatus::Complete:
            break;
        default:
            return read_half(bytes, found, context, units);
    }
    if (is_service && head_.upgrade == HttpUpgrade::H2c &&
        context.packet.service.service->on_h2c == OnH2c::Refuse) {
        units.drop(Reason::Unreadable);
    }
    (void)units.keep(used_of(room, head_));
    add(context.packet, units);
    return {.what = What::Unit,
            .head = found.size,
            .body = body_of(head_, is_service, reads_requests(context.packet)),
            .is_doubtful = leaves_end_open(head_),
            .ends_connection = is_service && head_.ends_connection(),
            .upgrade = head_.upgrade};
}

StreamReading HttpUnits::read_half(ByteView bytes, const FoundHead& found,
                                   const StreamContext& context, UnitSink& units) const noexcept {
    StreamReading half{.what = StreamReading::What::NeedMore,
                       .need = need_of(bytes, found, context)};
    half.need.bare_return = context.packet.service.is_enforced() && reads_requests(context.packet);
    half.is_doubtful = half.need.bare_return && has_bare_return(bytes);
    if (half.is_doubtful) {
        units.count(UnitEvent::HttpAmbiguous);
        units.note_doubts({HeadShape::BareCr}, DoubtOutcome::Refused);
        units.drop(Reason::AmbiguousRequest);
    }
    return half;
}

void HttpUnits::add(const UnitSource& packet, UnitSink& units) noexcept {
    if (!head_.shapes.empty()) {
        leave_out_unread(packet);
    }
    const HeadReading reading = head_.shapes.reading();
    // Servers all agree that it is HTTP.
    const bool matters = reads_requests(packet);
    units.count(UnitEvent::HttpRequest);
    // Without a service nothing is refused for what it is: all of its readings are charged, and of
    // what monitors too, which counts what would be refused. So are the texts that servers make of
    // a request that none of them refuses: its paths, and what comes twice.
    const bool is_stated = matters && !head_.shapes.empty() && has_stated_readings(head_);
    const bool is_allowed =
        is_stated && (on_ambiguous_ == OnAmbiguous::Both || packet.service.service == nullptr);
    if (reading != HeadReading::Accepted) {
        const bool malformed = reading == HeadReading::Malformed;
        units.count(malformed ? UnitEvent::HttpMalformed : UnitEvent::HttpAmbiguous);
        units.note_doubts(head_.shapes.doubts(), !matters    ? DoubtOutcome::Passed
                                                 : is_stated ? DoubtOutcome::Judged
                                                             : DoubtOutcome::Refused);
        if (matters && !is_allowed) {
            refuse(packet, is_stated, units);
        }
    }
    UnitTexts* const texts = units.add(Per::Request);
    if (texts == nullptr) {
        return;
    }
    units.note_asked(asked(packet));
    set_texts(packet, units, *texts);
    const bool passes = is_allowed || !packet.service.is_enforced();
    if (matters && !head_.shapes.empty() && has_stated_targets(head_) &&
        (passes || (is_stated && reading == HeadReading::Accepted))) {
        add_other_readings(head_, packet, is_stated ? ReadingsOf::All : ReadingsOf::Paths, units);
    }
}

// For what it is.
[[gnu::cold, gnu::noinline]] void HttpUnits::refuse(const UnitSource& packet, bool is_stated,
                                                    UnitSink& units) const noexcept {
    const bool malformed = head_.shapes.reading() == HeadReading::Malformed;
    units.drop(malformed ? Reason::MalformedRequest : Reason::AmbiguousRequest);
    if (is_stated && find_doubts_ != nullptr) [[unlikely]] {
        units.note_doubts(find_doubts_(head_, packet));
    }
}

// Doubts about texts that no rule reads.
void HttpUnits::leave_out_unread(const UnitSource& packet) noexcept {
    if (!packet.wanted.has(TextField::HttpPath)) {
        head_.shapes = head_.shapes.without(kPathDoubts);
    }
    if (!packet.wanted.has(TextField::HttpHost)) {
        head_.shapes = head_.shapes.without({HeadShape::BadNetworkHost});
    }
    if (!packet.wanted.has(TextField::HttpMethod)) {
        head_.shapes = head_.shapes.without({HeadShape::MethodCase});
    }
}

AskedRequest HttpUnits::asked(const UnitSource& packet) const noexcept {
    const Service* const service = packet.service.service;
    return {.method = std::ranges::equal(head_.method, bytes_of("HEAD")) ? AskedMethod::Head
                      : head_.upgrade == HttpUpgrade::Connect            ? AskedMethod::Connect
                                                                         : AskedMethod::Other,
            .passes_upgrade = service != nullptr && passes(*service, head_.upgrade)};
}

void HttpUnits::set_texts(const UnitSource& packet, UnitSink& units,
                          UnitTexts& texts) const noexcept {
    const auto set = [&](TextField field, ByteView text) {
        if (packet.wanted.has(field) && text.data() != nullptr) {
            texts.set(field, lasting_text(text, packet, units));
        }
    };
    texts.set(TextField::ProtoL7, kHttp.view());
    texts.set(TextField::ProtoScheme, kHttp.view());
    set(TextField::HttpMethod, head_.method);
    set(TextField::HttpHost, head_.host);
    set(TextField::HttpUri, head_.target);
    set(TextField::HttpPath, head_.path);
    set(TextField::HttpQuery, head_.query);
    for (const RequestTexts::Place& header : packet.requests.headers()) {
        const HeaderText values = head_.header(header.place);
        set(header.field, header.field == kClientHeader ? values.last : values.first);
    }
    for (const RequestTexts::Place& cookie : packet.requests.cookies()) {
        set(cookie.field, head_.cookie(cookie.place).first);
    }
}

namespace {

// The state of a body behind a piece of it.
UnitBody rest_of(const FollowedBody& body) noexcept {
    if (body.is_done()) {
        return {.kind = UnitBody::Kind::Sized, .bytes = 0};
    }
    if (const std::optional<std::uint64_t> left = body.unwatched()) {
        return {.kind = UnitBody::Kind::Sized, .bytes = *left};
    }
    return {.kind = UnitBody::Kind::Framed, .framing = body.state()};
}

}  // namespace

HttpUnits::BodyReading HttpUnits::read_body(ByteView bytes, const FramingState& state,
                                            UnitSink& units) noexcept {
    FollowedBody body{state};
    HeadShapes shapes;
    ChunkLines lines;
    const std::size_t taken = body.feed(bytes, shapes, lines);
    if (!shapes.empty()) {
        units.count(UnitEvent::HttpAmbiguous);
        units.note_doubts(shapes, DoubtOutcome::Refused);
        units.drop(body.is_broken() ? Reason::MalformedRequest : Reason::AmbiguousRequest);
    }
    return {.bytes = taken,
            .rest = rest_of(body),
            .lines = lines,
            .is_doubtful = !shapes.empty(),
            .is_broken = body.is_broken()};
}

bool HttpUnits::can_be_body(const FramingState& state) noexcept {
    return FollowedBody{state}.can_be();
}

}  // namespace sluice
