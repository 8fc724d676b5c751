#include "lib/l7/http1/other_reading.hpp"

#include "lib/l7/http1/host.hpp"
#include "lib/l7/http1/line_words.hpp"
#include "lib/l7/http1/path.hpp"
#include "lib/l7/http1/request_line.hpp"
#include "lib/l7/http1/texts.hpp"
#include "lib/l7/http1/url_target.hpp"

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

// The parts of a target that begins with a slash.
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

// Characters of a path that servers decode beside unreserved ones.
struct Decoding {
    bool slashes = false;   // %2F
    bool reserved = false;  // all else that may stand in a path as itself
    [[nodiscard]] bool decodes(std::byte byte) const noexcept {
        return (slashes && byte == http1::kSlash) || (reserved && may_stand_in_path(byte));
    }
};

// At the beginning of the room; absent: it does not fit.
ByteView decoded(ByteView path, Decoding decoding, MutableBytes room) noexcept {
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
            room[size] = decoding.decodes(byte) ? byte : path[at];
            at += decoding.decodes(byte) ? 2 : 0;
        }
        ++size;
    }
    return room.first(size);
}

// The rest behind the scheme of a target that names no host, as in http:/x; absent: no scheme.
ByteView behind_scheme(ByteView target) noexcept {
    const std::size_t end = http1::find_byte(target, 0, ':');
    const ByteView scheme = target.first(end);
    const bool is_scheme = end + 1 < target.size() && !scheme.empty() &&
                           http1::is_letter(scheme.front()) &&
                           std::all_of(scheme.begin(), scheme.end(), http1::is_scheme_byte);
    return is_scheme ? target.subspan(end + 1) : ByteView{};
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

// Gathers the readings of one head.
class Targets {
public:
    Targets(const RequestHead& head, bool reads_paths, MutableBytes room) noexcept
        : head_{head}, reads_paths_{reads_paths}, room_{room} {}

    OtherTargets run() noexcept {
        const HeadShapes doubts = head_.shapes.among(kTargetDoubts);
        if (!head_.target.empty() && reads_paths_) {
            is_path_read_ = true;  // the first reading's
            add_url_paths(parts_of(head_, true).path, {});
        }
        OtherTarget other{.is_other = true, .target = head_.target};
        if (doubts.has(HeadShape::SpaceInTarget)) {
            const auto blank =
                std::find_if(head_.target.begin(), head_.target.end(), http1::is_blank);
            other.target =
                head_.target.first(static_cast<std::size_t>(blank - head_.target.begin()));
        } else if (doubts.has(HeadShape::TargetForm)) {
            add_behind_scheme();
            other.target = made(rooted(head_.target, room_));
        } else if (!doubts.has(HeadShape::Fragment)) {
            return others_;
        }
        add_other(other, !doubts.has(HeadShape::Fragment));
        return others_;
    }

private:
    void take(std::size_t size) noexcept {
        room_ = room_.subspan(size);
        others_.used += size;
    }
    // A text at the beginning of the room, to be kept.
    ByteView made(ByteView text) noexcept {
        others_.is_cut = others_.is_cut || text.empty();
        take(text.size());
        return text;
    }
    // Another target.
    void add_other(OtherTarget other, bool splits_fragment) noexcept {
        const TargetParts parts = split_otherwise(other.target, splits_fragment);
        other.query = parts.query;
        begin_ = others_.count;
        is_path_read_ = false;
        if (reads_paths_) {
            add_url_paths(parts.path, other);
        } else {
            add(parts.path, other);
        }
    }
    // Apache and Python read no host where it is not begun by two slashes.
    void add_behind_scheme() noexcept {
        const ByteView rest = behind_scheme(head_.target);
        if (!rest.empty()) {
            const bool is_rooted = rest.front() == http1::kSlash;
            add_other({.is_other = true, .target = is_rooted ? rest : made(rooted(rest, room_))},
                      true);
        }
    }
    // The path as servers read it, with its backslashes for slashes, and as a URL's.
    void add_url_paths(ByteView path, OtherTarget of) noexcept {
        add_paths(path, of);
        is_path_read_ = false;
        const bool has_backslash = http1::find_byte(path, 0, '\\') != path.size();
        if (has_backslash) {
            add_paths(made(with_slashes(path, room_)), of);
        }
        if (path.empty() || path.front() != http1::kSlash) {
            return;
        }
        const bool is_reference = of.is_other || head_.target.front() == http1::kSlash;
        const NetworkPath network = is_reference ? split_network_path(path) : NetworkPath{{}, path};
        if (has_backslash || http1::is_present(network.host) || of.is_other ||
            head_.shapes.has(HeadShape::DotSegment)) {
            of.host = host_of(network.host);
            add_paths(made(url_path(network.path, room_)), of);
        }
    }
    // Without user and port; absent where it is none.
    ByteView host_of(ByteView authority) noexcept {
        HeadShapes doubts;
        const ByteView host = normalise_host(without_user(authority), room_, doubts);
        others_.has_bad_host |= doubts.has(HeadShape::BadHost);
        if (doubts.has(HeadShape::BadHost) || host.empty()) {
            return {};
        }
        take(host.data() == room_.data() ? host.size() : 0);
        return host;
    }
    // The paths that servers make of one.
    void add_paths(ByteView path, OtherTarget of) noexcept {
        HeadShapes doubts;
        const ByteView form = normalise_path(path, room_, doubts);
        others_.is_cut = others_.is_cut || doubts.has(HeadShape::PathTooLong);
        others_.has_nul = others_.has_nul || doubts.has(HeadShape::EncodedNul);
        if (!is_path_read_) {
            add(form, of);
        }
        for (unsigned way = 1; way < 4; ++way) {
            const Decoding decoding{.slashes = (way & 1U) != 0, .reserved = (way & 2U) != 0};
            const bool differs = (!decoding.slashes || doubts.has(HeadShape::EncodedSlash)) &&
                                 (!decoding.reserved || doubts.has(HeadShape::EncodedReserved));
            if (differs) {
                add_decoded(path, decoding, of);
            }
        }
        if (doubts.has(HeadShape::DotSegment) || doubts.has(HeadShape::BadPercent)) {
            add(path, of);  // as sent
        }
    }
    void add_decoded(ByteView path, Decoding decoding, OtherTarget of) noexcept {
        const ByteView text = decoded(path, decoding, room_);
        HeadShapes shapes;
        const ByteView form = normalise_path(text, room_.subspan(text.size()), shapes);
        others_.is_cut = others_.is_cut || text.empty() || shapes.has(HeadShape::PathTooLong);
        // A text at the beginning of the room is kept.
        std::copy(form.begin(), form.end(), room_.begin());
        add(room_.first(form.size()), of);
    }
    // Each once.
    void add(ByteView path, OtherTarget of) noexcept {
        const std::span<const OtherTarget> known = others_.readings().subspan(begin_);
        const bool is_known = (!of.is_other && of.host.empty() &&
                               http1::as_text(path) == http1::as_text(head_.path)) ||
                              std::any_of(known.begin(), known.end(), [&](const OtherTarget& one) {
                                  return http1::as_text(one.path) == http1::as_text(path) &&
                                         http1::as_text(one.host) == http1::as_text(of.host);
                              });
        others_.is_cut = others_.is_cut || (!is_known && others_.count == OtherTargets::kMost);
        if (is_known || others_.is_cut) {
            return;
        }
        of.path = path;
        others_.all[others_.count++] = of;
        if (path.data() == room_.data()) {
            take(path.size());
        }
    }

    const RequestHead& head_;
    bool reads_paths_;
    MutableBytes room_;
    OtherTargets others_;
    std::size_t begin_ = 0;  // of the readings of the target at hand
    bool is_path_read_ = false;
};

}  // namespace

