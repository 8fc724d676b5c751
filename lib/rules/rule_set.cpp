#include "lib/rules/rule_set.hpp"
