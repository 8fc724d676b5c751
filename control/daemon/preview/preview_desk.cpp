#include "control/daemon/preview/preview_desk.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace sluice {
namespace {

constexpr std::size_t kMostSuperseded = 64;
constexpr std::string_view kSuperseded = "a newer preview has taken its place";

}  // namespace

void PreviewDesk::begin(const std::string& name, PreviewTerms terms) {
    const std::lock_guard lock{mutex_};
    if (current_) {
        current_->run->end(std::string{kSuperseded});
        superseded_.push_back(current_->name);
        if (superseded_.size() > kMostSuperseded) {
            superseded_.pop_front();
        }
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
    return run == nullptr ? superseded(name) : std::optional{run->read(wait)};
}

std::optional<PreviewRun::View> PreviewDesk::end(const std::string& name) {
    const std::shared_ptr<PreviewRun> run = find(name);
    if (run == nullptr) {
        return superseded(name);
    }
    PreviewRun::View before = run->read(std::chrono::seconds{0});
    run->end("it was ended");
    return before;
}

void PreviewDesk::stop() {
    const std::lock_guard lock{mutex_};
    if (current_) {
        current_->run->end("sluiced stops");
    }
}

std::optional<PreviewRun::View> PreviewDesk::superseded(const std::string& name) {
    const std::lock_guard lock{mutex_};
    if (std::ranges::find(superseded_, name) == superseded_.end()) {
        return std::nullopt;
    }
    return PreviewRun::View{PreviewRun::State::Ended, std::string{kSuperseded}, Json::object()};
}

}  // namespace sluice
