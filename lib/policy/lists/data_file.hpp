#pragma once
#include "lib/policy/lists/list_reader.hpp"
#include "lib/policy/yaml/map_reader.hpp"
#include "lib/policy/yaml/text_check.hpp"

#include <algorithm>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

// Files of data that a rule file names: lists, overrides, databases.
namespace sluice {

// The path under a key of a map; nullopt: there is none, or none that can be one, which was
// reported.
[[nodiscard]] std::optional<std::string> data_path(const MapReader& map, std::string_view key,
                                                   const ReadContext& context);

// The file, which is named at `at`; nullopt: it cannot be read, which was reported. Where rules
// shall be enforced that is an error, else a warning.
[[nodiscard]] std::optional<ListFile> read_data_file(const std::string& path, Position at,
                                                     const ListReader* files,
                                                     const ReadContext& context);

struct LineFaults {
    static constexpr std::size_t kMaxFaults = 20;
    struct Fault {
        Position at;
        std::string what;
    };

    std::vector<Fault> faults;  // the first of them
    std::size_t fault_count = 0;

    void add_fault(Fault fault);
    void report(const std::string& file, Problems& problems) const;
};

// Calls `read(line, number, skipped)` with each line, counted from 1, without its end; `skipped`:
// bytes of a byte order mark before it. Ends early where it says false, or is interrupted.
template <typename Read>
void each_line(std::string_view text, const std::stop_token& stop, Read&& read) {
    std::size_t skipped = text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
    text.remove_prefix(skipped);
    StopCheck check{stop};
    for (std::uint32_t number = 1; !text.empty() && !check.is_requested(); ++number) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(0, end);
        if (line.ends_with('\r')) {
            line.remove_suffix(1);
        }
        text.remove_prefix(std::min(end + 1, text.size()));
        if (!read(line, number, skipped)) {
            return;
        }
        skipped = 0;
    }
}

}  // namespace sluice
