#pragma once
#include "control/daemon/preview/preview_run.hpp"

#include <chrono>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace sluice {

// The one preview of a box: a newer one takes the place of the one before, whatever that is at.
class PreviewDesk {
public:
    explicit PreviewDesk(DataplaneLink& link) noexcept : link_{link} {}

    // Held from before a trace begins until begin(), so that the newest trace is that of the newest
    // preview.
    [[nodiscard]] std::unique_lock<std::mutex> turn() { return std::unique_lock{turn_}; }
    // Begins a preview under this name, which is the trace's.
    void begin(const std::string& name, PreviewTerms terms);
    // nullopt: there is none of that name, nor was it among the last 64.
    [[nodiscard]] std::optional<PreviewRun::View> read(const std::string& name,
                                                       std::chrono::seconds wait);
    // Ends it; as it is then.
    [[nodiscard]] std::optional<PreviewRun::View> end(const std::string& name);
    // Ends the one that is under way and whatever waits for it: sluiced stops.
    void stop();

private:
    struct Named {
        std::string name;
        std::shared_ptr<PreviewRun> run;
    };
    [[nodiscard]] std::shared_ptr<PreviewRun> find(const std::string& name);
    [[nodiscard]] std::optional<PreviewRun::View> superseded(const std::string& name);

    DataplaneLink& link_;
    std::mutex turn_;  // locked before the other
    std::mutex mutex_;
    std::optional<Named> current_;
    std::optional<Named> former_;         // whose place was taken
    std::deque<std::string> superseded_;  // names of it and of those before, oldest first
    std::jthread thread_;                 // the current one's; it ends before the next begins
};

}  // namespace sluice
