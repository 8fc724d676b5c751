#include "lib/rules/group.hpp"
