#pragma once
#include "lib/base/result.hpp"
#include "lib/rules/box_config.hpp"

#include <cstddef>
#include <cstdint>

namespace sluice {

// Bytes that the tables of connections and fragments of all workers take.
[[nodiscard]] std::uint64_t unit_memory_of(const BoxConfig& box, std::size_t workers) noexcept;

// The tables are taken once, and where they do not fit the process would end: an Error says how
// much they need and how much there is.
[[nodiscard]] Result<Done> check_unit_memory(const BoxConfig& box, std::size_t workers);

}  // namespace sluice
