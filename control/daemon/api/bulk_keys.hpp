#pragma once
#include "control/daemon/api/api.hpp"
#include "control/json.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

// Parts that the calls to ban and to unban many keys share.
namespace sluice {

// A call about many keys of a rule, read.
struct BulkCall {
    Json body;  // with at least one of `keys`
    std::string rule;
    std::shared_ptr<const RuleView> view;  // which has the rule
};

// The form of such a call, for its route.
struct BulkForm {
    std::string_view path_end;  // behind the rule: /bans
    std::string_view example;   // of a body, for a person
    std::string_view too_many;  // words behind "at most 10,000 keys can be"
};
// HttpResponse: the refusal of one that is out of form, too large, or of no rule.
[[nodiscard]] std::variant<BulkCall, HttpResponse> read_bulk(const HttpRequest& request,
                                                             Services& services,
                                                             const BulkForm& form);

// Faults of single keys of a call, by the number of the item from 1 on: a bounded list of them,
// and how many there are.
class KeyFaults {
public:
    explicit KeyFaults(std::string_view severity) : severity_{severity} {}

    void add(std::size_t item, const std::string& what);
    [[nodiscard]] bool takes_more() const { return count_ < kMostTold; }
    [[nodiscard]] std::size_t count() const { return count_; }
    [[nodiscard]] const Json& told() const { return told_; }

private:
    static constexpr std::size_t kMostTold = 100;

    std::string_view severity_;
    Json told_ = Json::array();
    std::size_t count_ = 0;
};

// The `detail` of a refusal.
[[nodiscard]] std::string detail_in(const HttpResponse& problem);

// For the audit: the first keys by name, as ", a b c ...".
class NamedKeys {
public:
    void add(std::string_view key);
    [[nodiscard]] const std::string& text() const { return text_; }

private:
    static constexpr std::size_t kMostNamed = 10;

    std::string text_;
    std::size_t count_ = 0;
};

}  // namespace sluice
