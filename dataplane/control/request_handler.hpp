#pragma once
#include "lib/wire/memory_budget.hpp"
#include "lib/wire/message.hpp"

#include <string>

namespace sluice {

// A client's request, and the server that it came through.
struct Asked {
    Request request;
    std::string client;           // for the log: "uid 0 pid 17"
    std::string audit_dir;        // of the sluiced that was connected last
    const ControlStats& refused;  // by the server so far
};

// Answers requests of the control socket, on the main lcore: never waits.
class RequestHandler {
public:
    RequestHandler() = default;
    RequestHandler(const RequestHandler&) = delete;
    RequestHandler& operator=(const RequestHandler&) = delete;
    virtual ~RequestHandler() = default;

    // Hello among them; its version is one that is spoken here.
    [[nodiscard]] virtual Reply answer(Asked asked) = 0;
    // The memory that a request with rules may take.
    [[nodiscard]] virtual MemoryBudget memory() const = 0;
};

}  // namespace sluice
