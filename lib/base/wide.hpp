#pragma once

namespace sluice {

// 128-bit products of two 64-bit numbers. ISO C++ has no name for the type; both compilers do.
__extension__ using Wide = unsigned __int128;

}  // namespace sluice
