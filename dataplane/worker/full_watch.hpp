#pragma once
#include <chrono>
#include <cstdint>

namespace sluice {

// Sees from a counter of what found no room when a table becomes full, and when it has had room
// for so long that this is over: a few lines of the log, however much comes.
class FullWatch {
public:
    static constexpr std::chrono::milliseconds kOverAfter{10'000};

    enum class Edge : std::uint8_t { None, Begins, Ends };

    [[nodiscard]] Edge look(std::uint64_t without_room, std::chrono::milliseconds now) noexcept {
        if (without_room != last_) {
            const Edge edge = full_ ? Edge::None : Edge::Begins;
            at_begin_ = full_ ? at_begin_ : last_;
            full_ = true;
            last_ = without_room;
            seen_ = now;
            return edge;
        }
        if (!full_ || now - seen_ < kOverAfter) {
            return Edge::None;
        }
        full_ = false;
        return Edge::Ends;
    }
    // How many found no room since it was full last.
    [[nodiscard]] std::uint64_t without_room() const noexcept { return last_ - at_begin_; }

private:
    std::uint64_t last_ = 0;
    std::uint64_t at_begin_ = 0;
    std::chrono::milliseconds seen_{};
    bool full_ = false;
};

}  // namespace sluice
