#include "lib/meter/gcra.hpp"
