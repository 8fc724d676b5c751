#include "lib/meter/group_key.hpp"
