#include "control/daemon/api/tenant_view.hpp"

#include "control/daemon/key_settings.hpp"
#include "control/hex_text.hpp"
#include "lib/l7/crypto/sha256.hpp"
#include "lib/rules/tenant_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <span>
#include <string>

namespace sluice {
namespace {

// A sum of all that changes of a tenant's rules change.
std::string tag_of_tenant(const RuleView& own) {
    std::string text = own.text;
    for (std::size_t i = 0; i < own.rules.size(); ++i) {
        const RuleSummary& rule = own.rules[i];
        text += fmt::format("\n{} {} {} {}", rule.id, static_cast<int>(rule.mode),
                            static_cast<int>(own.file_modes[i]), rule.when);
    }
    text += fmt::format("\n{}", sum_of_settings(own.keys));
    const Sha256Digest digest = sha256(std::as_bytes(std::span{text}));
    return hex_text(std::span{digest}.first(sizeof(std::uint64_t)));
}

}  // namespace

RuleView view_of_tenant(const RuleView& all, std::string_view tenant) {
    const auto is_own = [&](std::string_view id) { return tenant_of(id) == tenant; };
    RuleView own{.generation = all.generation, .file = std::string{tenant}};
    for (std::size_t i = 0; i < all.rules.size(); ++i) {
        if (is_own(all.rules[i].id)) {
            own.rules.push_back(all.rules[i]);
            own.rules.back().stance = {};  // names services, which are the operators'
            own.file_modes.push_back(all.file_modes[i]);
        }
    }
    std::ranges::copy_if(all.keys, std::back_inserter(own.keys),
                         [&](const KeySetting& one) { return is_own(one.rule); });
    std::ranges::copy_if(all.lives, std::inserter(own.lives, own.lives.end()),
                         [&](const auto& life) { return is_own(life.first); });
    const std::string name{tenant};
    if (const auto text = all.tenants.find(name); text != all.tenants.end()) {
        own.tenants.emplace(name, text->second);
        own.text = text->second.text;
    }
    if (const auto problem = all.aside.find(name); problem != all.aside.end()) {
        own.aside.emplace(name, problem->second);
    }
    own.tag = tag_of_tenant(own);
    return own;
}

std::shared_ptr<const RuleView> view_for(const HttpRequest& request, const Services& services) {
    std::shared_ptr<const RuleView> all = services.rules.view();
    return request.role == Role::Tenant
               ? std::make_shared<const RuleView>(view_of_tenant(*all, request.tenant))
               : all;
}

// A text that somebody has written stands between quotes that are escaped: only a member is spelled
// so.
void hide_generation(HttpResponse& response) {
    constexpr std::string_view kMember = R"("generation":")";
    std::string& body = response.body;
    for (std::size_t at = body.find(kMember); at != std::string::npos;
         at = body.find(kMember, at)) {
        const std::size_t value = at + kMember.size() - 1;
        const std::size_t end = body.find('"', value + 1);
        body.replace(value, end == std::string::npos ? end : end + 1 - value, "null");
        at = value;
    }
}

}  // namespace sluice
