#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace sluice {

// Up to which instant all workers are known to run: the heartbeat of the box, which a single worker
// that stands still holds back.
class WorkerPulse {
public:
    explicit WorkerPulse(std::size_t workers) : last_(workers) {}

    // `rounds(worker)`: a counter that grows with every round of that worker. 0: one of them has
    // not begun yet.
    template <typename Rounds>
    [[nodiscard]] std::uint64_t look(Rounds&& rounds, std::uint64_t now) {
        std::uint64_t all = std::numeric_limits<std::uint64_t>::max();
        for (std::size_t worker = 0; worker < last_.size(); ++worker) {
            Seen& seen = last_[worker];
            if (const std::uint64_t count = rounds(worker); count != seen.rounds) {
                seen = {count, now};
            }
            all = seen.at < all ? seen.at : all;
        }
        return last_.empty() ? 0 : all;
    }

private:
    struct Seen {
        std::uint64_t rounds = 0;
        std::uint64_t at = 0;
    };
    std::vector<Seen> last_;
};

}  // namespace sluice
