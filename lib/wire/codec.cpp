#include "lib/wire/codec.hpp"

#include "lib/wire/archive.hpp"
#include "lib/wire/message_fields.hpp"

#include <optional>
#include <string>

namespace sluice {
namespace {

template <typename... T>
std::vector<std::byte> bytes_with(const T&... fields) {
    Writer out;
    out(fields...);
    return out.take();
}

const RuleSet* rules_in(const Request& request) {
    if (const auto* trial = std::get_if<TryRules>(&request)) {
        return &trial->rules.rules;
    }
    const auto* apply = std::get_if<ApplyRules>(&request);
    return apply == nullptr ? nullptr : &apply->rules;
}

template <typename Message>
Result<Message> decode(ByteView payload) {
    Reader in{payload};
    Message message;
    in(message);
    if (!in.finished()) {
        return Error{Errc::BadSyntax, "not a message of this protocol"};
    }
    return message;
}

}  // namespace

std::vector<std::byte> encode(const Request& request) {
    return bytes_with(request);
}

std::vector<std::byte> encode(const Reply& reply) {
    return bytes_with(reply);
}

std::vector<std::byte> encode(const RulesInForce& rules) {
    return bytes_with(static_cast<std::uint8_t>(Request{ApplyRules{}}.index()), rules);
}

std::vector<std::byte> encode(const RuleSet& rules) {
    return bytes_with(rules);
}

Result<Request> decode_request(ByteView payload) {
    Result<Request> request = decode<Request>(payload);
    const RuleSet* rules = request ? rules_in(*request) : nullptr;
    if (rules != nullptr) {
        if (const std::optional<std::string> fault = find_fault(*rules)) {
            return Error{Errc::BadSyntax, "the rule set is not sound: " + *fault};
        }
    }
    return request;
}

Result<Reply> decode_reply(ByteView payload) {
    return decode<Reply>(payload);
}

std::uint64_t generation_of(const RuleSet& rules) {
    Writer out;
    out(std::uint64_t{0});
    serialize_rules(out, rules, rules.classifier.parts());
    std::uint64_t hash = 0xCBF2'9CE4'8422'2325;
    for (const std::byte byte : out.take()) {
        hash = (hash ^ std::to_integer<std::uint64_t>(byte)) * 0x0000'0100'0000'01B3;
    }
    return hash == 0 ? 1 : hash;
}

}  // namespace sluice
