#include "tests/counted_allocations.hpp"

#include <cstdlib>

#include <openssl/crypto.h>

namespace sluice::test {
namespace {

void* count_malloc(std::size_t size, const char*, int) {
    note_allocation();
    return std::malloc(size);
}
void* count_realloc(void* memory, std::size_t size, const char*, int) {
    note_allocation();
    return std::realloc(memory, size);
}
void count_free(void* memory, const char*, int) {
    std::free(memory);
}

// OpenSSL takes these only before it allocates for the first time.
const int counted = CRYPTO_set_mem_functions(&count_malloc, &count_realloc, &count_free);

}  // namespace

bool counts_openssl() noexcept {
    return counted == 1;
}

}  // namespace sluice::test
