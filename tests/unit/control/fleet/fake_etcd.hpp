#pragma once
#include "control/base64_text.hpp"
#include "control/fleet/etcd_message.hpp"
#include "control/fleet/etcd_transport.hpp"

#include <nlohmann/json.hpp>

#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace sluice::fleet_test {

// An etcd of one server in memory: ranges, transactions and leases, which end when they are told
// to.
struct FakeEtcd {
    using Json = nlohmann::json;

    std::map<std::string, EtcdKey> keys;
    std::int64_t revision = 1;
    std::int64_t last_lease = 0;
    std::set<std::int64_t> leases;
    std::function<void(const std::string& key)> changed;  // called after each transaction
    std::function<void()> before;                         // called before each request
    bool is_away = false;
    bool is_forbidding = false;
    bool is_lossy = false;  // what is asked is done, and the answer is lost
    std::string hidden;     // reads of keys that begin so have no answer
    std::size_t requests = 0;

    void put(const std::string& key, const std::string& value, std::int64_t lease = 0) {
        ++revision;
        EtcdKey& entry = keys[key];
        entry = {key, value, entry.created == 0 ? revision : entry.created, revision, lease};
    }
    void end_lease(std::int64_t lease) {
        leases.erase(lease);
        std::erase_if(keys, [&](const auto& entry) { return entry.second.lease == lease; });
    }

    static std::string bytes(const Json& object, const char* name) {
        const auto read = bytes_of_base64(object.value(name, ""));
        return read ? std::string{reinterpret_cast<const char*>(read->data()), read->size()} : "";
    }
    static std::int64_t number(const Json& object, const char* name) {
        return std::stoll(object.value(name, "0"));
    }

    [[nodiscard]] Json header() const {
        return {{"cluster_id", "1"}, {"revision", std::to_string(revision)}};
    }
    [[nodiscard]] Json range(const Json& asked) const {
        const std::string from = bytes(asked, "key");
        const std::string end = bytes(asked, "range_end");
        const auto most = static_cast<std::size_t>(number(asked, "limit"));
        Json found = Json::array();
        for (auto at = keys.lower_bound(from); at != keys.end(); ++at) {
            const bool is_in = end.empty() ? at->first == from : at->first < end;
            if (!is_in || (most != 0 && found.size() == most)) {
                break;
            }
            const EtcdKey& key = at->second;
            found.push_back({{"key", base64_text(key.key)},
                             {"value", base64_text(key.value)},
                             {"create_revision", std::to_string(key.created)},
                             {"mod_revision", std::to_string(key.modified)},
                             {"lease", std::to_string(key.lease)}});
        }
        return {{"header", header()}, {"kvs", found}};
    }
    [[nodiscard]] bool holds(const Json& compare) const {
        const auto found = keys.find(bytes(compare, "key"));
        const EtcdKey key = found == keys.end() ? EtcdKey{} : found->second;
        const std::string target = compare.at("target");
        return target == "CREATE"  ? key.created == number(compare, "create_revision")
               : target == "MOD"   ? key.modified == number(compare, "mod_revision")
               : target == "LEASE" ? key.lease == number(compare, "lease")
                                   : key.value == bytes(compare, "value");
    }
    Json commit(const Json& asked) {
        bool held = true;
        for (const Json& compare : asked.at("compare")) {
            held = held && holds(compare);
        }
        std::vector<std::string> written;
        Json responses = Json::array();
        for (const Json& step : asked.at(held ? "success" : "failure")) {
            if (step.contains("request_range")) {
                responses.push_back({{"response_range", range(step["request_range"])}});
            } else if (step.contains("request_put")) {
                const Json& entry = step["request_put"];
                written.push_back(bytes(entry, "key"));
                put(written.back(), bytes(entry, "value"), number(entry, "lease"));
                responses.push_back({{"response_put", Json::object()}});
            } else {
                const Json& gone = step["request_delete_range"];
                const std::string from = bytes(gone, "key");
                const std::string end = bytes(gone, "range_end");
                std::erase_if(keys, [&](const auto& entry) {
                    return end.empty() ? entry.first == from
                                       : entry.first >= from && entry.first < end;
                });
                responses.push_back({{"response_delete_range", Json::object()}});
            }
        }
        Json answer{{"header", header()}, {"succeeded", held}, {"responses", responses}};
        for (const std::string& key : written) {
            if (changed) {
                changed(key);
            }
        }
        return answer;
    }
    EtcdReply answer(const std::string& path, const Json& asked) {
        if (path == "/kv/range") {
            return {200, range(asked).dump()};
        }
        if (path == "/kv/txn") {
            return {200, commit(asked).dump()};
        }
        if (path == "/lease/grant") {
            leases.insert(++last_lease);
            return {200, Json{{"ID", std::to_string(last_lease)}, {"TTL", "10"}}.dump()};
        }
        if (path == "/lease/keepalive") {
            const bool is_alive = leases.contains(number(asked, "ID"));
            return {200, Json{{"result", {{"TTL", is_alive ? "10" : "0"}}}}.dump()};
        }
        end_lease(number(asked, "ID"));
        return {200, "{}"};
    }
};

class FakeTransport final : public EtcdTransport {
public:
    explicit FakeTransport(FakeEtcd& etcd) : etcd_{etcd} {}
    Result<EtcdReply> post(std::size_t, const EtcdPost& post) override {
        ++etcd_.requests;
        if (etcd_.before) {
            etcd_.before();
        }
        const nlohmann::json asked = nlohmann::json::parse(post.body);
        const bool is_hidden =
            !etcd_.hidden.empty() && FakeEtcd::bytes(asked, "key").starts_with(etcd_.hidden);
        if (etcd_.is_away || is_hidden) {
            return Error{Errc::Unreachable, "no answer from etcd"};
        }
        if (etcd_.is_forbidding) {
            return EtcdReply{403, "{}"};
        }
        EtcdReply reply = etcd_.answer(post.path, asked);
        if (etcd_.is_lossy) {
            return Error{Errc::Busy, "the answer is lost"};
        }
        return reply;
    }
    [[nodiscard]] std::size_t servers() const override { return 1; }

private:
    FakeEtcd& etcd_;
};

}  // namespace sluice::fleet_test
