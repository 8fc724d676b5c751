#include "lib/l7/quic/quic_answers.hpp"

#include <bit>

namespace sluice {
namespace {

// Places are far more than the answers that come in the second for which a client waits before it
// repeats a hello.
std::size_t places_for(std::size_t connections) noexcept {
    return std::bit_ceil(connections * 2);
}

}  // namespace

QuicAnswers::QuicAnswers(std::size_t connections)
    : places_(places_for(connections)), ids_(places_for(connections)) {}

std::uint64_t QuicAnswers::memory_of(std::size_t connections) noexcept {
    return places_for(connections) * (sizeof(Place) + sizeof(std::uint64_t));
}

}  // namespace sluice
