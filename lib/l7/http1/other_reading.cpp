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
    const bool is_usual =
        target.has(HeadShape::TargetForm) || target.empty() || head.target.front() == http1::kSlash;
    return head.shapes.reading() != HeadReading::Malformed &&
           head.body.kind != BodyFraming::Kind::UntilClose && is_usual && target.count() <= 1 &&
           host.count() <= 1 &&
           head.shapes.among(kAmbiguous).count() ==
               target.count() + host.count() +
                   head.shapes.among({HeadShape::MissingVersion}).count();
}

OtherTarget other_target(const RequestHead& head, MutableBytes room) noexcept {
    const HeadShapes doubt = head.shapes.among(kTargetDoubts);
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
        other.is_cut = other.is_cut || shapes.has(HeadShape::PathTooLong);
    }
    return other;
}

ByteView other_host(const RequestHead& head, MutableBytes room, HeadShapes& shapes) noexcept {
    const HeaderText sent = head.header(FramingHeader::Host);
    const bool is_last = head.shapes.has(HeadShape::DuplicateHost);
    return normalise_host(is_last ? sent.last : sent.first, room, shapes);
}

}  // namespace sluice
