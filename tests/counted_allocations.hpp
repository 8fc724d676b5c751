#pragma once
#include <cstddef>

// A program that is linked with counted_allocations.cpp counts its allocations, and with
// counted_openssl.cpp those of OpenSSL too: what handles packets makes none.
namespace sluice::test {

// Of this thread, since it began.
[[nodiscard]] std::size_t allocations() noexcept;
// One more has been made.
void note_allocation() noexcept;
// Whether OpenSSL's are among them.
[[nodiscard]] bool counts_openssl() noexcept;

}  // namespace sluice::test
