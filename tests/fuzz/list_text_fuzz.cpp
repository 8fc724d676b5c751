#include "lib/policy/lists/list_text.hpp"
#include "lib/policy/yaml/line_index.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace {

using namespace sluice;

// Sorted, none empty, and none touches the next: what the compiler relies on.
template <typename Range>
void expect_sorted(const std::vector<Range>& ranges) {
    for (std::size_t i = 0; i < ranges.size(); ++i) {
        if (ranges[i].last < ranges[i].first || (i > 0 && ranges[i].first <= ranges[i - 1].last)) {
            std::abort();
        }
    }
}

}  // namespace

// Any text, as a list of any type: faults lie inside it, and what was read is in order.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text{reinterpret_cast<const char*>(data), size};
    const LineIndex lines{text};
    for (const ListType type : {ListType::Cidr, ListType::String, ListType::Number}) {
        const ListText list = read_list_text(text, type);
        for (const auto& fault : list.faults) {
            const Position back = lines.place_at(lines.offset_of(fault.at));
            if (fault.what.empty() || back.line != fault.at.line ||
                back.column != fault.at.column) {
                std::abort();
            }
        }
        if (list.faults.size() > ListText::kMaxFaults || list.fault_count < list.faults.size()) {
            std::abort();
        }
        expect_sorted(list.values.v4);
        expect_sorted(list.values.v6);
        expect_sorted(list.values.numbers);
        if (!std::is_sorted(list.values.texts.begin(), list.values.texts.end())) {
            std::abort();
        }
    }
    return 0;
}
