#pragma once
#include "control/daemon/api/change.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

// Parts shared by the lists of live keys and of bans: pages, and reading the workers' tables.
namespace sluice {

// `most` and `after` of a request; nullopt: they are none.
struct PageWords {
    std::uint32_t most = 0;
    std::string after;
};
[[nodiscard]] std::optional<PageWords> read_page(const HttpRequest& request);
[[nodiscard]] HttpResponse bad_page(const std::string& more);

// The beginning of a page of the tables: "WORKER:POSITION".
struct TablePlace {
    std::uint32_t worker = 0;
    std::uint64_t position = 0;
};
[[nodiscard]] std::optional<TablePlace> read_place(std::string_view text);
[[nodiscard]] std::string text_of(const TablePlace& place);
[[nodiscard]] TablePlace place_behind(const KeyPage& page);

// A page of the tables: on and on, as long as nothing is found and not too much has been read.
[[nodiscard]] std::variant<KeyPage, HttpResponse> read_tables(ListKeys request, Services& services);

// To a thousandth.
[[nodiscard]] double seconds_of(std::int64_t ns);

}  // namespace sluice
