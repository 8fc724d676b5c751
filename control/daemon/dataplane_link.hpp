#pragma once
#include "lib/base/result.hpp"
#include "lib/wire/dataplane_client.hpp"

#include <mutex>
#include <optional>
#include <string>

namespace sluice {

// The one connection to the dataplane. Calls are made one at a time, each with a timeout; a broken
// connection is dropped, and connect() is tried again by whoever keeps the link.
class DataplaneLink {
public:
    explicit DataplaneLink(std::string path) : path_{std::move(path)} {}

    // Unreachable while there is no dataplane.
    [[nodiscard]] Result<Reply> call(const Request& request);

    // Connects anew; what the dataplane said of itself.
    [[nodiscard]] Result<Welcome> connect();
    // Whether there is a connection whose other end is alive.
    [[nodiscard]] bool check();

    struct Status {
        bool connected = false;
        std::uint32_t pid = 0;
    };
    [[nodiscard]] Status status();

private:
    std::mutex mutex_;
    std::string path_;
    std::optional<DataplaneClient> client_;
};

}  // namespace sluice
