#pragma once
#include "lib/policy/lists/data_file.hpp"
#include "lib/policy/values/value_range.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// The text of a list file: one entry a line. `#` begins a comment, also after an entry (in a list
// of texts only behind a blank, so that `C#` can be one). Blanks around an entry, empty lines, CRLF
// and a byte order mark are taken without a word.
namespace sluice {

enum class ListType : std::uint8_t { Cidr, String, Number };
inline constexpr auto kListTypeNames =
    std::to_array<std::string_view>({"cidr", "string", "number"});

inline constexpr std::size_t kMaxListSize = std::size_t{64} << 20;  // bytes of a file
inline constexpr std::size_t kMaxListEntries = std::size_t{1} << 21;
inline constexpr std::size_t kMaxListText = 4096;  // bytes of an entry of type string

// Every value once; ranges are sorted and do not touch.
struct ListValues {
    ListType type = ListType::Cidr;
    std::size_t entries = 0;           // as written
    std::vector<AddressRange> v4;      // of Cidr
    std::vector<AddressRange> v6;      // of Cidr
    std::vector<NumberRange> numbers;  // of Number
    std::vector<std::string> texts;    // of String
};

struct ListText : LineFaults {
    ListValues values;
};

[[nodiscard]] ListText read_list_text(std::string_view text, ListType type,
                                      const std::stop_token& stop = {});

// The first entry of a text for which this holds of its value, and how many others there are.
struct FoundEntry {
    Position at;
    std::string entry;
    std::size_t others = 0;
};
[[nodiscard]] std::optional<FoundEntry> find_entry(
    std::string_view text, ListType type, const std::function<bool(const ListValues&)>& holds);

}  // namespace sluice
