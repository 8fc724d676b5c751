#pragma once
#include "control/cli/replay/held_records.hpp"
#include "control/replay/kept_frame.hpp"
#include "control/replay/replay_answers.hpp"
#include "lib/capture/writer.hpp"
#include "lib/respond/act/sink.hpp"

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace sluice {

// Outlet of act_burst() in a replay: one capture of what leaves the box, at either side. A made
// frame has the time of the packet that it is made for, a delayed one that of its departure.
class CaptureSink {
public:
    CaptureSink(std::span<KeptFrame> frames, CaptureWriter& out, HeldRecords& held, Instant now,
                std::span<const ReplayedAnswer> made = {}) noexcept
        : frames_{frames}, out_{out}, held_{held}, now_{now}, made_{made} {}

    void forward(std::size_t row) noexcept {
        write_made(row);
        out_.write(frames_[row].frame());
    }
    void drop(std::size_t row) noexcept { write_made(row); }
    [[nodiscard]] Instant now() const noexcept { return now_; }
    void hold(std::size_t row, Instant until) noexcept {
        write_made(row);
        held_.hold(frames_[row].frame(), until);
    }
    template <typename Write>
    [[nodiscard]] bool rewrite(std::size_t row, Write&& write) noexcept {
        std::forward<Write>(write)(frames_[row].bytes());
        return true;
    }
    template <typename Write>
    [[nodiscard]] bool emit(std::size_t row, Toward /*side*/, std::size_t size,
                            Write&& fill) noexcept {
        std::vector<std::byte> bytes(size);
        std::forward<Write>(fill)(MutableBytes{bytes});
        write(row, bytes);
        return true;
    }

private:
    void write(std::size_t row, ByteView bytes) noexcept {
        CapturedFrame made = frames_[row].frame();
        made.bytes = bytes;
        made.wire_size = static_cast<std::uint32_t>(bytes.size());
        out_.write(made);
    }
    void write_made(std::size_t row) noexcept {
        for (; !made_.empty() && made_.front().row == row; made_ = made_.subspan(1)) {
            write(row, made_.front().bytes);
        }
    }

    std::span<KeptFrame> frames_;
    CaptureWriter& out_;
    HeldRecords& held_;
    Instant now_;
    std::span<const ReplayedAnswer> made_;  // before its row
};
static_assert(HoldingSink<CaptureSink>);

}  // namespace sluice
