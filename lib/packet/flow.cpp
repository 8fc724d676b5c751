#include "lib/packet/flow.hpp"
