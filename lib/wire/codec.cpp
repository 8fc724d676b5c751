#include "lib/wire/codec.hpp"
