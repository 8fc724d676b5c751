#include "control/fleet/etcd_message.hpp"

#include "control/base64_text.hpp"
#include "control/visible_text.hpp"

#include <nlohmann/json.hpp>

#include <charconv>
#include <optional>
#include <utility>

namespace sluice {
namespace {

using nlohmann::json;

constexpr std::size_t kMostRefusal = 300;  // bytes of etcd's own words

Error no_answer(const char* what) {
    return {Errc::BadSyntax, std::string{"etcd's answer is none: "} + what};
}

json range_json(const EtcdGet& get) {
    json range{{"key", base64_text(get.key)}};
    if (!get.end.empty()) {
        range["range_end"] = base64_text(get.end);
    }
    if (get.most != 0) {
        range["limit"] = std::to_string(get.most);
    }
    return range;
}

json step_json(const EtcdStep& step) {
    if (const auto* put = std::get_if<EtcdPut>(&step)) {
        json request{{"key", base64_text(put->key)}, {"value", base64_text(put->value)}};
        if (put->lease != 0) {
            request["lease"] = std::to_string(put->lease);
        }
        return {{"request_put", std::move(request)}};
    }
    if (const auto* get = std::get_if<EtcdGet>(&step)) {
        return {{"request_range", range_json(*get)}};
    }
    const auto& gone = std::get<EtcdDelete>(step);
    return {{"request_delete_range", range_json({.key = gone.key, .end = gone.end})}};
}

json compare_json(const EtcdCompare& compare) {
    json condition{{"key", base64_text(compare.key)}, {"result", "EQUAL"}};
    switch (compare.of) {
        case EtcdCompare::Of::Created:
            condition["target"] = "CREATE";
            condition["create_revision"] = std::to_string(compare.revision);
            break;
        case EtcdCompare::Of::Modified:
            condition["target"] = "MOD";
            condition["mod_revision"] = std::to_string(compare.revision);
            break;
        case EtcdCompare::Of::Value:
            condition["target"] = "VALUE";
            condition["value"] = base64_text(compare.value);
            break;
        case EtcdCompare::Of::Lease:
            condition["target"] = "LEASE";
            condition["lease"] = std::to_string(compare.revision);
            break;
    }
    return condition;
}

json steps_json(const std::vector<EtcdStep>& steps) {
    json list = json::array();
    for (const EtcdStep& step : steps) {
        list.push_back(step_json(step));
    }
    return list;
}

// nullptr: it has no such member.
const json* member(const json& object, const char* name) {
    if (!object.is_object()) {
        return nullptr;
    }
    const auto found = object.find(name);
    return found == object.end() ? nullptr : &*found;
}

// A number of 64 bits, which is a text; one that is left out is 0. False: it is something else.
template <typename T>
bool read_number(const json& object, const char* name, T& number) {
    const json* const found = member(object, name);
    if (found == nullptr) {
        number = 0;
        return true;
    }
    const auto* const text = found->get_ptr<const std::string*>();
    if (text == nullptr) {
        return false;
    }
    const char* const last = text->data() + text->size();
    const auto [end, error] = std::from_chars(text->data(), last, number);
    return error == std::errc{} && end == last;
}

bool read_bytes(const json& object, const char* name, std::string& bytes) {
    const json* const found = member(object, name);
    if (found == nullptr) {
        bytes.clear();
        return true;
    }
    const auto* const text = found->get_ptr<const std::string*>();
    const auto read = text == nullptr ? std::nullopt : bytes_of_base64(*text);
    if (!read) {
        return false;
    }
    bytes.assign(reinterpret_cast<const char*>(read->data()), read->size());
    return true;
}

std::optional<EtcdKey> key_from(const json& entry) {
    EtcdKey key;
    const bool is_one = entry.is_object() && read_bytes(entry, "key", key.key) &&
                        read_bytes(entry, "value", key.value) &&
                        read_number(entry, "create_revision", key.created) &&
                        read_number(entry, "mod_revision", key.modified) &&
                        read_number(entry, "lease", key.lease);
    return is_one ? std::optional{std::move(key)} : std::nullopt;
}

std::optional<std::vector<EtcdKey>> keys_from(const json& range) {
    std::vector<EtcdKey> keys;
    const json* const entries = member(range, "kvs");
    if (entries == nullptr) {
        return keys;
    }
    if (!entries->is_array()) {
        return std::nullopt;
    }
    for (const json& entry : *entries) {
        std::optional<EtcdKey> key = key_from(entry);
        if (!key) {
            return std::nullopt;
        }
        keys.push_back(*std::move(key));
    }
    return keys;
}

// The cluster and the revision that an answer is of.
template <typename Answer>
bool read_header(const json& answer, Answer& into) {
    const json* const header = member(answer, "header");
    return header != nullptr && header->is_object() &&
           read_number(*header, "cluster_id", into.cluster) &&
           read_number(*header, "revision", into.revision);
}

json parse(std::string_view body) {
    return json::parse(body, nullptr, false);
}

}  // namespace

std::string end_of_prefix(std::string prefix) {
    while (!prefix.empty() && static_cast<unsigned char>(prefix.back()) == 0xFF) {
        prefix.pop_back();
    }
    if (prefix.empty()) {
        return std::string(1, '\0');  // all keys
    }
    prefix.back() = static_cast<char>(static_cast<unsigned char>(prefix.back()) + 1);
    return prefix;
}

std::string request_text(const EtcdGet& get) {
    return range_json(get).dump();
}

std::string request_text(const EtcdTransaction& transaction) {
    json when = json::array();
    for (const EtcdCompare& compare : transaction.when) {
        when.push_back(compare_json(compare));
    }
    return json{{"compare", std::move(when)},
                {"success", steps_json(transaction.then)},
                {"failure", steps_json(transaction.otherwise)}}
        .dump();
}

std::string grant_text(std::int64_t seconds) {
    return json{{"TTL", std::to_string(seconds)}}.dump();
}

std::string lease_text(std::int64_t lease) {
    return json{{"ID", std::to_string(lease)}}.dump();
}

std::string login_text(const std::string& user, const std::string& password) {
    return json{{"name", user}, {"password", password}}.dump(-1, ' ', false,
                                                             json::error_handler_t::replace);
}

std::string watch_text(const std::vector<EtcdGet>& watched) {
    std::string text;
    for (const EtcdGet& range : watched) {
        text += json{{"create_request", range_json(range)}}.dump() + "\n";
    }
    return text;
}

Result<EtcdRange> range_from(std::string_view body) {
    const json answer = parse(body);
    EtcdRange range;
    if (!read_header(answer, range)) {
        return no_answer("no header");
    }
    std::optional<std::vector<EtcdKey>> keys = keys_from(answer);
    if (!keys) {
        return no_answer("its keys cannot be read");
    }
    range.keys = *std::move(keys);
    return range;
}

Result<EtcdOutcome> outcome_from(std::string_view body) {
    const json answer = parse(body);
    EtcdOutcome outcome;
    if (!read_header(answer, outcome)) {
        return no_answer("no header");
    }
    const json* const held = member(answer, "succeeded");
    outcome.held = held != nullptr && held->is_boolean() && held->get<bool>();
    const json* const responses = member(answer, "responses");
    if (responses != nullptr && !responses->is_array()) {
        return no_answer("its steps cannot be read");
    }
    for (const json& response : responses == nullptr ? json::array() : *responses) {
        const json* const range = member(response, "response_range");
        if (range == nullptr) {
            continue;
        }
        std::optional<std::vector<EtcdKey>> keys = keys_from(*range);
        if (!keys) {
            return no_answer("its keys cannot be read");
        }
        outcome.read.push_back(*std::move(keys));
    }
    return outcome;
}

Result<std::int64_t> granted_from(std::string_view body) {
    const json answer = parse(body);
    std::int64_t lease = 0;
    if (!answer.is_object() || !read_number(answer, "ID", lease) || lease == 0) {
        return no_answer("no lease");
    }
    return lease;
}

Result<std::int64_t> kept_alive_from(std::string_view body) {
    const json answer = parse(body);
    const json* const result = member(answer, "result");
    std::int64_t left = 0;
    if (result == nullptr || !result->is_object() || !read_number(*result, "TTL", left)) {
        return no_answer("no lease");
    }
    return left;
}

Result<std::string> token_from(std::string_view body) {
    const json answer = parse(body);
    const json* const token = member(answer, "token");
    if (token == nullptr || !token->is_string() || token->get_ref<const std::string&>().empty()) {
        return no_answer("no token");
    }
    const std::string& text = token->get_ref<const std::string&>();
    for (const char letter : text) {
        if (letter <= ' ' || letter > '~') {
            return no_answer("its token has letters that no header takes");
        }
    }
    return text;
}

std::string refusal_from(std::string_view body) {
    const json answer = parse(body);
    const json* const what = member(answer, "message");
    const std::string text = what != nullptr && what->is_string() ? what->get<std::string>() : "";
    return visible_line(text.substr(0, kMostRefusal));
}

}  // namespace sluice
