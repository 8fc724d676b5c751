#include "lib/l7/http1/other_reading.hpp"

#include "lib/l7/http1/host.hpp"
#include "lib/l7/http1/path.hpp"
#include "lib/l7/http1/request_line.hpp"
#include "lib/l7/http1/texts.hpp"

#include <algorithm>

namespace sluice {
namespace {

constexpr HeadShapes ambiguous_shapes() noexcept {
    HeadShapes shapes;
    for (const HeadShapeRow& row : kHeadShapes) {
        shapes.add_if(row.reading == HeadReading::Ambiguous, row.shape);
    }
    return shapes;
}

// Of a target that begins with a slash.
TargetParts split_otherwise(ByteView target, bool splits_fragment) noexcept {
    target = target.first(splits_fragment ? http1::find_byte(target, 0, '#') : target.size());
    const std::size_t query = http1::find_byte(target, 0, '?');
    return {
        {}, target.first(query), query == target.size() ? ByteView{} : target.subspan(query + 1)};
}

// Parts of any target whose path begins with a slash.
TargetParts parts_of(const RequestHead& head, bool splits_fragment) noexcept {
    if (head.target.front() == http1::kSlash) {
        return split_otherwise(head.target, splits_fragment);
    }
    HeadShapes shapes;
    return split_target(head.target, false, false, shapes);
}

// The path with %2F as a slash, or with all that may stand in a path as itself, at the beginning of
// the room; absent: it does not fit.
ByteView decoded(ByteView path, bool slashes, MutableBytes room) noexcept {
    if (room.size() < path.size()) {
        return {};
    }
    std::size_t size = 0;
    for (std::size_t at = 0; at < path.size(); ++at) {
        room[size] = path[at];
        const bool is_escape = path[at] == http1::kPercent && path.size() - at > 2 &&
                               http1::is(path[at + 1], http1::kHexDigit) &&
                               http1::is(path[at + 2], http1::kHexDigit);
        if (is_escape) {
            const auto byte = static_cast<std::byte>(http1::hex_value(path[at + 1]) << 4 |
                                                     http1::hex_value(path[at + 2]));
            const bool stands = slashes ? byte == http1::kSlash : may_stand_in_path(byte);
            room[size] = stands ? byte : path[at];
            at += stands ? 2 : 0;
        }
        ++size;
    }
    return room.first(size);
}

// The reading of servers that decode a path, or do not resolve it.
OtherTarget other_path(const RequestHead& head, HeadShapes doubt, MutableBytes room) noexcept {
    const TargetParts parts = parts_of(head, true);
    OtherTarget other{.target = head.target, .path = parts.path, .query = parts.query};
    if (doubt.has(HeadShape::DotSegment)) {
        return other;
    }
    other.path = decoded(parts.path, doubt.has(HeadShape::EncodedSlash), room);
    HeadShapes shapes;
    const ByteView form = normalise_path(other.path, room.subspan(other.path.size()), shapes);
    other.is_cut = other.path.empty() || shapes.has(HeadShape::PathTooLong);
    // A text at the beginning of the room is kept.
    other.path = form.data() == other.path.data() || form.size() > room.size()
                     ? form
                     : ByteView{std::copy(form.begin(), form.end(), room.begin()) - form.size(),
                                form.size()};
    return other;
}

// With a slash before it, at the beginning of the room.
ByteView rooted(ByteView target, MutableBytes room) noexcept {
    if (room.size() <= target.size()) {
        return {};
    }
    room[0] = http1::kSlash;
    std::copy(target.begin(), target.end(), room.begin() + 1);
    return room.first(target.size() + 1);
}

}  // namespace

bool has_stated_readings(const RequestHead& head) noexcept {
    constexpr HeadShapes kAmbiguous = ambiguous_shapes();
    const HeadShapes target = head.shapes.among(kTargetDoubts);
    const HeadShapes host = head.shapes.among(kHostDoubts);
    const bool is_usual = target.has(HeadShape::TargetForm) ||
                          target.without(kPathDoubts).empty() ||
                          head.target.front() == http1::kSlash;
    return head.shapes.reading() != HeadReading::Malformed &&
           head.body.kind != BodyFraming::Kind::UntilClose && is_usual && target.count() <= 1 &&
           host.count() <= 1 &&
           head.shapes.among(kAmbiguous).count() ==
               target.among(kAmbiguous).count() + host.count() +
                   head.shapes.among({HeadShape::MissingVersion}).count();
}

bool has_unstated_readings(const RequestHead& head) noexcept {
    return head.shapes.among(kTargetDoubts).count() > 1 ||
           head.shapes.among(kHostDoubts).count() > 1;
}

OtherTarget other_target(const RequestHead& head, MutableBytes room) noexcept {
    const HeadShapes doubt = head.shapes.among(kTargetDoubts);
    if (!doubt.among(kPathDoubts).empty()) {
        return other_path(head, doubt, room);
    }
    OtherTarget other{.target = head.target};
    if (doubt.has(HeadShape::SpaceInTarget)) {
        const auto blank = std::find_if(head.target.begin(), head.target.end(), http1::is_blank);
        other.target = head.target.first(static_cast<std::size_t>(blank - head.target.begin()));
    } else if (doubt.has(HeadShape::TargetForm)) {
        other.target = rooted(head.target, room);
        other.is_cut = other.target.empty();
        room = room.subspan(other.target.size());
    }
    const TargetParts parts = split_otherwise(other.target, !doubt.has(HeadShape::Fragment));
    other.path = parts.path;
    other.query = parts.query;
    if (!doubt.has(HeadShape::BadPercent)) {
        HeadShapes shapes;
        other.path = normalise_path(parts.path, room, shapes);
        // Further readings of the path are not judged.
        other.is_cut = other.is_cut || shapes.has(HeadShape::PathTooLong) ||
                       shapes.has(HeadShape::EncodedSlash) ||
                       shapes.has(HeadShape::EncodedReserved);
    }
    return other;
}

ByteView other_host(const RequestHead& head, MutableBytes room, HeadShapes& shapes) noexcept {
    const HeaderText sent = head.header(FramingHeader::Host);
    const bool is_last = head.shapes.has(HeadShape::DuplicateHost);
    return normalise_host(is_last ? sent.last : sent.first, room, shapes);
}

}  // namespace sluice
