#pragma once
#include "tests/pktgen/frame_template.hpp"
#include "tests/pktgen/probe.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace sluice::pktgen {

// What is to be sent, apart from how fast.
struct TrafficPlan {
    const Profile* profile = nullptr;
    Route route;
    std::optional<SourceCount> sources;  // of every kind; else each has its own
    std::size_t size = 0;                // 0: of each kind its own
    bool is_imix = false;
    bool is_probed = false;
};

// Frames of the way back are numbered from here on, so that a probe tells its direction.
inline constexpr std::uint64_t kFirstBack = std::uint64_t{1} << 62;

// The packets of a profile in their shares, one after another, always in the same order.
class Traffic {
public:
    [[nodiscard]] static Result<Traffic> make(const TrafficPlan& plan);

    // The next frame; it stays the next until advance().
    [[nodiscard]] std::size_t next_bytes() const noexcept { return current().bytes(); }
    [[nodiscard]] std::uint64_t next_wire_bits() const noexcept { return current().wire_bits(); }
    [[nodiscard]] std::uint64_t next_number() const noexcept { return number_; }
    // Where its source goes, always to the same of so many queues; so does what comes back to it.
    [[nodiscard]] std::uint16_t next_queue(std::uint16_t queues) const noexcept;
    void write_next(std::byte* to, std::uint64_t now) const noexcept;
    void advance() noexcept {
        ++sent_of_[places_[at_].kind];
        ++number_;
        at_ = at_ + 1 == places_.size() ? 0 : at_ + 1;
    }

    // Mean of a whole round.
    [[nodiscard]] double mean_wire_bits() const noexcept;
    [[nodiscard]] std::size_t longest() const noexcept;

private:
    struct Place {
        std::uint16_t frame;
        std::uint16_t kind;
    };

    Traffic() = default;
    void put_second_parts();
    [[nodiscard]] const FrameTemplate& current() const noexcept {
        return templates_[places_[at_].frame];
    }
    [[nodiscard]] FrameVariation variation(const Place& place) const noexcept;

    std::vector<FrameTemplate> templates_;
    std::vector<Place> places_;  // a round
    std::vector<std::uint64_t> sent_of_;
    bool is_probed_ = false;
    std::uint64_t number_ = 0;
    std::size_t at_ = 0;
};

}  // namespace sluice::pktgen
