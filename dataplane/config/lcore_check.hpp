#pragma once
#include "lib/base/result.hpp"

#include <functional>
#include <string_view>

namespace sluice {

// Checks that DPDK can start lcores by this list ("0@0,(1-3)@(4-6)"): it is one, and the processors
// that it names are `there`. What is wrong with it is said here, since the EAL shows all of its
// options instead.
[[nodiscard]] Result<Done> check_lcores(std::string_view list,
                                        const std::function<bool(unsigned)>& there);

// The processors that this process may run on.
[[nodiscard]] bool may_run_on(unsigned processor);

}  // namespace sluice
