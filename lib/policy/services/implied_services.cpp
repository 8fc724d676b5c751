#include "lib/policy/services/implied_services.hpp"

#include "lib/policy/clauses/clause_cover.hpp"
#include "lib/policy/expression/expression.hpp"
#include "lib/policy/expression/operand.hpp"
#include "lib/policy/expression/token.hpp"
#include "lib/policy/services/port_of_tls.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <optional>
#include <set>
#include <utility>
#include <variant>

namespace sluice {
namespace {

// Fields of a condition that say where servers are.
constexpr auto kPlaceFields =
    std::to_array<Field>({Field::Dir, Field::Port, Field::VlanId, Field::VlanInnerId,
                          Field::IpVersion, Field::IpDst, Field::L4Dport});

bool is_place(Field field) noexcept {
    return std::find(kPlaceFields.begin(), kPlaceFields.end(), field) != kPlaceFields.end();
}
bool is_of_server(Field field) noexcept {
    return field == Field::IpDst || field == Field::L4Dport;
}

// A part of a condition, as text, and what of it may be cut off.
struct Part {
    std::string text;  // empty: it says nothing of a place
    bool is_whole = true;
    bool names_server = false;
    bool is_chain = false;  // needs parentheses beside `and` and `not`
    ProtocolSet protocols{};
};

// Walks over the tokens of a condition that has been parsed, which therefore is one.
class PlaceFinder {
public:
    PlaceFinder(std::string_view text, const TextNames& names)
        : text_{text}, tokens_{split_into_tokens(text)}, names_{names} {}

    std::vector<Part> run() {
        std::vector<Part> alternatives;
        do {
            alternatives.push_back(parse_and());
        } while (take_word("or"));
        return alternatives;
    }

private:
    [[nodiscard]] const Token& peek() const { return tokens_[at_]; }
    [[nodiscard]] bool at_word(std::string_view word) const {
        return peek().kind == Token::Kind::Word && peek().text == word;
    }
    bool take_word(std::string_view word) {
        const bool is_there = at_word(word);
        at_ += is_there ? 1 : 0;
        return is_there;
    }
    [[nodiscard]] bool at_symbol(std::string_view symbol) const {
        return peek().kind == Token::Kind::Symbol && peek().text == symbol;
    }
    [[nodiscard]] bool at_end() const {
        return peek().kind == Token::Kind::End || peek().kind == Token::Kind::Bad;
    }

    // All that is not there might hold elsewhere, so that nothing is left when one is not there.
    Part parse_or() {
        Part chain = parse_and();
        while (take_word("or")) {
            const Part next = parse_and();
            chain.protocols.add_all(next.protocols);
            chain.is_whole = chain.is_whole && next.is_whole;
            chain.names_server = chain.names_server && next.names_server;
            chain.text = chain.text.empty() || next.text.empty() ? ""
                         : chain.text == next.text               ? chain.text
                                                                 : chain.text + " or " + next.text;
            chain.is_chain = true;
        }
        return chain;
    }

    Part parse_and() {
        Part chain = parse_not();
        while (take_word("and")) {
            const Part next = parse_not();
            chain.protocols.add_all(next.protocols);
            chain.is_whole = chain.is_whole && next.is_whole;
            chain.names_server = chain.names_server || next.names_server;
            if (chain.text.empty() || next.text.empty()) {
                const bool is_chain = chain.text.empty() ? next.is_chain : chain.is_chain;
                chain.text += next.text;
                chain.is_chain = is_chain;
            } else {
                chain.text = closed(chain) + " and " + closed(next);
                chain.is_chain = false;
            }
        }
        return chain;
    }

    static std::string closed(const Part& part) {
        return part.is_chain ? "(" + part.text + ")" : part.text;
    }

    // More than the part would be less than its opposite.
    Part parse_not() {
        if (!take_word("not")) {
            return parse_primary();
        }
        Part inner = parse_not();
        inner.text = inner.is_whole && !inner.text.empty() ? "not (" + inner.text + ")" : "";
        inner.names_server = false;
        inner.is_chain = false;
        return inner;
    }

    Part parse_primary() {
        if (!at_symbol("(")) {
            return parse_comparison();
        }
        ++at_;
        Part inner = parse_or();
        at_ += at_symbol(")") ? 1 : 0;
        return inner;
    }

