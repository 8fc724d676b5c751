#pragma once
#include "control/fleet/fleet_records.hpp"
#include "control/rule_files.hpp"
#include "lib/base/result.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

// Rule files, with the lists that came along, as one run of bytes: a line of JSON that names the
// parts and their sizes, then the parts.
struct SetArchive {
    RuleFiles files;
    std::map<std::string, std::shared_ptr<const std::string>> lists{};
};

inline constexpr std::size_t kMostSetBytes = 128U << 20;  // as much as one call of the API takes
inline constexpr std::size_t kChunkBytes = 1U << 20;      // etcd takes requests of 1.5 MiB

[[nodiscard]] std::string bytes_of(const SetArchive& set);
// Bytes from outside.
[[nodiscard]] Result<SetArchive> archive_from(std::string_view bytes);
[[nodiscard]] SetName name_of_set(std::string_view bytes);
// The texts alone, whatever file they are from: what a box runs is compared by it.
[[nodiscard]] std::string sum_of_text(std::string_view text);

}  // namespace sluice