bool has_stated_targets(const RequestHead& head) noexcept {
    constexpr HeadShapes kOtherTargets{HeadShape::SpaceInTarget, HeadShape::TargetForm,
                                       HeadShape::Fragment};
    const HeadShapes target = head.shapes.among(kTargetDoubts);
    HeadShapes of_paths = kPathDoubts;
    of_paths.add(HeadShape::BadPercent);
    const bool is_usual = target.has(HeadShape::TargetForm) || target.without(of_paths).empty() ||
                          head.target.front() == http1::kSlash;
    return head.shapes.reading() != HeadReading::Malformed && is_usual &&
           target.among(kOtherTargets).count() <= 1 && head.shapes.among(kHostDoubts).count() <= 1;
}

bool has_stated_readings(const RequestHead& head) noexcept {
    constexpr HeadShapes kAmbiguous = ambiguous_shapes();
    const HeadShapes target = head.shapes.among(kTargetDoubts);
    const HeadShapes host = head.shapes.among(kHostDoubts);
    return has_stated_targets(head) && head.body.kind != BodyFraming::Kind::UntilClose &&
           head.shapes.among(kAmbiguous).count() ==
               target.among(kAmbiguous).count() + host.among(kAmbiguous).count() +
                   head.shapes.among({HeadShape::MissingVersion}).count();
}

OtherTargets other_targets(const RequestHead& head, bool reads_paths, MutableBytes room) noexcept {
    return Targets{head, reads_paths, room}.run();
}

ByteView other_host(const RequestHead& head, MutableBytes room, HeadShapes& shapes) noexcept {
    const HeaderText sent = head.header(FramingHeader::Host);
    const bool is_last = head.shapes.has(HeadShape::DuplicateHost);
    return normalise_host(is_last ? sent.last : sent.first, room, shapes);
}

}  // namespace sluice
