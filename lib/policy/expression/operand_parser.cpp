#include "lib/policy/expression/operand_parser.hpp"

#include "lib/base/token.hpp"
#include "lib/policy/problems/nearest.hpp"
#include "lib/policy/values/units_text.hpp"

#include <algorithm>
#include <array>
#include <iterator>

namespace sluice {
namespace {

std::string shown(const Token& token) {
    switch (token.kind) {
        case Token::Kind::End:
            return "the end";
        case Token::Kind::Text:
            return "\"" + token.text + "\"";
        case Token::Kind::List:
            return "$" + token.text;
        default:
            return "`" + token.text + "`";
    }
}

// A text beside the fields of the table, noted among those of the file.
std::optional<Operand> named_operand(TokenReader& reader, const TextName& name,
                                     const Token& first) {
    TextNames* names = reader.text_names();
    const std::optional<TextField> field =
        names == nullptr ? std::nullopt : add_text_name(name, *names);
    if (!field) {
        (void)reader.fail(first.offset,
                          names == nullptr
                              ? first.text + " cannot be named here"
                              : "a file names at most " + std::to_string(kMaxNamedTexts) +
                                    " different headers, cookies and functions of texts together");
        return std::nullopt;
    }
    return Operand{.kind = operand_kind(row_of(*field).kind),
                   .text = field,
                   .folded = is_folded(*field, *names),
                   .name = spelled(name),
                   .offset = first.offset};
}

// ["name"] of a header or cookie.
std::optional<Operand> parse_named(TokenReader& reader, const Token& family, TextName::Kind kind) {
    if (!reader.expect_symbol("[", "after " + family.text)) {
        return std::nullopt;
    }
    const Token token = reader.peek();
    if (token.kind != Token::Kind::Text) {
        (void)reader.fail_here("a name in double quotes");
        return std::nullopt;
    }
    if (!is_text_name(token.text)) {
        (void)reader.fail(token.offset, "a name in " + family.text + " has 1 to " +
                                            std::to_string(kMaxTextNameSize) +
                                            " letters, digits and marks of " +
                                            std::string{kTokenMarks});
        return std::nullopt;
    }
    (void)reader.next();
    if (!reader.expect_symbol("]", "after the name")) {
        return std::nullopt;
    }
    return named_operand(reader, {.kind = kind, .name = token.text}, family);
}

std::vector<std::string_view> segments_of(std::string_view name) {
    std::vector<std::string_view> parts;
    for (std::size_t dot = name.find('.'); dot != std::string_view::npos; dot = name.find('.')) {
        parts.push_back(name.substr(0, dot));
        name.remove_prefix(dot + 1);
    }
    parts.push_back(name);
    return parts;
}

// True if the word is the field with some of its parts left out, and not its last one:
// `http.method` for http.request.method.
bool is_short_for(std::string_view word, std::string_view field) {
    const std::vector<std::string_view> parts = segments_of(word);
    const std::vector<std::string_view> all = segments_of(field);
    auto at = parts.begin();
    for (const std::string_view part : all) {
        at += at != parts.end() && *at == part ? 1 : 0;
    }
    return at == parts.end() && parts.back() == all.back();
}

// `; did you mean `tls.sni` or `quic.sni`?`, or nothing.
std::string spelled_out(std::string_view word) {
    constexpr std::size_t kMost = 3;
    std::vector<std::string_view> meant;
    std::ranges::copy_if(field_names(), std::back_inserter(meant),
                         [&](std::string_view field) { return is_short_for(word, field); });
    std::string text;
    for (const std::string_view field : meant) {
        text += (text.empty() ? "; did you mean `" : "` or `") + std::string{field};
    }
    return meant.empty() || meant.size() > kMost ? "" : text + "`?";
}

// Fields as other products call them, and here.
struct ForeignName {
    std::string_view theirs;
    std::string_view ours;
};
constexpr auto kForeignNames =
    std::to_array<ForeignName>({{"cookie", "http.cookies[\"name\"]"},
                                {"dns.qry.name", "dns.qname"},
                                {"dns.qry.type", "dns.qtype"},
                                {"dst", "ip.dst"},
                                {"dst.ip", "ip.dst"},
                                {"dst.port", "l4.dport"},
                                {"dst_ip", "ip.dst"},
                                {"dst_port", "l4.dport"},
                                {"header", "http.request.headers[\"name\"]"},
                                {"http.cookie", "http.cookies[\"name\"]"},
                                {"http.header", "http.request.headers[\"name\"]"},
                                {"ip.daddr", "ip.dst"},
                                {"ip.saddr", "ip.src"},
                                {"ip6.daddr", "ip.dst"},
                                {"ip6.saddr", "ip.src"},
                                {"src", "ip.src"},
                                {"src.ip", "ip.src"},
                                {"src.port", "l4.sport"},
                                {"src_ip", "ip.src"},
                                {"src_port", "l4.sport"},
                                {"tcp.dport", "l4.dport"},
                                {"tcp.dstport", "l4.dport"},
                                {"tcp.sport", "l4.sport"},
                                {"tcp.srcport", "l4.sport"},
                                {"tls.server_name", "tls.sni"},
                                {"tls.servername", "tls.sni"},
                                {"udp.dport", "l4.dport"},
                                {"udp.dstport", "l4.dport"},
                                {"udp.sport", "l4.sport"},
                                {"udp.srcport", "l4.sport"},
                                {"user_agent", "http.user_agent"}});

// `http.request.headers.host` is meant as a name in brackets.
std::string suggestion_for(std::string_view word) {
    for (const TextFamily& family : kTextFamilies) {
        const std::string begin = std::string{family.field} + ".";
        if (word.starts_with(begin) && is_text_name(word.substr(begin.size()))) {
            return "; write " +
                   spelled({.kind = family.kind, .name = std::string{word.substr(begin.size())}});
        }
    }
    const auto* foreign = std::ranges::find(kForeignNames, word, &ForeignName::theirs);
    if (foreign != kForeignNames.end()) {
        return "; did you mean `" + std::string{foreign->ours} + "`?";
    }
    const std::string meant = spelled_out(word);
    const std::string near = meant.empty() ? did_you_mean(word, field_names()) : meant;
    return near.empty() ? "; `sluicectl fields` lists all" : near;
}

std::optional<Operand> parse_field(TokenReader& reader) {
    if (reader.peek().kind != Token::Kind::Word) {
        (void)reader.fail_here("a field");
        return std::nullopt;
    }
    const Token token = reader.next();
    const std::optional<Field> field = find_field(token.text);
    reader.note_field(token.offset, token.text, field);
    if (field) {
        if (is_from_database(*field)) {
            reader.note_from_database(token.offset, *field);
        }
        Operand operand{.kind = operand_kind(row_of(*field).kind),
                        .field = field,
                        .name = token.text,
                        .offset = token.offset};
        if (operand.is_client()) {
            reader.note_client(token.offset);
            operand.field = reader.client().proxied ? Field::ProxiedClient : Field::ClientIp;
            operand.v4_length = reader.client().v4_length;
            operand.v6_length = reader.client().v6_length;
            operand.unwrapping = reader.client().unwrapping;
        }
        return operand;
    }
    if (const std::optional<TextField> text = find_text_field(token.text)) {
        return Operand{.kind = operand_kind(row_of(*text).kind),
                       .text = text,
                       .folded = row_of(*text).kind == TextKind::Folded,
                       .name = token.text,
                       .offset = token.offset};
    }
    if (const std::optional<TextName::Kind> family = find_text_family(token.text)) {
        return parse_named(reader, token, *family);
    }
    (void)reader.fail(token.offset,
                      "unknown field `" + token.text + "`" + suggestion_for(token.text));
    return std::nullopt;
}

// A number in a function, from `least` to `most`.
std::optional<std::uint64_t> parse_count(TokenReader& reader, std::uint64_t least,
                                         std::uint64_t most, std::string_view what) {
    if (reader.peek().kind == Token::Kind::Word) {
        const Result<std::uint64_t> count = parse_number(reader.peek().text, most);
        if (count && *count >= least) {
            (void)reader.next();
            return *count;
        }
    }
    (void)reader.fail_here(std::string{what} + " from " + std::to_string(least) + " to " +
                           std::to_string(most));
    return std::nullopt;
}

// Bits that client.ip has cut off stay off.
void cut(Operand& operand, std::uint64_t v4_length, std::uint64_t v6_length) {
    const std::uint64_t v4 = operand.is_client() ? operand.v4_length : 32;
    const std::uint64_t v6 = operand.is_client() ? operand.v6_length : 128;
    operand.v4_length = static_cast<std::uint8_t>(std::min(v4, v4_length));
    operand.v6_length = static_cast<std::uint8_t>(std::min(v6, v6_length));
}

bool parse_prefix_lengths(TokenReader& reader, Operand& operand) {
    const std::size_t at = reader.peek().offset;
    const std::optional<std::uint64_t> first = parse_count(reader, 0, 128, "a prefix length");
    if (!first) {
        return false;
    }
    if (!reader.accept(Token::Kind::Symbol, "|")) {
        cut(operand, *first, *first);
        operand.single_length = static_cast<std::uint8_t>(*first);
        operand.length_offset = at;
        return true;
    }
    if (*first > 32) {
        return reader.fail(at, "the length for IPv4, before the |, is at most 32");
    }
    const std::optional<std::uint64_t> second =
        parse_count(reader, 0, 128, "an IPv6 prefix length");
    if (!second) {
        return false;
    }
    cut(operand, *first, *second);
    return true;
}

std::optional<Operand> parse_prefix_call(TokenReader& reader) {
    std::optional<Operand> operand = parse_field(reader);
    if (!operand) {
        return std::nullopt;
    }
    if (operand->kind != OperandKind::Address) {
        (void)reader.fail(operand->offset, "prefix() takes an address, such as ip.src; " +
                                               operand->name + " is none");
        return std::nullopt;
    }
    operand->prefix = true;
    if (!reader.expect_symbol(",", "before the prefix length") ||
        !parse_prefix_lengths(reader, *operand) ||
        !reader.expect_symbol(")", "after the prefix length")) {
        return std::nullopt;
    }
    return operand;
}

// path_prefix(field, n) or registrable_domain(field), from the parenthesis on.
std::optional<Operand> parse_derived(TokenReader& reader, const Token& word,
                                     const TextFunction& function) {
    const std::optional<Operand> operand = parse_field(reader);
    if (!operand) {
        return std::nullopt;
    }
    if (!operand->text || !function.sources.has(*operand->text)) {
        (void)reader.fail(operand->offset, word.text + "() takes " + std::string{function.takes} +
                                               "; " + operand->name + " is none");
        return std::nullopt;
    }
    TextName name{.kind = function.kind, .source = *operand->text};
    if (function.kind == TextName::Kind::PathPrefix) {
        if (!reader.expect_symbol(",", "before the number of segments")) {
            return std::nullopt;
        }
        const auto segments = parse_count(reader, 1, kMaxSegments, "a number of segments");
        if (!segments) {
            return std::nullopt;
        }
        name.segments = static_cast<std::uint8_t>(*segments);
    } else {
        reader.note_domain(word.offset);
    }
    if (!reader.expect_symbol(")", "after the arguments of " + word.text)) {
        return std::nullopt;
    }
    return named_operand(reader, name, word);
}

// A field, or what a function of texts makes of one.
std::optional<Operand> parse_source(TokenReader& reader) {
    const Token word = reader.peek();
    const TextFunction* const function =
        word.kind == Token::Kind::Word ? find_text_function(word.text) : nullptr;
    if (function == nullptr) {
        return parse_field(reader);
    }
    (void)reader.next();
    if (!reader.expect_symbol("(", "after " + word.text)) {
        return std::nullopt;
    }
    return parse_derived(reader, word, *function);
}

std::optional<Operand> parse_lower_call(TokenReader& reader) {
    std::optional<Operand> operand = parse_source(reader);
    if (!operand) {
        return std::nullopt;
    }
    if (operand->kind != OperandKind::Text) {
        (void)reader.fail(operand->offset,
                          "lower() takes a text, and " + operand->name + " is none");
        return std::nullopt;
    }
    if (!reader.expect_symbol(")", "after the arguments of lower")) {
        return std::nullopt;
    }
    operand->lower = true;
    return operand;
}

}  // namespace

bool TokenReader::expect_symbol(std::string_view symbol, std::string_view where) {
    if (accept(Token::Kind::Symbol, symbol)) {
        return true;
    }
    return fail_here("`" + std::string{symbol} + "` " + std::string{where});
}

bool TokenReader::fail(std::size_t offset, std::string text) {
    if (!error_) {
        error_ = Remark{offset, std::move(text)};
    }
    return false;
}

bool TokenReader::fail_here(const std::string& expected) {
    const Token& token = peek();
    if (token.kind == Token::Kind::Bad) {
        return fail(token.offset, token.text);
    }
    return fail(token.offset, "expected " + expected + ", found " + shown(token));
}

std::optional<Operand> parse_operand(TokenReader& reader) {
    if (reader.peek().kind != Token::Kind::Word) {
        (void)reader.fail_here("a field");
        return std::nullopt;
    }
    const Token word = reader.peek();
    if (word.text != "prefix" && word.text != "lower") {
        return parse_source(reader);
    }
    (void)reader.next();
    if (!reader.expect_symbol("(", "after " + word.text)) {
        return std::nullopt;
    }
    return word.text == "prefix" ? parse_prefix_call(reader) : parse_lower_call(reader);
}

}  // namespace sluice
