#include "lib/pch/standard.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

// As lib/pch/standard.hpp, with what control adds.
