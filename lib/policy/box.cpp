#include "lib/policy/box.hpp"
