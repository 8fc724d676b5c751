#pragma once
#include "lib/policy/yaml/line_index.hpp"
#include "lib/policy/yaml/yaml_tree.hpp"

#include <cstddef>
#include <vector>

namespace sluice {

// The places in the file of the bytes of a scalar's text: plain, quoted or block, also over several
// lines and behind escapes. Built once for a scalar, then used for any number of places.
class ScalarPlaces {
public:
    ScalarPlaces(const LineIndex& lines, const YamlNode& scalar);

    // One place behind the last byte is where something was missing.
    [[nodiscard]] Position operator[](std::size_t offset) const noexcept;

private:
    const LineIndex& lines_;
    std::vector<std::size_t> offsets_;  // in the file; one more than the text has bytes
};

}  // namespace sluice
