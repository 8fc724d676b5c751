#pragma once
#include "control/daemon/api/explain_turns.hpp"

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <set>
#include <string>
#include <utility>

namespace sluice {

// Conditions of traces are compiled one by one. Of each asker one is being compiled or waits for
// that, behind which all their others stand, so that nobody's many keep out another's.
class ConditionTurns {
public:
    static constexpr std::size_t kMostWaiting = 8;  // askers, with the one that is served
    static constexpr std::chrono::seconds kPatience{10};

    explicit ConditionTurns(std::chrono::milliseconds patience = kPatience)
        : patience_{patience}, turns_{kMostWaiting, patience} {}

    // The right to compile, given back with it. Without one many wait, or it took too long.
    class Turn {
    public:
        Turn(ConditionTurns& owner, std::string asker)
            : owner_{owner}, asker_{std::move(asker)}, is_own_{owner_.enter(asker_)} {
            turn_ = is_own_ ? owner_.turns_.take() : nullptr;
        }
        ~Turn() {
            turn_ = nullptr;
            if (is_own_) {
                owner_.leave(asker_);
            }
        }
        Turn(const Turn&) = delete;
        Turn& operator=(const Turn&) = delete;

        [[nodiscard]] explicit operator bool() const noexcept { return turn_ != nullptr; }

    private:
        ConditionTurns& owner_;
        std::string asker_;
        bool is_own_;
        ExplainTurns::Turn turn_{};
    };

private:
    [[nodiscard]] bool enter(const std::string& asker) {
        std::unique_lock lock{mutex_};
        return left_.wait_for(lock, patience_, [&] { return !inside_.contains(asker); }) &&
               inside_.insert(asker).second;
    }
    void leave(const std::string& asker) {
        {
            const std::lock_guard lock{mutex_};
            inside_.erase(asker);
        }
        left_.notify_all();
    }

    std::chrono::milliseconds patience_;
    std::mutex mutex_;
    std::condition_variable left_;
    std::set<std::string> inside_;
    ExplainTurns turns_;
};

}  // namespace sluice
