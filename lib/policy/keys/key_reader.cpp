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

// A header's schema hangs on its name, whatever other headers the file names.
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

// The IP versions that a key's rule is known to meet in that operand.
IpVersions versions_of(const Operand& operand, const IpVersions& let_through) {
    const bool is_packets_own =
        operand.field == Field::IpSrc || operand.field == Field::IpDst ||
        (operand.field == Field::ClientIp && operand.unwrapping == Unwrapping{});
    return is_packets_own ? let_through : IpVersions{};
}

// One length for addresses of both versions cuts either the one to next to nothing, or the other
// not at all. nullopt: it is for one of them.
std::optional<std::string> wrong_length(const Operand& operand, const ReadContext& context) {
    if (!operand.single_length || !context.versions) {
        return std::nullopt;
    }
    const unsigned length = *operand.single_length;
    const IpVersions versions = versions_of(operand, *context.versions);
    if (versions.v4 && !versions.v6 && length > 32) {
        return "the length for IPv4, which alone meets the rule, is at most 32";
    }
    if (!versions.v4 || !versions.v6) {
        return std::nullopt;
    }
    const std::string both =
        length > 32 ? "24|" + std::to_string(length) : std::to_string(length) + "|64";
    return "prefix() needs a length for IPv4 and one for IPv6, such as " + both +
           ", where packets of both meet the rule; one is enough with `ip.version eq 4` in `when`";
}

bool is_bare(const YamlNode& item, char c) {
    return item.is_scalar() && item.plain && item.text.find(c) != std::string::npos;
}

// YAML makes two items of prefix(ip.src, 24|64) without quotes: how many items from this one on are
// pieces of one call; 1: it is whole, or what is wrong with it is something else.
std::size_t pieces_of_call(const std::vector<YamlNode>& items, std::size_t first) {
    if (!is_bare(items[first], '(') || is_bare(items[first], ')')) {
        return 1;
    }
    for (std::size_t at = first + 1; at < items.size() && !is_bare(items[at], '('); ++at) {
        if (is_bare(items[at], ')')) {
            return at - first + 1;
        }
    }
    return 1;
}

void report_split(const std::vector<YamlNode>& items, std::size_t first, std::size_t pieces,
                  const ReadContext& context) {
    std::string whole = items[first].text;
    for (std::size_t at = first + 1; at < first + pieces; ++at) {
        whole += ", " + items[at].text;
    }
    context.problems.error(items[first].at,
                           "quote it: YAML splits at the comma; write \"" + whole + "\"");
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
    if (const std::optional<std::string> wrong = wrong_length(*operand, context)) {
        context.problems.error(places[operand->length_offset], *wrong);
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
    for (std::size_t at = 0; at < node.items.size(); ++at) {
        const std::size_t pieces = pieces_of_call(node.items, at);
        if (pieces > 1) {
            report_split(node.items, at, pieces, context);
            key.whole = false;
        } else {
            read_part(node.items[at], key, context);
        }
        at += pieces - 1;
    }
    give_room(key.parts);
    return key;
}

KeyText read_value(const YamlNode& node, const ReadContext& context) {
    KeyText key;
    read_part(node, key, context);
    give_room(key.parts);
    return key;
}

}  // namespace sluice
