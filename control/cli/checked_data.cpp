#include "control/cli/checked_data.hpp"

#include "control/cli/table.hpp"
#include "control/cli/terminal.hpp"

#include <fmt/format.h>

#include <chrono>
#include <string>

namespace sluice {
namespace {

// Databases differ by days.
std::string day_of(std::uint64_t utc) {
    const auto days =
        std::chrono::floor<std::chrono::days>(std::chrono::sys_seconds{std::chrono::seconds{utc}});
    const std::chrono::year_month_day day{days};
    return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(day.year()),
                       static_cast<unsigned>(day.month()), static_cast<unsigned>(day.day()));
}

}  // namespace

void print_lists(const std::vector<ListSummary>& lists) {
    Table table{{{"LIST"}, {"TYPE"}, {"ENTRIES", kRight}, {"RANGES", kRight}, {"FILE"}}};
    for (const ListSummary& list : lists) {
        table.row({list.name, list.type, list.known ? grouped(list.entries) : "unknown",
                   list.known ? grouped(list.ranges) : "", list.file});
    }
    print(table.text());
}

void print_databases(const std::vector<DatabaseSummary>& databases) {
    Table table{{{"DATABASE"}, {"TYPE"}, {"BUILT"}, {"RANGES", kRight}, {"FILE"}}};
    for (const DatabaseSummary& one : databases) {
        table.row({one.key, one.known ? one.type : "unknown", one.known ? day_of(one.built_at) : "",
                   one.known ? grouped(one.ranges) : "", one.file});
    }
    print(table.text());
}

Json databases_json(const std::vector<DatabaseSummary>& databases) {
    Json all = Json::array();
    for (const DatabaseSummary& one : databases) {
        all.push_back({{"key", one.key},
                       {"type", one.type},
                       {"file", one.file},
                       {"known", one.known},
                       {"built_at", one.built_at},
                       {"ranges", one.ranges}});
    }
    return all;
}

Json lists_json(const std::vector<ListSummary>& lists) {
    Json all = Json::array();
    for (const ListSummary& list : lists) {
        all.push_back({{"name", list.name},
                       {"type", list.type},
                       {"file", list.file},
                       {"known", list.known},
                       {"entries", list.entries},
                       {"ranges", list.ranges}});
    }
    return all;
}

}  // namespace sluice
