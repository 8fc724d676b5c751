#include "control/daemon/api/live_pages.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

namespace sluice {
namespace {

constexpr std::uint32_t kPageUnlessSaid = 100;
// Of one request: some ms of the dataplane's main lcore each.
constexpr int kMostTableReads = 8;

bool parse_number_text(std::string_view text, auto& number) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc{} && end == text.data() + text.size() && !text.empty();
}

}  // namespace

std::optional<PageWords> read_page(const HttpRequest& request) {
    PageWords page{.most = kPageUnlessSaid, .after = argument(request, "after", "")};
    const std::string most = argument(request, "most", std::to_string(kPageUnlessSaid));
    const bool fits =
        parse_number_text(most, page.most) && page.most != 0 && page.most <= kMostListedKeys;
    return fits ? std::optional{std::move(page)} : std::nullopt;
}

HttpResponse bad_page(const std::string& more) {
    return problem_response(400, "bad request",
                            fmt::format("`most` is a number from 1 to {}, `after` what `next` of "
                                        "the page before says, {}",
                                        kMostListedKeys, more));
}

std::optional<TablePlace> read_place(std::string_view text) {
    TablePlace place;
    const std::size_t colon = text.find(':');
    const bool fits = colon != std::string_view::npos &&
                      parse_number_text(text.substr(0, colon), place.worker) &&
                      parse_number_text(text.substr(colon + 1), place.position);
    return fits ? std::optional{place} : std::nullopt;
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
        Result<Reply> reply = services.link.call(request);
        if (!reply) {
            return reply.error().code == Errc::Refused
                       ? problem_response(409, "other rules run now",
                                          "the rules have changed; ask again from the beginning")
                       : no_dataplane(reply.error());
        }
        auto* read = std::get_if<KeyPage>(&*reply);
        if (read == nullptr) {
            return problem_response(502, "refused by the dataplane",
                                    "the dataplane answered something else");
        }
        page = std::move(*read);
        request.worker = page.worker;
        request.position = page.position;
    }
    return page;
}

double seconds_of(std::int64_t ns) {
    return std::round(static_cast<double>(ns) / 1e6) / 1e3;
}

}  // namespace sluice
