#include "lib/policy/limits/limit_builder.hpp"

#include <algorithm>
#include <cctype>

namespace sluice {
namespace {

std::string lower(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
}

// One spelling for one meaning: lengths of time in ns, however they are written.
std::string canonical(const ParameterValue& value) {
    const bool is_time =
        value.kind == ParameterKind::Duration || value.kind == ParameterKind::Offset;
    return is_time ? std::to_string(value.time.count()) : value.text;
}

}  // namespace

std::string_view unit_word(Per per, bool is_one) noexcept {
    switch (per) {
        case Per::Byte:
            return "";
        case Per::Connection:
            return is_one ? " connection" : " connections";
        case Per::Request:
            return is_one ? " request" : " requests";
        case Per::Query:
            return is_one ? " query" : " queries";
        case Per::Handshake:
            return is_one ? " handshake" : " handshakes";
        default:
            return is_one ? " packet" : " packets";
    }
}

const ParameterValue* LimitBuilder::find(std::string_view parameter) const {
    const auto found = values_.find(parameter);
    return found == values_.end() ? nullptr : &found->second;
}

std::optional<Limit> LimitBuilder::bucket(std::string_view rate, std::string_view burst,
                                          LeastBurst least) {
    const ParameterValue* fill = find(rate);
    const ParameterValue* size = find(burst);
    if (fill == nullptr || size == nullptr) {
        return std::nullopt;
    }
    warn_if_below_mtu(burst, size->units);
    written_ = fill->rate;
    const Result<Limit> made = Limit::make(fill->rate, size->units, least);
    const bool of_burst = !made && made.error().what.starts_with("the burst");
    return checked(made, {of_burst ? burst : rate});
}

std::optional<WindowNumbers> LimitBuilder::window() {
    const ParameterValue* count = find("count");
    const ParameterValue* window = find("window");
    if (count == nullptr || window == nullptr) {
        return std::nullopt;
    }
    warn_if_below_mtu("count", count->units);
    const Result<WindowNumbers> made = make_window_numbers(count->units, window->time);
    const bool of_count = !made && made.error().what.starts_with("the count");
    return checked(made, {of_count ? "count" : "window"});
}

void LimitBuilder::finish(const AnyLimit& numbers, std::string_view text, std::string_view bound) {
    built_.numbers = numbers;
    built_.text = filled(text);
    built_.bound = filled(bound);
    built_.promise = promise_of(numbers, written_);
}

void LimitBuilder::depends_on(std::initializer_list<std::string_view> parameters) {
    for (const std::string_view name : parameters) {
        built_.schema.push_back({name, canonical(values_.at(name))});
    }
}

void LimitBuilder::blame(const Error& error, std::initializer_list<std::string_view> parameters) {
    const std::string what = lower(error.what);
    const auto* const named =
        std::find_if(parameters.begin(), parameters.end(), [&](std::string_view name) {
            const ParameterValue* value = find(name);
            return what.find(name) != std::string::npos && value != nullptr && value->given;
        });
    built_.faults.push_back(
        {named == parameters.end() ? *parameters.begin() : *named, Severity::Error, error});
}

// A burst that no full-sized packet fits in is allowed, and hardly meant.
void LimitBuilder::warn_if_below_mtu(std::string_view parameter, Units burst) {
    if (per_ == Per::Byte && burst.count() < kLargestUsualPacket) {
        built_.faults.push_back(
            {parameter,
             Severity::Warning,
             {Errc::OutOfRange, "the " + std::string{parameter} +
                                    " is below the MTU: a full-sized packet never fits"}});
    }
}

std::string LimitBuilder::filled(std::string_view form) const {
    std::string text;
    while (!form.empty()) {
        const std::size_t begin = std::min(form.find('{'), form.size());
        text += form.substr(0, begin);
        form.remove_prefix(begin);
        if (form.empty()) {
            break;
        }
        const std::size_t end = form.find('}');
        const std::string_view name = form.substr(1, end - 1);
        text += name == "units" ? unit_word(per_, text == "1") : values_.at(name).text;
        form.remove_prefix(end + 1);
    }
    return text;
}

}  // namespace sluice
