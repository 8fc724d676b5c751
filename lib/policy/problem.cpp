#include "lib/policy/problem.hpp"
