#pragma once
#include "tests/packets/box.hpp"
#include "tests/packets/frame.hpp"

#include <chrono>
#include <string>

// One rule whose keys have overrides, and packets of its keys.
namespace sluice::test {

inline constexpr auto kOverriddenLimit = "{algorithm: token_bucket, rate: 1/s, burst: 5}";

// `overrides` are rows of `inline`; none: the rule ends where they would begin.
inline std::string rules_with_overrides(const std::string& overrides, const std::string& key,
                                        const std::string& limits, const std::string& more) {
    return "version: 1\nrules:\n  - id: r\n    mode: enforce\n    key: [\"" + key +
           "\"]\n    limits: [" + limits + "]\n" + more +
           (overrides.empty() ? "" : "    overrides: {inline: [" + overrides + "]}\n");
}

inline Decision send_from(Box& box, const std::string& source, Instant now) {
    return box.judge(udp().src(source).bytes(), now);
}

// How many of so many packets of a source pass.
inline int admitted_from(Box& box, const std::string& source, Instant now, int offered = 50) {
    int count = 0;
    for (int i = 0; i < offered; ++i) {
        count += send_from(box, source, now).verdict == Verdict::Pass ? 1 : 0;
    }
    return count;
}

}  // namespace sluice::test
