#pragma once
#include "lib/engine/burst/burst_units.hpp"
#include "lib/l7/stream/text_arena.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace sluice {

// The units of one packet that waits, and its place in a connection of a service: parsers and
// trackers have seen the packet once, and do not see it again. Texts that the frame holds are named
// by where they lie in it, others are copied; those that are made of others are made again.
class HeldUnits {
public:
    // False: their texts have no room, and nothing can be kept of the packet.
    [[nodiscard]] bool keep(const Burst& burst, std::size_t row) noexcept;
    // Gives the parser's findings in the same frame, wherever it lies now, under the same rule set.
    // The copies stay here. Under another set, the texts that sets number as they like are left
    // out. Without room for so many units, beside those of its burst or under the rule set of now,
    // the packet is refused as one with too many.
    void give_back(const UnitSource& packet, UnitSink& units) const noexcept;
    // The service and the changes to the frame once it is forwarded are kept as well.
    void give_back_service(std::size_t row, ServiceRowsOutcome& outcome) const noexcept;
    // The bytes whose units the parser finds again in the frame alone once their verdict is undone:
    // those of requests under another set, which has their service if they had one; nullptr: it
    // cannot, or need not.
    [[nodiscard]] const StickyBytes* to_read_again(std::uint64_t load,
                                                   bool is_of_service) const noexcept;

    // The places of further units that a burst has for the packet: its share, or what it takes.
    [[nodiscard]] std::size_t further_places() const noexcept {
        return std::max(count_, kUnitShare) - 1;
    }

    // See Stickiness.
    [[nodiscard]] DatagramPorts ports() const noexcept { return sticky_.ports; }
    [[nodiscard]] const ProxyHeaderClient& client() const noexcept { return sticky_.client; }

private:
    static constexpr std::size_t kMostTexts = 8 * kMaxUnits;

    struct Text {
        std::uint32_t at;  // in the frame, or in `bytes_`
        std::uint32_t size;
        TextField field;
        std::uint8_t unit;
        bool in_frame;
    };
    [[nodiscard]] bool keep_text(std::uint8_t unit, TextField field, ByteView text,
                                 ByteView frame) noexcept;

    // No member has a first value: pages are touched once packets are kept there.
    std::size_t count_;
    std::size_t text_count_;
    std::size_t used_;    // of the bytes
    std::uint64_t load_;  // of the rule set that they were found for
    Stickiness sticky_;
    ServicePacket service_;  // its Service may be gone
    Normalization normalization_;
    struct Kind {
        Per kind;
        bool is_other_reading;
        AskedRequest asked;
    };
    std::array<Kind, kMaxUnits> kinds_;
    std::array<Text, kMostTexts> texts_;
    std::array<std::byte, TextArena::kPerPacket + kTextPadding> bytes_;
};

}  // namespace sluice
