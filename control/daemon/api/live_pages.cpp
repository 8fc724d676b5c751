#include "control/daemon/api/live_pages.hpp"

#include "lib/base/whole_number.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace sluice {
namespace {

constexpr std::uint32_t kPageUnlessSaid = 100;
// Reads for one request: some ms of the dataplane's main lcore each.
constexpr int kMostTableReads = 8;

}  // namespace

std::optional<PageWords> read_page(const HttpRequest& request) {
    PageWords page{.most = kPageUnlessSaid, .after = argument(request, "after", "")};
    const std::string most = argument(request, "most", std::to_string(kPageUnlessSaid));
    page.most = whole_number<std::uint32_t>(most).value_or(0);
    const bool fits = page.most != 0 && page.most <= kMostListedKeys;
    return fits ? std::optional{std::move(page)} : std::nullopt;
}

HttpResponse bad_page(const std::string& more) {
    return bad_request(
        fmt::format("`most` is a number from 1 to {}, `after` what `next` of "
                    "the page before says, {}",
                    kMostListedKeys, more));
}

std::optional<TablePlace> read_place(std::string_view text) {
    const std::size_t colon = std::min(text.find(':'), text.size());
    const auto worker = whole_number<std::uint32_t>(text.substr(0, colon));
    const auto position = whole_number(text.substr(std::min(colon + 1, text.size())));
    return worker && position ? std::optional{TablePlace{*worker, *position}} : std::nullopt;
}

std::string text_of(const TablePlace& place) {
    return fmt::format("{}:{}", place.worker, place.position);
}

TablePlace place_behind(const KeyPage& page) {
    return {page.worker, page.position};
}

std::variant<KeyPage, HttpResponse> read_tables(ListKeys request, Services& services) {
    KeyPage page;
    for (int reads = 0; reads < kMostTableReads && page.keys.empty() && !page.ends; ++reads) {
        Result<KeyPage> read = ask_for<KeyPage>(services.link, request);
        if (!read) {
            return read.error().code == Errc::Refused
                       ? problem_response(409, "other rules run now",
                                          "the rules have changed; ask again from the beginning")
                       : no_dataplane(read.error());
        }
        page = *std::move(read);
        request.worker = page.worker;
        request.position = page.position;
    }
    return page;
}

double seconds_of(std::int64_t ns) {
    return std::round(static_cast<double>(ns) / 1e6) / 1e3;
}

}  // namespace sluice
