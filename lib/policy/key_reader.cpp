#include "lib/policy/key_reader.hpp"

#include "lib/policy/databases/database_use.hpp"
#include "lib/policy/operand_parser.hpp"
#include "lib/policy/scalar_places.hpp"

namespace sluice {
namespace {

void read_part(const YamlNode& item, KeyText& key, const ReadContext& context) {
    if (!item.is_scalar()) {
        context.problems.error(
            item.at, "a key part is a field or a function of one, found " + kind_name(item));
        key.whole = false;
        return;
    }
    key.text += (key.text.empty() ? "" : ", ") + item.text;
    TokenReader reader{item.text};
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
    for (const Remark& remark : reader.not_built()) {
        context.not_enforced(places[remark.offset], remark.text);
    }
    if (operand->text) {
        context.not_enforced(places[operand->offset], "the field " + operand->name + " in a key");
    }
    report_uses(reader.from_databases(), places, context);
    if (!operand->field) {
        key.whole = false;
        return;
    }
    key.whole = key.whole && reader.not_built().empty();
    key.parts.push_back({*operand->field, operand->v4_length, operand->v6_length});
    key.schema += operand->name + "/" + std::to_string(operand->v4_length) + "/" +
                  std::to_string(operand->v6_length) + ";";
    key.has_source |=
        *operand->field == Field::IpSrc && operand->v4_length == 32 && operand->v6_length == 128;
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
    return key;
}

}  // namespace sluice
