#include "control/daemon/live/live_views.hpp"

#include "control/daemon/live/gzip.hpp"
#include "control/daemon/live/live_json.hpp"

#include <algorithm>
#include <utility>

namespace sluice {
namespace {

// The entry of a name, or a new one, which is kept while there are few.
template <typename Entry>
std::shared_ptr<Entry> entry_of(std::map<std::string, std::shared_ptr<Entry>>& entries,
                                const std::string& name, std::size_t most) {
    const auto found = entries.find(name);
    if (found != entries.end()) {
        return found->second;
    }
    auto made = std::make_shared<Entry>();
    if (entries.size() < most) {
        entries.emplace(name, made);
    }
    return made;
}

std::string dumped(const Json& document) {
    return document.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

LiveViews::LiveViews(LiveSnapshot snapshot, const LiveOrigin& origin)
    : snapshot_{std::move(snapshot)},
      head_{dumped(live_json(snapshot_, origin))},
      tenant_head_{dumped(tenant_live_json(snapshot_, origin))} {
    head_.pop_back();  // its brace: the rules follow
    tenant_head_.pop_back();
}

LiveViews::Body LiveViews::plain(const LiveQuery& query) const {
    const std::shared_ptr<Page> page = page_of(query);
    std::call_once(page->made,
                   [&] { page->plain = std::make_shared<const std::string>(text_of(query)); });
    return page->plain;
}

LiveViews::Body LiveViews::compressed(const LiveQuery& query) const {
    const std::shared_ptr<Page> page = page_of(query);
    std::call_once(page->made,
                   [&] { page->plain = std::make_shared<const std::string>(text_of(query)); });
    std::call_once(page->packed, [&] {
        if (std::optional<std::string> packed = gzip(*page->plain)) {
            page->compressed = std::make_shared<const std::string>(*std::move(packed));
        }
    });
    return page->compressed;
}

std::shared_ptr<LiveViews::Page> LiveViews::page_of(const LiveQuery& query) const {
    const std::lock_guard lock{mutex_};
    return query.tenant.empty() ? entry_of(of_operators_.pages, query.page_key(), kMostKept)
                                : entry_of(of_tenants_.pages, query.page_key(), kMostKeptOfTenants);
}

std::shared_ptr<LiveViews::Ordered> LiveViews::order_of(const LiveQuery& query) const {
    std::shared_ptr<Ordered> found;
    {
        const std::lock_guard lock{mutex_};
        found = query.tenant.empty()
                    ? entry_of(of_operators_.orders, query.order_key(), kMostKept)
                    : entry_of(of_tenants_.orders, query.order_key(), kMostKeptOfTenants);
    }
    std::call_once(found->made, [&] { found->order = ordered_rules(snapshot_.rules, query); });
    return found;
}

std::size_t LiveViews::rules_for(const LiveQuery& query) const {
    LiveQuery all = query;
    all.filter.clear();
    all.id.clear();
    return query.tenant.empty() ? snapshot_.rules.size() : order_of(all)->order.size();
}

std::string LiveViews::text_of(const LiveQuery& query) const {
    const std::shared_ptr<Ordered> ordered = order_of(query);
    const Order& order = ordered->order;
    const std::size_t first = std::min(query.first, order.size());
    const std::size_t count = std::min(query.most, order.size() - first);
    Json rows = Json::array();
    for (std::size_t i = first; i < first + count; ++i) {
        rows.push_back(live_rule_json(snapshot_.rules[order[i]]));
    }
    const Json rules{{"total", rules_for(query)},
                     {"matching", order.size()},
                     {"first", first},
                     {"rows", std::move(rows)}};
    return (query.tenant.empty() ? head_ : tenant_head_) + ",\"rules\":" + dumped(rules) + "}\n";
}

}  // namespace sluice
