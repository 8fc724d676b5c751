#pragma once
#include "control/cli/replay/frame_source.hpp"
#include "control/cli/replay/held_records.hpp"
#include "lib/capture/writer.hpp"
#include "lib/engine/burst/burst.hpp"
#include "lib/respond/act/sink.hpp"

#include <algorithm>
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
    [[nodiscard]] AnsweredPacket answered(std::size_t row) const noexcept {
        return rows[row].burst->answered(rows[row].row);
    }
    [[nodiscard]] SegmentGlance glance(std::size_t row) const noexcept {
        return rows[row].burst->glance(rows[row].row);
    }
    [[nodiscard]] bool has_tcp(std::size_t row) const noexcept {
        return rows[row].burst->has_tcp(rows[row].row);
    }
    [[nodiscard]] bool has_tcp() const noexcept {
        return std::ranges::any_of(rows,
                                   [](const BurstRow& row) { return row.burst->has_tcp(row.row); });
    }
    [[nodiscard]] Normalization normalization(std::size_t row) const noexcept {
        return rows[row].burst->normalization(rows[row].row);
    }
    [[nodiscard]] bool normalizes() const noexcept {
        return std::ranges::any_of(rows,
                                   [](const BurstRow& row) { return row.burst->normalizes(); });
    }
};

// A frame that the box made for one of a replayed burst.
struct ReplayedAnswer {
    std::size_t row = 0;
    std::vector<std::byte> bytes;
};

// The sink in which a replayed burst is answered before anything of it is written down.
class AnswerSink {
public:
    void forward(std::size_t /*row*/) noexcept {}
    void drop(std::size_t /*row*/) noexcept {}
    template <typename Write>
    [[nodiscard]] bool rewrite(std::size_t /*row*/, Write&& /*write*/) noexcept {
        return true;
    }
    template <typename Write>
    [[nodiscard]] bool emit(std::size_t row, Toward /*side*/, std::size_t size,
                            Write&& write) noexcept {
        ReplayedAnswer& made = made_.emplace_back(row, std::vector<std::byte>(size));
        std::forward<Write>(write)(MutableBytes{made.bytes});
        return true;
    }
    // In the order of the rows.
    [[nodiscard]] std::span<const ReplayedAnswer> made() const noexcept { return made_; }

private:
    std::vector<ReplayedAnswer> made_;
};
static_assert(Sink<AnswerSink>);

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
