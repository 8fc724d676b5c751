#pragma once
#include <string>

namespace sluice::bench {

// The same rule file with rates as they are, but buckets that hold a packet: every `burst`,
// `queue`, `cbs`, `ebs` and `pbs` is one packet (of bytes: one Ethernet frame), and a window is so
// short that its `count` is a few. Under a clock that is slow enough, they refuse as much as one
// likes.
[[nodiscard]] std::string tight_rules(const std::string& text);

}  // namespace sluice::bench
