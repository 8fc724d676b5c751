#include "lib/pch/standard.hpp"

#include <gtest/gtest.h>

#include <random>

// As lib/pch/standard.hpp, with what tests add.
