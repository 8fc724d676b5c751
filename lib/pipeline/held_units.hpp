#pragma once
#include "lib/pipeline/burst_units.hpp"
#include "lib/pipeline/text_arena.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace sluice {

// The units of one packet that waits: its parser has seen the packet once, and does not see it
// again. Texts that the frame holds are named by where they lie in it, others are copied; those
// that are made of others are made again.
class HeldUnits {
public:
    // False: their texts have no room, and nothing can be kept of the packet.
    [[nodiscard]] bool keep(const BurstUnits* units, std::size_t row, ByteView frame) noexcept;
    // As the parser would, of the same frame, wherever it lies now, and the same rule set. The
    // copies stay here. Under another set `load`, the texts that sets number as they like are left
    // out.
    void give_back(ByteView frame, std::uint64_t load, UnitSink& units) const noexcept;
    // The bytes whose units the parser finds again in the frame alone once their verdict is undone:
    // those of requests under another set; nullptr: it cannot, or need not.
    [[nodiscard]] const StickyBytes* to_read_again(std::uint64_t load) const noexcept;

    // See Stickiness.
    [[nodiscard]] DatagramPorts ports() const noexcept { return sticky_.ports; }
    [[nodiscard]] const ProxyHeaderClient& client() const noexcept { return sticky_.client; }

private:
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
    struct Kind {
        Per kind;
        bool is_other_reading;
        AskedRequest asked;
    };
    std::array<Kind, kMaxUnits> kinds_;
    std::array<Text, kMaxUnits * kTextFieldCount> texts_;
    std::array<std::byte, TextArena::kPerPacket + kTextPadding> bytes_;
};

}  // namespace sluice
