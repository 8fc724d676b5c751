#include "lib/match/program.hpp"
