#pragma once
#include "lib/engine/burst/decision_tally.hpp"
#include "lib/engine/worker/memory_io.hpp"
#include "lib/packet/verdict.hpp"
#include "lib/respond/act/act_burst.hpp"
#include "tests/packets/frame.hpp"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace sluice::test {

// A frame that is shown to a worker, with a name for people.
struct ShownFrame {
    std::string name;
    Octets bytes;
    MemoryFrame frame{};
    Decision decision{};
    Normalization changes{};  // made to it, if it is forwarded
    bool decided = false;
    std::size_t rank = 0;  // among all that were decided, from 1 on

    ShownFrame(std::string called, Octets of, Direction dir = Direction::In,
               std::string_view pair = "lab")
        : name{std::move(called)}, bytes{std::move(of)} {
        frame = {.view = {bytes, static_cast<std::uint32_t>(bytes.size())},
                 .dir = dir,
                 .port = port_name(pair),
                 .owner = this};
    }
    ShownFrame(const ShownFrame&) = delete;
    ShownFrame& operator=(const ShownFrame&) = delete;
};

// The fates of frames in memory, a line each, in the order in which they happen:
//
//   a pass within_limits      a frame by its name, with its verdict and reason
//   b departs                 a frame that was held
//   < 54                      made toward where the packet came from, so many bytes; > where it
//   goes
class LeftFrames {
public:
    using Lane = MemoryIo<LeftFrames>;

    void send(Burst& burst, std::span<const Action> actions, WorkerCounters& counters,
              const SendContext<Lane>& context, Lane& lane) noexcept {
        Sink sink{*this, burst, context, lane};
        act_burst(burst, actions, sink, context.answering);
        DecisionTally tally;
        for (std::size_t row = 0; row < burst.size(); ++row) {
            tally.note(row, burst.packets()[row].decision);
        }
        tally.count(burst.live() & ~sink.held, burst.frames().wire, counters);
    }
    void depart(std::span<MemoryFrame*> frames, WorkerCounters& counters) noexcept {
        for (const MemoryFrame* frame : frames) {
            lines_.push_back(shown(*frame).name + " departs");
        }
        counters.by_verdict[static_cast<std::size_t>(Verdict::Shape)].add(frames.size());
    }

    // The lines since it was asked last.
    [[nodiscard]] std::vector<std::string> take() { return std::exchange(lines_, {}); }

private:
    struct Sink {
        LeftFrames& out;
        Burst& burst;
        const SendContext<Lane>& context;
        Lane& lane;
        RowMask held = 0;

        void forward(std::size_t row) noexcept { tell(row); }
        void drop(std::size_t row) noexcept { tell(row); }
        [[nodiscard]] Instant now() const noexcept { return context.now; }
        void hold(std::size_t row, Instant until) noexcept {
            if (context.held->hold({frame_of(row), &lane}, context.now, until)) {
                held |= row_bit(row);
            } else {
                burst.decision(row) = dropped_for(Reason::HoldFull);
            }
            tell(row);
        }
        template <typename Write>
        [[nodiscard]] bool rewrite(std::size_t row, Write&& write) noexcept {
            write(MutableBytes{shown(*frame_of(row)).bytes});
            return true;
        }
        template <typename Write>
        [[nodiscard]] bool emit(std::size_t /*row*/, Toward side, std::size_t size,
                                Write&& write) noexcept {
            Octets made(size);
            write(MutableBytes{made});
            out.lines_.push_back((side == Toward::Source ? "< " : "> ") + std::to_string(size));
            return true;
        }

        [[nodiscard]] MemoryFrame* frame_of(std::size_t row) const noexcept {
            return static_cast<MemoryFrame*>(burst.packets()[row].buffer);
        }
        void tell(std::size_t row) noexcept {
            ShownFrame& frame = shown(*frame_of(row));
            frame.decision = burst.decision(row);
            frame.changes = burst.normalization(row);
            frame.decided = true;
            frame.rank = ++out.decided_;
            out.lines_.push_back(frame.name + " " + std::string{name_of(frame.decision.verdict)} +
                                 " " + std::string{row_of(frame.decision.reason).name});
        }
    };
    static ShownFrame& shown(const MemoryFrame& frame) noexcept {
        return *static_cast<ShownFrame*>(frame.owner);
    }

    std::vector<std::string> lines_;
    std::size_t decided_ = 0;
};

}  // namespace sluice::test
