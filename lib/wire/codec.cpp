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
    if (const auto* trace = std::get_if<BeginTrace>(&request)) {
        return &trace->condition;
    }
    const auto* apply = std::get_if<ApplyRules>(&request);
    return apply == nullptr ? nullptr : &apply->rules;
}

// Rules are encoded again where they are kept and where their generation is computed.
constexpr std::uint64_t kEncoded = 4;

template <typename Variant, typename T, std::size_t kIndex = 0>
consteval std::size_t index_of() {
    if constexpr (std::is_same_v<std::variant_alternative_t<kIndex, Variant>, T>) {
        return kIndex;
    } else {
        return index_of<Variant, T, kIndex + 1>();
    }
}

Error no_memory(std::uint64_t needed, bool all, std::uint64_t there_are) {
    return {Errc::NoMemory, "the rules need " + std::to_string((needed >> 20) + 1) +
                                " MiB of memory" + (all ? "" : " or more") + ", and " +
                                std::to_string(there_are >> 20) + " MiB are available"};
}

template <typename Message>
Result<Message> decode(ByteView payload, const MemoryBudget& room = {}) {
    Reader in{payload, room};
    in.take(kEncoded * payload.size());
    Message message;
    in(message);
    if (in.is_short()) {
        return no_memory(in.needed(), in.knows_all(), room.bytes);
    }
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

bool carries_rules(ByteView request) noexcept {
    const auto kind = request.empty() ? std::byte{} : request.front();
    return kind == std::byte{index_of<Request, ApplyRules>()} ||
           kind == std::byte{index_of<Request, TryRules>()} ||
           kind == std::byte{index_of<Request, BeginTrace>()};
}

Result<Request> decode_request(ByteView payload, const MemoryBudget& room) {
    Result<Request> request =
        decode<Request>(payload, carries_rules(payload) ? room : MemoryBudget{});
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
    serialize_rules(out, rules, parts_of(rules));
    std::uint64_t hash = 0xCBF2'9CE4'8422'2325;
    for (const std::byte byte : out.take()) {
        hash = (hash ^ std::to_integer<std::uint64_t>(byte)) * 0x0000'0100'0000'01B3;
    }
    return hash == 0 ? 1 : hash;
}

}  // namespace sluice
