#include "control/cli/preview_text.hpp"

#include "control/cli/table.hpp"

#include <fmt/format.h>

namespace sluice {
namespace {

std::string refused_groups_text(const Json& names) {
    Table table{{{"KEY"}, {"OFFERED", kRight}, {"REFUSED", kRight}}};
    for (const Json& name : names) {
        table.row({name.at("key").get<std::string>(),
                   grouped(name.at("offered").get<std::uint64_t>()),
                   grouped(name.at("refused").get<std::uint64_t>())});
    }
    return table.empty() ? "" : "\nrefused most, of the groups that were watched:\n" + table.text();
}

}  // namespace

std::string preview_text(const Json& result) {
    std::string text = result.at("says").get<std::string>() + "\n";
    if (const double error = result.at("error").get<double>(); error != 0) {
        text +=
            fmt::format("one group of {} was watched; standard error of the refused: {:.0f} %\n",
                        result.at("one_in").get<std::uint64_t>(), 100 * error);
    }
    text += refused_groups_text(result.at("names"));
    text += result.at("unknown").empty() ? "" : "\nto be known beside it:\n";
    for (const Json& unknown : result.at("unknown")) {
        text += "- " + unknown.at("text").get<std::string>() + "\n";
    }
    return text;
}

}  // namespace sluice