    Part parse_comparison() {
        const std::size_t first = at_;
        std::size_t depth = 0;
        bool is_place_alone = true;
        Part part;
        while (!at_end() && (depth > 0 || !(at_word("and") || at_word("or") || at_symbol(")")))) {
            depth += at_symbol("(") ? 1 : 0;
            depth -= at_symbol(")") ? 1 : 0;
            if (peek().kind == Token::Kind::Word) {
                const std::optional<Field> field = find_field(peek().text);
                is_place_alone = !take_text(part) && is_place_alone && (!field || is_place(*field));
                part.names_server = part.names_server || (field && is_of_server(*field));
            }
            ++at_;
        }
        part.is_whole = is_place_alone;
        part.names_server = part.names_server && is_place_alone;
        part.text = is_place_alone ? source(first, at_) : "";
        return part;
    }

    // True if the word is a text.
    bool take_text(Part& part) const {
        if (find_text_family(peek().text)) {
            part.protocols.add_all({ServiceProtocol::Http});
            return true;
        }
        const std::optional<TextField> field = find_text_field(peek().text);
        if (field) {
            part.protocols.add_all(protocols_of(*field, names_));
        }
        return field.has_value();
    }

    // The condition as written, on one line.
    [[nodiscard]] std::string source(std::size_t first, std::size_t behind) const {
        const std::size_t begin = tokens_[first].offset;
        const std::size_t end =
            std::min(behind < tokens_.size() ? tokens_[behind].offset : text_.size(), text_.size());
        std::string text{text_.substr(begin, end - begin)};
        std::replace_if(
            text.begin(), text.end(), [](char c) { return c == '\n' || c == '\t' || c == '\r'; },
            ' ');
        text.erase(text.find_last_not_of(' ') + 1);
        return text;
    }

    std::string_view text_;
    std::vector<Token> tokens_;
    const TextNames& names_;
    std::size_t at_ = 0;
};

// Conditions of one protocol's services, declared and implied.
class KnownPlaces {
public:
    // `implied`: its number; nullopt: it is declared.
    void add(const Expression& condition, std::optional<std::size_t> implied) {
        std::optional<std::vector<Clause>> clauses = clauses_of(condition, pool_);
        if (!clauses) {
            return;
        }
        const auto owner = static_cast<std::uint32_t>(owners_.size());
        owners_.push_back(implied);
        for (const Clause& clause : kept_.emplace_back(*std::move(clauses))) {
            cover_.add(clause, owner);
        }
    }
    struct Covering {
        std::set<std::size_t> implied;  // those that have some of it
    };
    // nullopt: some packet of the condition reaches none of them, as far as is known.
    std::optional<Covering> find(const Expression& condition) {
        const std::optional<std::vector<Clause>> clauses = clauses_of(condition, pool_);
        Covering covering;
        for (const Clause& clause : clauses.value_or(std::vector<Clause>{})) {
            const auto owner =
                cover_.first_owner(clause, static_cast<std::uint32_t>(owners_.size()));
            if (!owner) {
                return std::nullopt;
            }
            if (owners_[*owner]) {
                covering.implied.insert(*owners_[*owner]);
            }
        }
        return clauses && !clauses->empty() ? std::optional{covering} : std::nullopt;
    }

private:
    SetPool pool_;
    ClauseCover cover_{pool_};
    std::deque<std::vector<Clause>> kept_;
    std::vector<std::optional<std::size_t>> owners_;
};

bool names_port_of_tls(const Expression& condition, ServiceProtocol protocol) {
    SetPool pool;
    const std::optional<std::uint16_t> port = port_of_tls(protocol);
    const std::optional<std::vector<Clause>> clauses = clauses_of(condition, pool);
    return port && clauses && names_port(*clauses, pool, *port);
}

class Implied {
public:
    explicit Implied(const CompiledRules& compiled) : compiled_{compiled} {
        for (const ServiceSummary& service : compiled.services) {
            ids_.insert(service.id);
            if (service.is_known && service.mode != Mode::Off) {
                places_of(service.protocol).add(service.condition, std::nullopt);
            }
        }
        for (const RuleSummary& rule : compiled.rules) {
            ids_.insert(rule.id);
        }
    }

