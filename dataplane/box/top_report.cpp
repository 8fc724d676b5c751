#include "dataplane/box/top_report.hpp"

#include <span>

namespace sluice {

void TopReport::adopt(const LoadedSet& rules) {
    take_samples();
    top_.adopt(rules);
}

void TopReport::take_samples() {
    for (const auto& sampler : workers_.samplers()) {
        sampler->ring().drain([this](const KeySample& sample) { top_.take(sample); });
    }
    const auto now = std::chrono::steady_clock::now() - started_;
    top_.pass(Instant{std::chrono::duration_cast<Nanoseconds>(now)});
}

Top TopReport::list(const GetTop& request, const Ports& ports) {
    take_samples();
    const Nanoseconds window = kTopWindows[static_cast<std::size_t>(request.window)];
    Top top{.window_ns = static_cast<std::uint64_t>(window.count()),
            .samples = top_.samples(request.window),
            .lost = 0,
            .keys = top_.list({request.rule, request.order, request.window, request.count})};
    for (const auto& sampler : workers_.samplers()) {
        top.lost += sampler->lost();
    }
    for (TopKey& key : top.keys) {
        key.key = text_of_key(std::as_bytes(std::span{key.key}),
                              [&](std::uint64_t name) { return ports.pair_called(name); });
    }
    return top;
}

}  // namespace sluice
