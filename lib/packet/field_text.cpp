#include "lib/packet/field_text.hpp"
