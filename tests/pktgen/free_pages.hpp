#pragma once
#include <cstdint>
#include <filesystem>

namespace sluice::pktgen {

inline constexpr const char* kHugePages = "/sys/kernel/mm/hugepages";

// Megabytes of free huge pages of every size. A folder that is missing has none.
[[nodiscard]] std::uint64_t free_huge_megabytes(const std::filesystem::path& pages = kHugePages);

}  // namespace sluice::pktgen
