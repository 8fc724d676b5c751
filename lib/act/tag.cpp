#include "lib/act/tag.hpp"
