#include "lib/meter/bucket_table.hpp"
