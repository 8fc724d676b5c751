#include "lib/policy/compile.hpp"
