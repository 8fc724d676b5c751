#include "lib/wire/socket.hpp"
