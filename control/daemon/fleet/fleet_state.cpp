#include "control/daemon/fleet/fleet_state.hpp"

#include "control/daemon/kept_file.hpp"
#include "control/json.hpp"
#include "control/random_secret.hpp"

#include <spdlog/spdlog.h>

#include <utility>

namespace sluice {
namespace {

constexpr std::size_t kIncarnationSize = 16;  // digits

std::string path_in(const std::string& directory) {
    return directory + "/" + kFleetStateFile;
}

// The set in the words of the records in etcd.
Json set_json(const HeadSet& set) {
    return Json::parse(text_of(Head{.now = set}));
}

HeadSet set_from(const Json& fields) {
    if (count_at(fields, "generation") == 0) {
        return {};
    }
    Result<Head> head = head_from(fields.dump());
    return head ? std::move(head->now) : HeadSet{};
}

FleetState state_from(const Json& document) {
    FleetState state;
    state.cluster = text_at(document, "cluster");
    state.node = document.value("node", "");
    state.incarnation = text_at(document, "incarnation");
    if (const Json& slot = document.at("slot"); !slot.is_null()) {
        state.slot = slot.get<std::size_t>();
    }
    state.adopted = set_from(document.at("adopted"));
    state.adopted_text = text_at(document, "adopted_text");
    state.panic = count_at(document, "panic");
    if (const Json& trial = document.at("trial"); !trial.is_null()) {
        state.trial = FleetState::Trial{.rollout = text_at(trial, "rollout"),
                                        .next = set_from(trial.at("next")),
                                        .text = text_at(trial, "text")};
    }
    return state;
}

// A box that nobody else is, with what `of` has of the cluster's rules.
Result<FleetState> new_box(FleetState of) {
    const Result<std::string> secret = random_secret();
    if (!secret) {
        return secret.error();
    }
    of.incarnation = secret->substr(0, kIncarnationSize);
    of.slot.reset();
    return of;
}

}  // namespace

Result<FleetState> load_fleet_state(const std::string& directory, const std::string& cluster,
                                    const std::string& node) {
    const std::string path = path_in(directory);
    Result<std::optional<std::string>> text = read_kept_file(path);
    if (!text) {
        return text.error();
    }
    if (!*text) {
        return new_box({.cluster = cluster, .node = node});
    }
    try {
        FleetState state = state_from(Json::parse(**text));
        if (state.cluster == cluster && state.node == node) {
            return state;
        }
        if (state.cluster == cluster) {
            spdlog::warn("{} is of the box {}, and sluice.yaml says {}: it takes a slot of its own",
                         path, state.node, node);
            state.node = node;
            return new_box(std::move(state));
        }
        spdlog::warn("{} is of the cluster {}, and sluice.yaml says {}: it begins anew", path,
                     state.cluster, cluster);
    } catch (const Json::exception&) {
        spdlog::error("{}", put_aside(path, "it cannot be read").what);
    }
    return new_box({.cluster = cluster, .node = node});
}

Result<Done> save_fleet_state(const std::string& directory, const FleetState& state) {
    Json trial;
    if (state.trial) {
        trial = {{"rollout", state.trial->rollout},
                 {"next", set_json(state.trial->next)},
                 {"text", state.trial->text}};
    }
    const Json document{
        {"cluster", state.cluster},           {"node", state.node},
        {"incarnation", state.incarnation},   {"slot", state.slot ? Json(*state.slot) : Json()},
        {"adopted", set_json(state.adopted)}, {"adopted_text", state.adopted_text},
        {"trial", std::move(trial)},          {"panic", state.panic}};
    Result<PendingFile> file = PendingFile::write(path_in(directory), dump_line(document));
    return file ? file->commit() : file.error();
}

}  // namespace sluice
