#include "lib/pipeline/stages.hpp"
