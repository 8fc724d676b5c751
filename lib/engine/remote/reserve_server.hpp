#pragma once
#include "lib/engine/check/check_limit.hpp"
#include "lib/peer/reserve/ask_event.hpp"
#include "lib/peer/reserve/ask_lane.hpp"
#include "lib/peer/reserve/reservations.hpp"

#include <cstddef>

namespace sluice {

// One worker as the owner of keys: answers the questions of all workers, its own among them, out of
// the buckets in its table.
class ReserveServer {
public:
    struct Bounds {
        std::size_t questions = 1024;  // of each asker's tickets
        // Longer than any packet waits, by far.
        Nanoseconds lifetime{};
    };
    ReserveServer(std::size_t self, AskLanes& lanes, const Bounds& bounds);

    // Between two bursts: what has come, and reservations that nobody has settled in time.
    void serve(const LoadedSet& set, CoreState& core, Now now) noexcept;

    [[nodiscard]] const Reservations& reservations() const noexcept { return reservations_; }
    [[nodiscard]] const AskCounters& counters() const noexcept { return counters_; }

private:
    // The bucket that a question is about.
    struct Bucket;

    void take(std::size_t asker, const Question& question, const LoadedSet& set, CoreState& core,
              Now now) noexcept;
    [[nodiscard]] Answer evaluate(std::size_t asker, const Question& question, const LoadedSet& set,
                                  CoreState& core, Now now) noexcept;
    void spend(const Question& question, const LoadedSet& set, CoreState& core, Now now) noexcept;
    void charge(const Reservation& reservation, const LoadedSet& set, CoreState& core,
                Now now) noexcept;

    std::size_t self_;
    AskLanes& lanes_;
    Reservations reservations_;
    // A question comes without a packet.
    FrameColumns no_frames_;
    HeaderColumns no_headers_;
    AskCounters counters_;
};

}  // namespace sluice
