#include "lib/meter/limit.hpp"
