#pragma once
#include "lib/base/result.hpp"
#include "lib/wire/fd.hpp"

#include <string>
#include <utility>
#include <vector>

namespace sluice {

// The right to an interface of the kernel as a port: of one port of one dataplane at a time. It is
// an abstract socket that is named for the interface's index, so that it is known in just the
// network namespace that the interface lies in, and ends with the process, however that ends.
class InterfaceHold {
public:
    // An Error says who has the interface. One that is not there is held by nobody.
    [[nodiscard]] static Result<InterfaceHold> take(const std::string& interface);

private:
    explicit InterfaceHold(Fd socket) noexcept : socket_{std::move(socket)} {}

    Fd socket_;
};

// Holds all interfaces that a device is told to use.
[[nodiscard]] Result<std::vector<InterfaceHold>> hold_interfaces(const std::string& device);

}  // namespace sluice
