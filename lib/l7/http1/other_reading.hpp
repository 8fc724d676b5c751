#pragma once
#include "lib/base/bytes.hpp"
#include "lib/l7/http1/ambiguity.hpp"
#include "lib/l7/http1/request_head.hpp"

namespace sluice {

// What other servers read in a head whose end, and whose body's end, all of them agree on: the
// column `or_as` of kHeadShapes.
inline constexpr HeadShapes kTargetDoubts{HeadShape::SpaceInTarget, HeadShape::TargetForm,
                                          HeadShape::Fragment,      HeadShape::BadPercent,
                                          HeadShape::EncodedSlash,  HeadShape::EncodedReserved,
                                          HeadShape::DotSegment};
// Doubts about the path alone: nothing to rules that read none.
inline constexpr HeadShapes kPathDoubts{HeadShape::EncodedSlash, HeadShape::EncodedReserved,
                                        HeadShape::DotSegment};
inline constexpr HeadShapes kHostDoubts{HeadShape::DuplicateHost, HeadShape::HostsDiffer};

// The head has at most two readings of its target and two of its host, and no shape that leaves
// open what follows it: what is ambiguous about it can be judged as each of them. HTTP/0.9 has one
// reading, behind which nothing follows.
[[nodiscard]] bool has_stated_readings(const RequestHead& head) noexcept;
// The head has three readings of its target, or of its host.
[[nodiscard]] bool has_unstated_readings(const RequestHead& head) noexcept;

struct OtherTarget {
    ByteView target;  // as a server of the other kind takes it
    ByteView path;    // normalised; absent as in RequestHead
    ByteView query;
    bool is_cut = false;  // it did not fit
};
// Of a head with one of kTargetDoubts. What is not as sent lies at the beginning of `room`.
[[nodiscard]] OtherTarget other_target(const RequestHead& head, MutableBytes room) noexcept;

// The same of a head with one of kHostDoubts: the host, normalised.
[[nodiscard]] ByteView other_host(const RequestHead& head, MutableBytes room,
                                  HeadShapes& shapes) noexcept;

}  // namespace sluice
