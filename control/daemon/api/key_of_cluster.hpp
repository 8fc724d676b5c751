#pragma once
#include "control/daemon/api/key_words.hpp"
#include "control/daemon/fleet/settings_desk.hpp"

#include <initializer_list>
#include <optional>
#include <string>
#include <variant>

// Changes of single keys that are for all boxes of the cluster.
namespace sluice {

// The flag `cluster` of a body; refused where the box is in no cluster that has an etcd.
[[nodiscard]] std::variant<bool, HttpResponse> read_for_cluster(const Json& body,
                                                                const Services& services);

// Settings with the ends that the box has given them: those of dynamic rules end after their ttl.
[[nodiscard]] KeySettings as_kept(KeySettings settings, const RuleView& view);

// {"name":…,"number":N}: the cluster, and the change's number in it, null for people of a tenant;
// with "left", the keys that stay in penalty boxes of other boxes, since there is no room for their
// acts. Or why the cluster has not got it, which is audited as `call`.
[[nodiscard]] std::variant<Json, HttpResponse> tell_cluster(FleetSettingsChange change,
                                                            const std::string& call,
                                                            const HttpRequest& request,
                                                            Services& services);

// Tells the cluster of settings that are in force on this box. Without the cluster they are undone
// here, and those of `before` come back.
[[nodiscard]] std::variant<Json, HttpResponse> tell_cluster_or_undo(const KeySettings& settings,
                                                                    const RuleView& before,
                                                                    const std::string& call,
                                                                    const HttpRequest& request,
                                                                    Services& services);

// A reset, forgiveness or grant, once on each box.
[[nodiscard]] HttpResponse act_in_cluster(const FoundKey& key, const HttpRequest& request,
                                          Services& services);

}  // namespace sluice
