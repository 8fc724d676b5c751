#pragma once
#include "control/daemon/request_class.hpp"

#include <sys/types.h>
#include <array>
#include <cstddef>
#include <map>
#include <mutex>
#include <utility>

namespace sluice {

// Connections that are being served, bounded for each class of requests: all together, and those
// of one user, so that nobody keeps everybody else out and no class keeps out another.
class Places {
public:
    struct Bound {
        std::size_t all;
        std::size_t of_user;
    };
    static constexpr std::array<Bound, kRequestClassCount> kBounds{
        {{48, 24}, {12, 8}, {4, 4}, {32, 8}, {4, 2}, {32, 12}, {32, 8}, {32, 16}, {32, 8}}};
    static constexpr std::size_t kAll = 228;

    [[nodiscard]] bool take(RequestClass kind, uid_t user);
    void give_back(RequestClass kind, uid_t user);
    // More than half are taken, by the user or by all: nobody is to stay longer than for a request.
    [[nodiscard]] bool is_crowded(RequestClass kind, uid_t user);

private:
    std::mutex mutex_;
    std::array<std::size_t, kRequestClassCount> taken_{};
    std::map<std::pair<RequestClass, uid_t>, std::size_t> by_user_;
};

}  // namespace sluice
