#include "control/daemon/notify/notice.hpp"

#include "control/daemon/api/change.hpp"
#include "control/daemon/api/event_json.hpp"

namespace sluice {
namespace {

void put_rule(Json& body, const Notice& notice) {
    body["rule"] = notice.rule;
    body["mode"] = kModeNames[static_cast<std::size_t>(notice.mode)];
    body["count"] = notice.count;
    body["first"] = utc_ns_text(notice.first);
    body["last"] = utc_ns_text(notice.last);
}

}  // namespace

std::string body_of(const Notice& notice, const std::string& id, const std::string& host) {
    Json body{{"version", 1},
              {"id", id},
              {"host", host},
              {"event", kNoticeKindNames[static_cast<std::size_t>(notice.kind)]}};
    switch (notice.kind) {
        case NoticeKind::Ban:
        case NoticeKind::Limit:
            put_rule(body, notice);
            body["missed"] = notice.missed;
            body["examples"] = Json::array();
            for (const KeyEvent& event : notice.examples) {
                body["examples"].push_back(event_json(event));
            }
            break;
        case NoticeKind::Over:
            put_rule(body, notice);
            body["for_s"] = seconds_json(notice.last - notice.first);
            break;
        case NoticeKind::State:
            body["survives"] = notice.survives;
            body["not_kept"] = notice.not_kept;
            break;
        case NoticeKind::Cluster:
            body["count"] = notice.count;
            body["first"] = utc_ns_text(notice.first);
            body["last"] = utc_ns_text(notice.last);
            body["missed"] = notice.missed;
            body["examples"] = Json::array();
            for (const ClusterEvent& event : notice.news) {
                body["examples"].push_back(event_json(event));
            }
            break;
        case NoticeKind::Test:
            break;
    }
    std::string text = dump_line(body);
    text.resize(text.size() - (text.ends_with('\n') ? 1 : 0));
    return text;
}

}  // namespace sluice
