#pragma once
#include "dataplane/box/dataplane.hpp"
#include "dataplane/control/request_handler.hpp"

namespace sluice {

// The answers of the dataplane to requests. Changes are logged with who asked for them.
class DataplaneRequests : public RequestHandler {
public:
    // `dataplane` outlives it.
    explicit DataplaneRequests(Dataplane& dataplane) : dataplane_{dataplane} {}

    [[nodiscard]] Reply answer(Asked asked) override;
    [[nodiscard]] MemoryBudget memory() const override { return dataplane_.room(); }

private:
    Dataplane& dataplane_;
};

}  // namespace sluice
