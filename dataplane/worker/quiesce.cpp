#include "dataplane/worker/quiesce.hpp"

#include <cstdlib>

#include <rte_cycles.h>
#include <rte_rcu_qsbr.h>

namespace sluice {

QuiesceBoard::QuiesceBoard(std::size_t workers) : workers_{workers} {
    const auto threads = static_cast<std::uint32_t>(workers);
    const std::size_t size = rte_rcu_qsbr_get_memsize(threads);
    board_ = static_cast<rte_rcu_qsbr*>(std::aligned_alloc(RTE_CACHE_LINE_SIZE, size));
    if (board_ == nullptr || rte_rcu_qsbr_init(board_, threads) != 0) {
        std::abort();
    }
}

QuiesceBoard::~QuiesceBoard() {
    std::free(board_);
}

void QuiesceBoard::join(std::size_t worker) noexcept {
    const auto id = static_cast<unsigned>(worker);
    (void)rte_rcu_qsbr_thread_register(board_, id);
    rte_rcu_qsbr_thread_online(board_, id);
}

void QuiesceBoard::leave(std::size_t worker) noexcept {
    const auto id = static_cast<unsigned>(worker);
    rte_rcu_qsbr_thread_offline(board_, id);
    (void)rte_rcu_qsbr_thread_unregister(board_, id);
}

void QuiesceBoard::quiescent(std::size_t worker) noexcept {
    rte_rcu_qsbr_quiescent(board_, static_cast<unsigned>(worker));
}

std::uint64_t QuiesceBoard::mark() noexcept {
    return rte_rcu_qsbr_start(board_);
}

bool QuiesceBoard::any_passed(std::uint64_t mark) const noexcept {
    for (std::size_t worker = 0; worker < workers_; ++worker) {
        const std::uint64_t seen = __atomic_load_n(&board_->qsbr_cnt[worker].cnt, __ATOMIC_ACQUIRE);
        if (seen != __RTE_QSBR_CNT_THR_OFFLINE && seen >= mark) {
            return true;
        }
    }
    return false;
}

std::optional<GracePeriod> QuiesceBoard::passed(std::uint64_t mark) noexcept {
    if (rte_rcu_qsbr_check(board_, mark, false) != 1) {
        return std::nullopt;
    }
    return GracePeriod{};
}

std::optional<GracePeriod> QuiesceBoard::wait_for(std::uint64_t mark,
                                                  std::chrono::milliseconds timeout) noexcept {
    const auto deadline = std::chrono::steady_clock::now() + timeout;
    do {
        if (const std::optional<GracePeriod> proof = passed(mark)) {
            return proof;
        }
        constexpr unsigned kPauseUs = 50;
        rte_delay_us_sleep(kPauseUs);
    } while (std::chrono::steady_clock::now() < deadline);
    return std::nullopt;
}

}  // namespace sluice
