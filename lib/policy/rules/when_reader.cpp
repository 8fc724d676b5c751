#include "lib/policy/rules/when_reader.hpp"

#include "lib/policy/databases/database_use.hpp"
#include "lib/policy/domains/suffix_file.hpp"
#include "lib/policy/keys/client_ip_reader.hpp"
#include "lib/policy/placement/may_match.hpp"
#include "lib/policy/yaml/scalar_places.hpp"

namespace sluice {

std::optional<ParsedExpression> read_condition(const YamlNode& scalar, NamedLists& lists,
                                               const ReadContext& context) {
    auto parsed = parse_expression(
        scalar.text, {&lists, client_view(context), context.text_names, context.suffixes});
    const ScalarPlaces places{context.lines, scalar};
    if (const Remark* error = std::get_if<Remark>(&parsed)) {
        context.problems.error(places[error->offset], error->text);
        return std::nullopt;
    }
    auto& expression = std::get<ParsedExpression>(parsed);
    for (const Remark& warning : expression.warnings) {
        context.problems.warning(places[warning.offset], warning.text);
    }
    report_uses(expression.from_databases, places, context);
    report_domains(expression.domains, places, context);
    return std::move(expression);
}

void read_when(const MapReader& map, const FileContext& file, ReadContext& context,
               ReadRule& read) {
    if (map.find("when") == nullptr) {
        context.versions = IpVersions{};
        if (file.tenant != nullptr) {
            read.everything = false;
            read.when_is_whole = true;
            read.when = file.tenant->condition;
            read.summary.when = file.tenant->when;
            context.versions = versions_let_through(read.when);
        }
        return;
    }
    const std::optional<std::string> text = map.text("when");
    if (!text) {
        return;
    }
    read.everything = false;
    read.summary.when = *text;
    if (std::optional<ParsedExpression> when =
            read_condition(*map.find("when"), file.lists, context)) {
        read.asks_client = !when->clients.empty();
        read.when_is_whole = !when->has_unknown_list;
        if (file.tenant != nullptr) {
            refuse_operators_data(*when, {context.lines, *map.find("when")}, context.problems);
            confine(*file.tenant, when->tree, read.summary.when);
        }
        read.when = std::move(when->tree);
        if (read.when_is_whole) {
            context.versions = versions_let_through(read.when);
        }
    }
}

}  // namespace sluice
