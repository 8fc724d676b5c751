#include "lib/packet/ip_address.hpp"
