#include "lib/l7/stream/track/connection_tracker.hpp"
#include "tests/fuzz/input.hpp"

#include <array>
#include <cstdint>
#include <map>

// Segments as the input says, of a few connections in a table with next to no room. After each the
// tracker's own promises hold: nothing refused is readable, an identity belongs to one pair of
// first numbers, budgets are kept.
namespace {

using namespace sluice;

using test::FuzzInput;
using test::require;

constexpr TrackBudget kBudget{.connections = 3, .half_open = 2, .midstream = 2};

std::uint32_t near(std::uint32_t number, std::uint8_t by) {
    return number + by - 128U;
}

void check(const TrackVerdict& verdict, const TrackedSegment& segment) {
    require(!verdict.readable || (verdict.kind != TrackVerdict::Kind::Drop &&
                                  verdict.kind != TrackVerdict::Kind::Reset));
    require(!verdict.readable || segment.payload != 0);
    require((verdict.reason == TrackReason::None) ==
            (verdict.forwards() || verdict.kind == TrackVerdict::Kind::Inspect));
    require(!verdict.began || verdict.id != 0);
    require(!verdict.established || verdict.id != 0);
    require(!segment.checksum_wrong || !segment.is_fragment || !verdict.ended);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    FuzzInput input{data, data + size};
    ConnectionTracker tracker{kBudget, KeyHasher{HashSecret{1, 2}}};
    std::array<TrackPolicy, 2> policies{};
    policies[0].enforced = (input.byte() & 1) != 0;
    policies[1].inbound_only = true;
    policies[1].midstream = MidstreamPolicy{static_cast<std::uint8_t>(input.byte() % 3)};
    std::int64_t seconds = 0;
    while (!input.empty()) {
        const std::uint8_t what = input.byte();
        const std::uint8_t who = input.byte();
        const bool client = (who & 1) != 0;
        seconds += (what & 0x80) != 0 ? input.byte() : 0;
        const Instant now{std::chrono::seconds{seconds}};
        const std::uint64_t ends = (who >> 1 & 7) * std::uint64_t{0x1'0001};
        const std::uint32_t mine = client ? 0xFFFF'FFF0 : 0x8000'0000;
        const std::uint32_t theirs = client ? 0x8000'0000 : 0xFFFF'FFF0;
        TrackedSegment segment{
            .ends = ends,
            .from_low = client,
            .service = client ? static_cast<std::uint16_t>(who >> 4 & 1) : kNoService,
            .seq = near(mine, input.byte()),
            .ack = near(theirs, input.byte()),
            .flags = static_cast<std::uint16_t>(what & 0x37),
            .payload = input.byte(),
            .window = static_cast<std::uint16_t>(input.byte() << (who >> 5)),
            .ttl = what};
        if ((what & 0x40) != 0) {
            segment.scale = static_cast<std::uint8_t>(who >> 4);
            segment.checksum_wrong = (who & 0x20) != 0;
            segment.is_fragment = (who & 0x40) != 0;
        }
        TrackVerdict verdict = tracker.track(segment, policies, now);
        check(verdict, segment);
        if (verdict.kind == TrackVerdict::Kind::Inspect) {
            verdict = tracker.settle_midstream(
                segment, policies, (what & 8) != 0 ? ClientBytes::Begin : ClientBytes::BeginNone,
                now);
            require(verdict.kind != TrackVerdict::Kind::Inspect);
            check(verdict, segment);
        }
        if (verdict.id != 0) {
            require(tracker.may_know(ends) && tracker.numbers(ends, verdict.id).has_value());
            if (what == 0xFF) {
                tracker.note_reset(ends, verdict.id);
            }
        }
        if (what == 0xFE) {
            tracker.note_unseen(now);
        }
        tracker.expire(now, 2);
        require(tracker.size_of(TrackClass::HalfOpen) <= kBudget.half_open);
        require(tracker.size_of(TrackClass::Midstream) <= kBudget.midstream);
    }
    return 0;
}
