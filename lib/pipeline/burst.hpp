#pragma once
#include "lib/base/units.hpp"
#include "lib/packet/flow.hpp"
#include "lib/rules/rule_set.hpp"
#include "lib/rules/verdict.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace sluice {

inline constexpr std::size_t kMaxBurst = 32;
inline constexpr std::uint32_t kNoRule = 0xFFFF'FFFF;
// A wait that never ends: the cost is above the burst.
inline constexpr Nanoseconds kNever = Nanoseconds::max();

// What became of one packet, and why.
struct Decision {
    Verdict verdict = Verdict::Pass;
    Reason reason = Reason::NoRule;
    std::uint32_t rule = kNoRule;    // index in the rule set, if a rule made the verdict
    Nanoseconds wait{};              // longest wait among the refusing enforcing limits; kNever
    const TagValues* tag = nullptr;  // what to write when the verdict is Tag; in the rule set
};

// One packet's row, filled left to right by the stages: parse, match, key, meter.
struct Packet {
    FrameView frame;
    Flow flow;
    Decision decision;
};

class Burst {
public:
    // Where a frame came in: the side of the pair, and port_name() of the pair.
    bool add(FrameView frame, Direction dir, std::uint64_t port) noexcept {
        if (size_ == kMaxBurst) {
            return false;
        }
        Packet& row = rows_[size_++];
        row.frame = frame;
        row.flow = Flow{};
        row.flow.dir = dir;
        row.flow.port = port;
        row.decision = Decision{};
        return true;
    }
    void clear() noexcept { size_ = 0; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] std::span<Packet> packets() noexcept { return std::span{rows_}.first(size_); }
    [[nodiscard]] std::span<const Packet> packets() const noexcept {
        return std::span{rows_}.first(size_);
    }

private:
    std::array<Packet, kMaxBurst> rows_{};
    std::size_t size_{0};
};

}  // namespace sluice
