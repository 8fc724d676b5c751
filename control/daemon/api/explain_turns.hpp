#pragma once
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>

namespace sluice {

// One request is served at a time, and few wait for it: all of them hold places of ordinary ones,
// the rest of which stays for others.
class ExplainTurns {
    struct GiveBack {
        void operator()(ExplainTurns* turns) const noexcept { turns->give_back(); }
    };

public:
    // Held while a request is served; null: there is none for it.
    using Turn = std::unique_ptr<ExplainTurns, GiveBack>;

    // `places`: of the one that is served and those that wait.
    ExplainTurns(std::size_t places, std::chrono::milliseconds patience)
        : places_{places}, patience_{patience} {}

    // Waits for the turn where there is a place to wait, and for so long as the patience lasts.
    [[nodiscard]] Turn take();

private:
    void give_back() noexcept;

    std::size_t places_;
    std::chrono::milliseconds patience_;
    std::mutex mutex_;
    std::condition_variable given_back_;
    std::size_t inside_ = 0;
    bool is_taken_ = false;
};

}  // namespace sluice
