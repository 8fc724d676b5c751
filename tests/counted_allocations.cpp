#include "tests/counted_allocations.hpp"

#include <cstdlib>
#include <new>

namespace sluice::test {
namespace {
thread_local std::size_t made = 0;
}

std::size_t allocations() noexcept {
    return made;
}
void note_allocation() noexcept {
    ++made;
}

}  // namespace sluice::test

// Every allocation of the program passes here. Not inlined: the compiler would take malloc and
// delete for a mismatched pair.
[[gnu::noinline]] void* operator new(std::size_t size) {
    sluice::test::note_allocation();
    void* memory = std::malloc(size);
    if (memory == nullptr) {
        throw std::bad_alloc{};
    }
    return memory;
}
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    sluice::test::note_allocation();
    return std::malloc(size);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
    std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}
