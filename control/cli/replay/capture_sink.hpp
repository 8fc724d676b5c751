#pragma once
#include "control/cli/replay/frame_source.hpp"
#include "control/cli/replay/held_records.hpp"
#include "lib/act/sink.hpp"
#include "lib/capture/writer.hpp"
#include "lib/pipeline/burst.hpp"

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace sluice {

// Rows of several workers in the order in which their frames were captured.
struct ReplayedFrames {
    std::span<const BurstRow> rows;

    template <typename Visit>
    void for_each_packet(Visit&& visit) const noexcept {
        for (std::size_t row = 0; row < rows.size(); ++row) {
            visit(row);
        }
    }
    [[nodiscard]] const PacketHeaders& headers(std::size_t row) const noexcept {
        return rows[row].headers();
    }
    [[nodiscard]] Decision& decision(std::size_t row) const noexcept {
        return rows[row].decision();
    }
};

// Where act_burst() puts a replayed burst: one capture of what leaves the box, at either side. A
// made frame has the time of the packet that it is made for, a delayed one that of its departure.
class CaptureSink {
public:
    CaptureSink(std::span<KeptFrame> frames, CaptureWriter& out, HeldRecords& held,
                Instant now) noexcept
        : frames_{frames}, out_{out}, held_{held}, now_{now} {}

    void forward(std::size_t row) noexcept { out_.write(frames_[row].frame()); }
    void drop(std::size_t /*row*/) noexcept {}
    [[nodiscard]] Instant now() const noexcept { return now_; }
    void hold(std::size_t row, Instant until) noexcept { held_.hold(frames_[row].frame(), until); }
    template <typename Write>
    [[nodiscard]] bool rewrite(std::size_t row, Write&& write) noexcept {
        std::forward<Write>(write)(frames_[row].bytes());
        return true;
    }
    template <typename Write>
    [[nodiscard]] bool emit(std::size_t row, Toward /*side*/, std::size_t size,
                            Write&& write) noexcept {
        std::vector<std::byte> bytes(size);
        std::forward<Write>(write)(MutableBytes{bytes});
        CapturedFrame made = frames_[row].frame();
        made.bytes = bytes;
        made.wire_size = static_cast<std::uint32_t>(size);
        out_.write(made);
        return true;
    }

private:
    std::span<KeptFrame> frames_;
    CaptureWriter& out_;
    HeldRecords& held_;
    Instant now_;
};
static_assert(HoldingSink<CaptureSink>);

}  // namespace sluice
