#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include <immintrin.h>

// What nearly every source reads, read once for each library. Nothing relies on it: every source
// names what it uses, and clang-tidy (scripts/check) reads each without this. It is compiled by
// itself, so it has no include guard.
