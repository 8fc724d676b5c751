#pragma once
#include "lib/packet/client_address.hpp"
#include "lib/packet/text_name.hpp"
#include "lib/policy/expression/expression.hpp"
#include "lib/policy/expression/operand.hpp"
#include "lib/policy/expression/token.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice {

// A walk over tokens that notes the first error, and what an expression uses of its surroundings.
class TokenReader {
public:
    explicit TokenReader(std::string_view text, const Surroundings& around = {})
        : tokens_{split_into_tokens(text)}, around_{around} {}

    [[nodiscard]] const Token& peek() const noexcept { return tokens_[at_]; }
    const Token& next() noexcept {
        const Token& token = tokens_[at_];
        at_ += at_ + 1 < tokens_.size() ? 1 : 0;
        return token;
    }
    [[nodiscard]] bool is(Token::Kind kind, std::string_view text) const noexcept {
        return peek().kind == kind && peek().text == text;
    }
    // Takes the token if it is this symbol or word.
    bool accept(Token::Kind kind, std::string_view text) noexcept {
        const bool here = is(kind, text);
        if (here) {
            (void)next();
        }
        return here;
    }
    bool expect_symbol(std::string_view symbol, std::string_view where);

    // The first error wins; always returns false, so `return fail(…)` reads well.
    bool fail(std::size_t offset, std::string text);
    bool fail_here(const std::string& expected);

    // The lists that `$name` can be; nullptr: none.
    [[nodiscard]] NamedLists* lists() const noexcept { return around_.lists; }
    void note_unknown_list() noexcept { unknown_list_ = true; }
    [[nodiscard]] bool has_unknown_list() const noexcept { return unknown_list_; }

    // The way client.ip is made of an address, and the places that use it.
    [[nodiscard]] const ClientView& client() const noexcept { return around_.client; }
    void note_client(std::size_t offset) { clients_.push_back(offset); }
    [[nodiscard]] std::vector<std::size_t>& clients() noexcept { return clients_; }

    // Names of texts that the file has beside fields; nullptr: none can be named.
    [[nodiscard]] TextNames* text_names() const noexcept { return around_.text_names; }

    // The ends of registrable domains, and the places that ask for one.
    [[nodiscard]] SuffixFile* suffixes() const noexcept { return around_.suffixes; }
    void note_domain(std::size_t offset) { domains_.push_back(offset); }
    [[nodiscard]] std::vector<std::size_t>& domains() noexcept { return domains_; }

    void warn(std::size_t offset, std::string text) {
        warnings_.push_back({offset, std::move(text)});
    }
    [[nodiscard]] std::vector<Remark>& warnings() noexcept { return warnings_; }

    void note_from_database(std::size_t offset, Field field) {
        from_databases_.push_back({offset, field});
    }
    [[nodiscard]] std::vector<FieldUse>& from_databases() noexcept { return from_databases_; }

    void note_field(std::size_t offset, std::string name, std::optional<Field> field) {
        fields_.push_back({offset, std::move(name), field});
    }
    [[nodiscard]] std::vector<NamedField>& fields() noexcept { return fields_; }

    [[nodiscard]] const std::optional<Remark>& error() const noexcept { return error_; }

private:
    std::vector<Token> tokens_;
    std::size_t at_ = 0;
    std::optional<Remark> error_;
    std::vector<FieldUse> from_databases_;
    Surroundings around_;
    bool unknown_list_ = false;
    std::vector<std::size_t> clients_;
    std::vector<std::size_t> domains_;
    std::vector<Remark> warnings_;
    std::vector<NamedField> fields_;
};

// The left side of a comparison, or a part of a key: a field, maybe inside a function.
struct Operand {
    OperandKind kind{};
    std::optional<Field> field;  // nullopt: a text
    // The text that packets have; of kind Number one in decimal digits.
    std::optional<TextField> text;
    bool lower = false;   // lower(field)
    bool folded = false;  // the same whatever the case of its letters
    std::string name;     // of the field, as written, for messages
    std::size_t offset = 0;
    bool prefix = false;  // prefix(field, v4_length|v6_length)
    // One length for both versions, and where it stands.
    std::optional<std::uint8_t> single_length{};
    std::size_t length_offset = 0;
    std::uint8_t v4_length = 32;
    std::uint8_t v6_length = 128;
    Unwrapping unwrapping{};  // of client.ip

    [[nodiscard]] bool is_client() const noexcept { return field && sluice::is_client(*field); }
};

// source | prefix(field, n) | prefix(field, n|m) | lower(source), where a source is
// field | family["name"] | path_prefix(field, n) | registrable_domain(field)
[[nodiscard]] std::optional<Operand> parse_operand(TokenReader& reader);

}  // namespace sluice