    ImpliedServices run() {
        for (const RuleSummary& rule : compiled_.rules) {
            const Stance::Kind kind = rule.stance.kind;
            if (rule.kind == RuleKind::Candidate || kind == Stance::Kind::None ||
                kind == Stance::Kind::Service || kind == Stance::Kind::Nothing) {
                continue;
            }
            ProtocolSet of_rule;
            for (const ServiceProtocol protocol : rule.stance.protocols) {
                of_rule.add_all({protocol});
            }
            add_places(rule, of_rule);
        }
        return std::move(implied_);
    }

private:
    void add_places(const RuleSummary& rule, ProtocolSet of_rule) {
        bool is_whole = true;
        for (const ServerPlace& place : places_in(rule.when, compiled_.set.named_texts)) {
            const ProtocolSet common = place.protocols.common(of_rule);
            is_whole = is_whole && !place.when.empty();
            for (const ServiceProtocol protocol : kServiceProtocols) {
                if (!place.when.empty() && (common.empty() ? of_rule : common).has(protocol)) {
                    add(protocol, place.when, rule.id);
                }
            }
        }
        if (!is_whole) {
            implied_.without_place.push_back(rule.id);
        }
    }

    void add(ServiceProtocol protocol, const std::string& when, const std::string& rule) {
        const auto known = std::find_if(implied_.services.begin(), implied_.services.end(),
                                        [&](const ImpliedService& one) {
                                            return one.protocol == protocol && one.when == when;
                                        });
        if (known != implied_.services.end()) {
            add_rule(rule, *known);
            return;
        }
        // Conditions with lists are known to be alike only where they are written alike.
        const auto parsed = parse_expression(when);
        const auto* const condition = std::get_if<ParsedExpression>(&parsed);
        if (condition != nullptr) {
            if (const auto covering = places_of(protocol).find(condition->tree)) {
                for (const std::size_t service : covering->implied) {
                    add_rule(rule, implied_.services[service]);
                }
                return;
            }
            places_of(protocol).add(condition->tree, implied_.services.size());
        }
        const bool is_at_tls = condition != nullptr && names_port_of_tls(condition->tree, protocol);
        implied_.services.push_back({new_id(protocol), protocol, when, {rule}, is_at_tls});
    }

    static void add_rule(const std::string& rule, ImpliedService& to) {
        if (to.rules.back() != rule) {
            to.rules.push_back(rule);
        }
    }
    KnownPlaces& places_of(ServiceProtocol protocol) {
        return places_[static_cast<std::size_t>(protocol)];
    }

    std::string new_id(ServiceProtocol protocol) {
        const std::string base{kServiceProtocolNames[static_cast<std::size_t>(protocol)]};
        std::string id = base;
        for (unsigned number = 2; !ids_.insert(id).second; ++number) {
            id = base + "-" + std::to_string(number);
        }
        return id;
    }

    const CompiledRules& compiled_;
    std::set<std::string> ids_;
    std::array<KnownPlaces, kServiceProtocols.size()> places_;
    ImpliedServices implied_;
};

std::string rule_list(const std::vector<std::string>& ids) {
    std::string text;
    for (const std::string& id : ids) {
        text += (text.empty() ? "" : ", ") + id;
    }
    return text;
}

// A scalar of YAML in single quotes, where nothing but these has a meaning.
std::string quoted(const std::string& text) {
    std::string out = "'";
    for (const char c : text) {
        out += c == '\'' ? "''" : std::string{c};
    }
    return out + "'";
}

}  // namespace

std::vector<ServerPlace> places_in(const std::string& when, const TextNames& names) {
    std::vector<ServerPlace> places;
    for (const Part& part : PlaceFinder{when, names}.run()) {
        places.push_back({part.names_server ? part.text : "", part.protocols});
    }
    return places;
}

ImpliedServices implied_services(const CompiledRules& compiled) {
    return Implied{compiled}.run();
}

std::string yaml_of(const ImpliedServices& implied) {
    std::string text = implied.services.empty() ? "services: []\n" : "services:\n";
    for (const ImpliedService& service : implied.services) {
        text += "  - id: " + service.id + "  # of " + rule_list(service.rules) +
                "\n    protocol: " +
                std::string{kServiceProtocolNames[static_cast<std::size_t>(service.protocol)]} +
                "\n    when: " + quoted(service.when) + "\n    mode: monitor\n";
        if (service.is_at_tls) {
            text += "    # Clients speak TLS at port " +
                    std::to_string(port_of_tls(service.protocol).value_or(0)) +
                    ": enforced, this refuses it.\n";
        }
    }
    if (!implied.without_place.empty()) {
        text += "# No address and no port of a server is in the condition of " +
                rule_list(implied.without_place) + ":\n# where it is served is yours to say.\n";
    }
    return text;
}

}  // namespace sluice
