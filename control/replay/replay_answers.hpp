#pragma once
#include "lib/base/units.hpp"
#include "lib/engine/burst/burst.hpp"
#include "lib/respond/act/answerer.hpp"
#include "lib/respond/act/sink.hpp"
#include "lib/rules/load/loaded_set.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
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

// The answers of a replay's box: what it made for each burst, and the connections that it has
// answered.
class ReplayAnswers {
public:
    // Answers rows of one instant, in the order of their frames, as the box would. `now` is the
    // box's, `captured` the capture's.
    [[nodiscard]] AnswerSink answer(std::span<const BurstRow> rows, const LoadedSet& rules,
                                    Instant now, Instant captured);
    // Connections that it has answered, which no rule judges from then on.
    [[nodiscard]] AnsweredTraffic& answered() const noexcept { return answerer_->answered(); }

private:
    // On the heap, since the answerer refers to it.
    std::unique_ptr<AnswerBoards> boards_ = std::make_unique<AnswerBoards>();
    std::unique_ptr<Answerer> answerer_ =
        std::make_unique<Answerer>(kAnsweredConnections, *boards_);
};

}  // namespace sluice
