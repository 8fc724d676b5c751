#include "control/cli/schema/file_schemas.hpp"
#include "control/cli/schema/schema_parts.hpp"
#include "lib/policy/file_keys/box_keys.hpp"
#include "lib/rules/box_config.hpp"

namespace sluice {
namespace {

using namespace schema;

// All of its values are scalars but those that are given.
Json flat_map(std::span<const KeyRow> keys, ValueOf values = {}, Json required = Json::array()) {
    for (const KeyRow& key : keys) {
        values.emplace(key.name, scalar());
    }
    return object(keys, values, std::move(required));
}

Json packets_schema() {
    return flat_map(box_keys::kPackets, {{"tunnels", list_of(scalar())},
                                         {"fragments", flat_map(box_keys::kFragments)},
                                         {"connections", flat_map(box_keys::kConnections)},
                                         {"http", flat_map(box_keys::kHttp)},
                                         {"quic_initials", flat_map(box_keys::kQuicInitials)}});
}

Json pairs_schema() {
    const Json port = flat_map(box_keys::kPort);
    return list_of(flat_map(
        box_keys::kPair,
        {{"outside", port}, {"inside", port}, {"link_follow", flag()}, {"hand_over", flag()}}));
}

Json memory_schema() {
    const Json tables = flat_map(box_keys::kTables, {{"snapshot", flat_map(box_keys::kSnapshot)}});
    return flat_map(box_keys::kMemory, {{"tables", tables}});
}

}  // namespace

Json box_file_schema() {
    const Json socket = flat_map(box_keys::kSocket);
    const ValueOf values{
        {"version", Json{{"const", 1}}},
        {"ports", pairs_schema()},
        {"workers", flat_map(box_keys::kWorkers, {{"watchdog", flat_map(box_keys::kWatchdog)}})},
        {"memory", memory_schema()},
        {"packets", packets_schema()},
        {"sockets", object(box_keys::kSockets,
                           {{"control", socket}, {"read_only", socket}, {"dataplane", socket}})},
        {"log", flat_map(box_keys::kLog)},
        {"merge", flat_map(box_keys::kMerge)},
        {"on_no_rules", words(kOnNoRulesNames)},
        {"management", flat_map(box_keys::kManagement,
                                {{"allow", list_of(scalar())}, {"to", list_of(scalar())}})},
        {"kernel", flat_map(box_keys::kKernel)},
        {"api",
         flat_map(box_keys::kApi, {{"read_only", flag()}}, Json::array({"listen", "token_file"}))},
        {"cluster", Json{{"type", "object"}}}};
    Json schema{{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                {"title", "sluice.yaml, the box"}};
    schema.update(flat_map(box_keys::kTop, values, Json::array({"version"})));
    return schema;
}

}  // namespace sluice
