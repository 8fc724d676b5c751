#pragma once
#include "lib/share/published.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

struct rte_rcu_qsbr;

namespace sluice {

// The board on which workers say that they have crossed a burst boundary (rte_rcu_qsbr), and the
// only maker of a GracePeriod. Waiting has a timeout and holds no lock.
class QuiesceBoard {
public:
    explicit QuiesceBoard(std::size_t workers);
    ~QuiesceBoard();
    QuiesceBoard(const QuiesceBoard&) = delete;
    QuiesceBoard& operator=(const QuiesceBoard&) = delete;

    // Worker: when it begins and ends, and after each burst.
    void join(std::size_t worker) noexcept;
    void leave(std::size_t worker) noexcept;
    void quiescent(std::size_t worker) noexcept;

    // Control: a point in time, and the proof that all workers have passed it. nullopt: not yet.
    [[nodiscard]] std::uint64_t mark() noexcept;
    // True if one worker has, at least.
    [[nodiscard]] bool any_passed(std::uint64_t mark) const noexcept;
    [[nodiscard]] std::optional<GracePeriod> passed(std::uint64_t mark) noexcept;
    [[nodiscard]] std::optional<GracePeriod> wait_for(std::uint64_t mark,
                                                      std::chrono::milliseconds timeout) noexcept;

private:
    rte_rcu_qsbr* board_;
    std::size_t workers_;
};

}  // namespace sluice
