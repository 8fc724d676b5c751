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

    static constexpr std::size_t kPlaces = 4;
    static constexpr std::chrono::seconds kPatience{10};

    // `places`: of the one that is served and those that wait.
    explicit ExplainTurns(std::size_t places = kPlaces,
                          std::chrono::milliseconds patience = kPatience)
        : places_{places}, patience_{patience} {}

    // Waits for the turn where there is a place to wait, and for so long as the patience lasts.
    [[nodiscard]] Turn take();
    // The number of questions that hold a place.
    [[nodiscard]] std::size_t inside() const;

private:
    void give_back() noexcept;

    std::size_t places_;
    std::chrono::milliseconds patience_;
    mutable std::mutex mutex_;
    std::condition_variable given_back_;
    std::size_t inside_ = 0;
    bool is_taken_ = false;
};

}  // namespace sluice
