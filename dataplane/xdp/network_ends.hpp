#pragma once
#include "dataplane/xdp/port_maps.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <vector>

namespace sluice {

// Ends of networks, the first at the top: so that what has ended is found without a look at what
// has not. One that is taken out early, or given another end, leaves an end behind that means
// nothing; the owner tells those apart.
class NetworkEnds {
public:
    struct End {
        std::uint64_t at = 0;  // CLOCK_MONOTONIC, ns
        sluice_network network{};

        [[nodiscard]] bool operator==(const End& other) const noexcept {
            return at == other.at && order(other) == 0;
        }
        [[nodiscard]] bool operator>(const End& other) const noexcept {
            return at != other.at ? at > other.at : order(other) > 0;
        }
        [[nodiscard]] bool operator<(const End& other) const noexcept { return other > *this; }

    private:
        [[nodiscard]] int order(const End& other) const noexcept {
            return std::memcmp(&network, &other.network, sizeof(network));
        }
    };

    void add(const End& end) {
        ends_.push_back(end);
        std::push_heap(ends_.begin(), ends_.end(), std::greater<>{});
    }
    // The one that was over first; nullopt: none is over by `now`.
    [[nodiscard]] std::optional<End> take_ended(std::uint64_t now) {
        if (ends_.empty() || ends_.front().at > now) {
            return std::nullopt;
        }
        std::pop_heap(ends_.begin(), ends_.end(), std::greater<>{});
        const End ended = ends_.back();
        ends_.pop_back();
        return ended;
    }
    // Keeps the ends that mean something, each once.
    template <typename Means>
    void keep_if(Means&& means) {
        std::erase_if(ends_, [&](const End& end) { return !means(end); });
        std::sort(ends_.begin(), ends_.end());  // which is a heap too
        ends_.erase(std::unique(ends_.begin(), ends_.end()), ends_.end());
    }
    void clear() noexcept { ends_.clear(); }
    [[nodiscard]] std::size_t size() const noexcept { return ends_.size(); }

private:
    std::vector<End> ends_;  // a heap
};

}  // namespace sluice
