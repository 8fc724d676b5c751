#pragma once
#include "lib/base/result.hpp"
#include "lib/wire/codec.hpp"
#include "lib/wire/fd.hpp"

#include <chrono>
#include <string>

namespace sluice {

// The client's end of dataplane.sock: blocking, with a timeout for each call.
class DataplaneClient {
public:
    // Connects and exchanges Hello and Welcome. `audit_dir`: where the caller records changes.
    [[nodiscard]] static Result<DataplaneClient> connect(const std::string& path,
                                                         const std::string& program,
                                                         std::chrono::milliseconds timeout,
                                                         const std::string& audit_dir = "");
    // One request, its reply. A Failure comes back as an Error with Errc::Refused; a broken
    // connection as Errc::Unreachable, after which the client is of no more use.
    [[nodiscard]] Result<Reply> call(const Request& request);
    // For how many timeouts a request of so many bytes is waited for: three for rules, which the
    // dataplane builds and makes durable before it answers, and one more for each 4 MiB of them.
    [[nodiscard]] static int patience(const Request& request, std::size_t size) noexcept;
    // True if the other end is still there, without waiting.
    [[nodiscard]] bool is_alive() const noexcept;
    [[nodiscard]] const Welcome& welcome() const noexcept { return welcome_; }

private:
    DataplaneClient(Fd fd, std::chrono::milliseconds timeout) noexcept;
    Fd fd_;
    std::chrono::milliseconds timeout_;
    Welcome welcome_;
};

}  // namespace sluice
