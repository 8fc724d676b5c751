#include "control/daemon/preview/preview_desk.hpp"

#include <utility>

namespace sluice {

void PreviewDesk::begin(const std::string& name, PreviewTerms terms) {
    const std::lock_guard lock{mutex_};
    if (current_) {
        current_->run->end("a newer preview has taken its place");
        former_ = std::move(current_);
    }
    auto run = std::make_shared<PreviewRun>(std::move(terms), link_);
    current_ = {name, run};
    thread_ = std::jthread{[run](const std::stop_token& stop) { run->run(stop); }};
}

std::shared_ptr<PreviewRun> PreviewDesk::find(const std::string& name) {
    const std::lock_guard lock{mutex_};
    for (const std::optional<Named>* one : {&current_, &former_}) {
        if (*one && (*one)->name == name) {
            return (*one)->run;
        }
    }
    return nullptr;
}

std::optional<PreviewRun::View> PreviewDesk::read(const std::string& name,
                                                  std::chrono::seconds wait) {
    const std::shared_ptr<PreviewRun> run = find(name);
    return run == nullptr ? std::nullopt : std::optional{run->read(wait)};
}

std::optional<PreviewRun::View> PreviewDesk::end(const std::string& name) {
    const std::shared_ptr<PreviewRun> run = find(name);
    if (run == nullptr) {
        return std::nullopt;
    }
    PreviewRun::View before = run->read(std::chrono::seconds{0});
    run->end("it was ended");
    return before;
}

}  // namespace sluice
