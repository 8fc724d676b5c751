#pragma once
#include "control/store/dataplane_end.hpp"
#include "control/store/store_link.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <poll.h>

namespace sluice {

// Between the dataplane and the store, on one thread: batches go one way, replies and reports the
// other. Either end may go and come back.
class StoreLoop {
public:
    using Told = std::function<void(const StoreLinkReport&)>;
    // `told`: of each change of the link.
    StoreLoop(std::string socket, StoreLink link, Told told);

    // Until that descriptor is readable.
    void run(int stop_fd);

private:
    void meet_dataplane(std::uint64_t now_us);
    void lose_dataplane();
    void hear(std::uint64_t now_us);
    void tell();
    void report(std::uint64_t now_us);

    std::string socket_;
    StoreLink link_;
    Told told_;
    std::optional<DataplaneEnd> dataplane_;
    std::uint64_t meet_at_us_ = 0;
    std::uint64_t report_at_us_ = 0;
    StoreLinkReport reported_;
    std::vector<pollfd> waited_;
};

}  // namespace sluice
