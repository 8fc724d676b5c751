#include "control/daemon/api/change.hpp"
#include "control/daemon/api/cluster.hpp"

#include "lib/base/whole_number.hpp"

#include <string>
#include <variant>

namespace sluice {

HttpResponse post_confirm(const HttpRequest& request, Services& services) {
    if (std::optional<HttpResponse> refusal = refuse_undetached(request, services)) {
        return *std::move(refusal);
    }
    std::variant<ChangeTerms, HttpResponse> terms = change_terms_of(request);
    if (auto* refusal = std::get_if<HttpResponse>(&terms)) {
        return std::move(*refusal);
    }
    const RuleChange change = services.rules.confirm(std::get<ChangeTerms>(terms).in_place_of);
    record(services, request, "confirm", change);
    return change.refusal ? refused(*change.refusal) : changed(change, services);
}

namespace {

// `?set=N&confirm=60s`; `confirm` is for a set of a number.
std::variant<Rollback, HttpResponse> rollback_of(const HttpRequest& request, std::string& words) {
    std::variant<ChangeTerms, HttpResponse> terms = change_terms_of(request);
    if (auto* refusal = std::get_if<HttpResponse>(&terms)) {
        return std::move(*refusal);
    }
    const auto& how = std::get<ChangeTerms>(terms);
    Rollback rollback{
        .from = author_of(request), .confirm = how.confirm, .in_place_of = how.in_place_of};
    if (const std::string set = argument(request, "set", ""); !set.empty()) {
        const std::optional<std::uint64_t> number = whole_number(set);
        if (!number) {
            return bad_request("`set` is the number of a set, as GET /v1/history has it");
        }
        rollback.number = *number;
        words = " " + set;
    } else if (how.confirm) {
        return bad_request("`confirm` goes with `set`");
    }
    words += how.words;
    return rollback;
}

}  // namespace

HttpResponse post_rollback(const HttpRequest& request, Services& services) {
    if (std::optional<HttpResponse> refusal = refuse_undetached(request, services)) {
        return *std::move(refusal);
    }
    std::string words;
    std::variant<Rollback, HttpResponse> rollback = rollback_of(request, words);
    if (auto* refusal = std::get_if<HttpResponse>(&rollback)) {
        return std::move(*refusal);
    }
    const RuleChange change = services.rules.rollback(std::get<Rollback>(rollback));
    record(services, request, "rollback" + words, change);
    return change.refusal ? refused(*change.refusal) : changed(change, services);
}

// Shows the differences that a rollback would make; nothing changes.
HttpResponse post_rollback_diff(const HttpRequest& request, Services& services) {
    std::string words;
    std::variant<Rollback, HttpResponse> rollback = rollback_of(request, words);
    if (auto* refusal = std::get_if<HttpResponse>(&rollback)) {
        return std::move(*refusal);
    }
    auto next = services.rules.preview(std::get<Rollback>(rollback));
    if (!next) {
        return refused({Refusal::Kind::Superseded,
                        "another preview took the place of this one while it waited",
                        {}});
    }
    if (const auto* refusal = std::get_if<Refusal>(&*next)) {
        return refused(*refusal);
    }
    return differences(std::get<Compiled>(*std::move(next)), services);
}

}  // namespace sluice
