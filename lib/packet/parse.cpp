#include "lib/packet/parse.hpp"
