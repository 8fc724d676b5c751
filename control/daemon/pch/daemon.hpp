#include "control/pch/control.hpp"

#include <spdlog/spdlog.h>

// As control/pch/control.hpp, with what the daemon adds.
