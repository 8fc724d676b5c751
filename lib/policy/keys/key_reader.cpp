#include "lib/policy/keys/key_reader.hpp"

#include "lib/policy/databases/database_use.hpp"
#include "lib/policy/domains/suffix_file.hpp"
#include "lib/policy/expression/operand_parser.hpp"
#include "lib/policy/keys/client_ip_reader.hpp"
#include "lib/policy/yaml/scalar_places.hpp"
#include "lib/rules/text_part.hpp"

namespace sluice {
namespace {

KeyPart part_of(const Operand& operand) {
    if (operand.text) {
        return {.text = operand.text, .lower = operand.lower};
    }
    return {.field = *operand.field,
            .v4_length = operand.v4_length,
            .v6_length = operand.v6_length,
            .unwrapping = operand.unwrapping};
}

const TextNames& names_in(const ReadContext& context) {
    static const TextNames kNone;
    return context.text_names == nullptr ? kNone : *context.text_names;
}

// It hangs on a header's name, whatever other headers the file names.
std::string schema_of(const KeyPart& part, const TextNames& names) {
    if (part.text) {
        const std::string name = state_name_of(*part.text, names);
        return (part.lower ? "lower(" + name + ")" : name) + ";";
    }
    std::string schema = part.name(names) + "/" + std::to_string(part.v4_length) + "/" +
                         std::to_string(part.v6_length);
    for (const WrappingRow& row : kWrappings) {
        schema += part.unwrapping.has(row.wrapping) ? "/" + std::string{row.name} : "";
    }
    return schema + (part.field == Field::ProxiedClient ? "/proxied;" : ";");
}

void read_part(const YamlNode& item, KeyText& key, const ReadContext& context) {
    if (!item.is_scalar()) {
        context.problems.error(
            item.at, "a key part is a field or a function of one, found " + kind_name(item));
        key.whole = false;
        return;
    }
    key.text += (key.text.empty() ? "" : ", ") + item.text;
    TokenReader reader{item.text,
                       {nullptr, client_view(context), context.text_names, context.suffixes}};
    const std::optional<Operand> operand = parse_operand(reader);
    if (operand && reader.peek().kind != Token::Kind::End) {
        (void)reader.fail_here("the end of the key part");
    }
    const ScalarPlaces places{context.lines, item};
    if (const std::optional<Remark>& error = reader.error()) {
        context.problems.error(places[error->offset], error->text);
        key.whole = false;
        return;
    }
    report_uses(reader.from_databases(), places, context);
    report_domains(reader.domains(), places, context);
    const KeyPart part = part_of(*operand);
    key.parts.push_back(part);
    key.schema += schema_of(part, names_in(context));
}

}  // namespace

KeyText read_key(const YamlNode& node, const ReadContext& context) {
    KeyText key;
    if (!node.is_list()) {
        context.problems.error(
            node.at, "`key` is a list of fields, such as [ip.src], found " + kind_name(node));
        return key;
    }
    if (node.items.size() > kMaxKeyParts) {
        context.problems.error(node.at,
                               "a key has at most " + std::to_string(kMaxKeyParts) + " parts");
        return key;
    }
    for (const YamlNode& item : node.items) {
        read_part(item, key, context);
    }
    give_room(key.parts);
    return key;
}

}  // namespace sluice
