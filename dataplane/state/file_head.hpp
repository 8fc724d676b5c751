#pragma once
#include "lib/base/bytes.hpp"
#include "lib/base/result.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace sluice {

// The kind of a state file. Another version is another form of what follows its head.
struct FileKind {
    std::array<char, 8> magic;
    std::uint32_t version;
    std::string_view name;  // for people: "rule set"
};

// The file of that kind with those bytes: before them, what it is, how long they are, and a sum of
// them.
[[nodiscard]] std::vector<std::byte> with_head(const FileKind& kind, std::vector<std::byte> body);

// The bytes behind the head. An Error says why they are not to be read: the file is of another kind
// or version, was cut off, or is not as it was written.
[[nodiscard]] Result<ByteView> body_of(const FileKind& kind, ByteView file);

}  // namespace sluice
