#pragma once
#include "lib/base/bytes.hpp"
#include "lib/l7/http1/ambiguity.hpp"
#include "lib/l7/http1/request_head.hpp"

#include <array>
#include <cstddef>
#include <span>

namespace sluice {

// Doubts about a head whose end, and whose body's end, all servers agree on: the column `or_as` of
// kHeadShapes.
inline constexpr HeadShapes kTargetDoubts{HeadShape::SpaceInTarget, HeadShape::TargetForm,
                                          HeadShape::Fragment,      HeadShape::BadPercent,
                                          HeadShape::EncodedSlash,  HeadShape::EncodedReserved,
                                          HeadShape::DotSegment,    HeadShape::Backslash,
                                          HeadShape::NetworkPath,   HeadShape::BadNetworkHost};
// Doubts about the path alone: nothing to rules that read none.
inline constexpr HeadShapes kPathDoubts{HeadShape::EncodedSlash, HeadShape::EncodedReserved,
                                        HeadShape::EncodedNul, HeadShape::DotSegment,
                                        HeadShape::Backslash};
inline constexpr HeadShapes kHostDoubts{HeadShape::DuplicateHost, HeadShape::HostsDiffer};

// The head has at most two targets and two hosts, and no shape that leaves open what follows it:
// what is ambiguous about it can be judged as each of them, and as each path that servers make of
// these targets. HTTP/0.9 has one reading, behind which nothing follows.
[[nodiscard]] bool has_stated_readings(const RequestHead& head) noexcept;
// The target and host of the head alone have stated readings, whatever else is ambiguous.
[[nodiscard]] bool has_stated_targets(const RequestHead& head) noexcept;

// A target as a server of another kind reads it.
struct OtherTarget {
    ByteView path;  // normalised by most; absent as in RequestHead
    ByteView host;  // normalised, of a network path; else absent: that of the head
    // Another target, or other parts of it, than the first reading has; else absent.
    bool is_other = false;
    ByteView target;
    ByteView query;
};
struct OtherTargets {
    // The readings of two targets: a path of each may be decoded in three ways more, or taken as
    // sent; and each of these with other slashes. More than any honest client's target has.
    static constexpr std::size_t kMost = 16;

    [[nodiscard]] std::span<const OtherTarget> readings() const noexcept {
        return std::span{all}.first(count);
    }
    std::array<OtherTarget, kMost> all{};
    std::size_t count = 0;
    std::size_t used = 0;       // of the room, by texts that are not as sent
    bool is_cut = false;        // some did not fit
    bool has_bad_host = false;  // of a network path: what servers make of it is not known
    bool has_nul = false;       // in a path, which some servers end there
};
// All readings but the first one of a head that has_stated_targets(); of its paths only where
// rules read some.
[[nodiscard]] OtherTargets other_targets(const RequestHead& head, bool reads_paths,
                                         MutableBytes room) noexcept;

// The same of a head with one of kHostDoubts: the host, normalised.
[[nodiscard]] ByteView other_host(const RequestHead& head, MutableBytes room,
                                  HeadShapes& shapes) noexcept;

}  // namespace sluice
